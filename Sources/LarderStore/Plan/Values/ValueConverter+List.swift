import LarderModel

extension ValueConverter {
    /// The elements of a list that is one value: an argument's list, objects, or the text of a JSON
    /// array. Nil is the empty list.
    ///
    /// - Returns: The elements except nil, and whether nil is among them.
    func elements(
        _ list: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> (values: [SQLValue], hasNil: Bool) {
        try locating(list) { () throws(LarderError) in
            let isText = isText(list, parameters)
            let elements = try argument(list, parameters)
                .elements(isText: isText, comparedWith: list.name)
            var values: [SQLValue] = []
            values.reserveCapacity(elements.count)
            for element in elements where !element.isNull {
                values.append(try binding(element, for: list, isText: isText))
            }
            return (values, values.count < elements.count)
        }
    }

    /// The objects of such a list except nil, as a JSON array of pairs.
    func objects(
        _ list: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> SQLValue {
        try locating(list) { () throws(LarderError) in
            let isText = isText(list, parameters)
            let values = try argument(list, parameters)
                .elements(isText: isText, comparedWith: list.name)
            var pairs: [String] = []
            for value in values where !value.isNull {
                // This checks the identifier too.
                guard case .integer(let key) = try binding(value, for: list, isText: isText),
                    let identifier = try Self.identifier(value)
                else { continue }
                pairs.append("[\(key),\"\(identifier.entityName)\"]")
            }
            return .text("[\(pairs.joined(separator: ","))]")
        }
    }

    /// The kind of a member of a JSON document that is compared with a value or a list's elements.
    func kind(
        comparedWith value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> PlanMember.Kind {
        switch try argument(value, parameters) {
        case .value(.objects): .text
        case .value(let single): PlanMember.Kind(comparedWith: single)
        case .list(let values): PlanMember.Kind(comparedWith: values.first { !$0.isNull } ?? .null)
        }
    }
}
