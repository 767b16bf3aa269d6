import LarderModel

extension ValueConverter {
    /// The elements of a list that is one value: an argument's list, objects, or the text of a JSON
    /// array. Nil is the empty list.
    ///
    /// - Returns: the elements that are not nil, and whether nil is among them.
    func elements(
        _ list: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> (bindings: [SQLBinding], hasNil: Bool) {
        try locating(list) { () throws(LarderError) in
            let isText = isText(list, parameters)
            let values = try values(
                of: try argument(list, parameters), for: list, isText: isText)
            guard values.count <= Limits.listElementsMax else {
                throw LarderError(
                    .resourceExhausted, "a list has \(Limits.listElementsMax) elements at most",
                    hint: "ask several queries")
            }
            var bindings: [SQLBinding] = []
            bindings.reserveCapacity(values.count)
            for value in values where !value.isNull {
                bindings.append(try binding(value, for: list, isText: isText))
            }
            return (bindings, bindings.count < values.count)
        }
    }

    private func values(
        of list: QueryArgument, for place: PlanValue, isText: Bool
    ) throws(LarderError) -> [Value] {
        switch list {
        case .list(let values): return values
        case .value(.null): return []
        case .value(.objects(let identifiers)): return identifiers.map { .object($0) }
        case .value(.string(let text)) where isText:
            guard case .array(let elements) = try? JSONValue(parsing: text) else {
                throw LarderError(
                    .malformedValue, "\(place.name) IN … needs a list",
                    hint: "a list is given as a JSON array: [1, 2]")
            }
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try value(of: element, for: place)) }
            return values
        case .value(let value):
            throw LarderError(
                .wrongType,
                "\(place.name) IN … needs a list, and \(value.kindWithArticle) was given")
        }
    }

    /// An element of a JSON array as the text that a value is read from.
    private func value(
        of element: JSONValue, for place: PlanValue
    ) throws(LarderError) -> Value {
        switch element {
        case .null: return .null
        case .string(let text): return .string(text)
        case .bool, .integer, .double, .decimal: return .string(element.text)
        case .array, .object:
            throw LarderError(
                .wrongType, "\(place.name) IN … needs a list of single values")
        }
    }

    /// As what a member of a JSON document is read beside a value, or beside a list's elements.
    func kind(
        beside value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> PlanMember.Kind {
        switch try argument(value, parameters) {
        case .value(.objects): .text
        case .value(let single): PlanMember.Kind(beside: single)
        case .list(let values): PlanMember.Kind(beside: values.first { !$0.isNull } ?? .null)
        }
    }
}
