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
            let values = try argument(list, parameters)
                .elements(isText: isText, beside: list.name)
            var bindings: [SQLBinding] = []
            bindings.reserveCapacity(values.count)
            for value in values where !value.isNull {
                bindings.append(try binding(value, for: list, isText: isText))
            }
            return (bindings, bindings.count < values.count)
        }
    }

    /// The objects of such a list that are not nil, as a JSON array of pairs.
    func objects(
        _ list: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> SQLBinding {
        try locating(list) { () throws(LarderError) in
            let isText = isText(list, parameters)
            let values = try argument(list, parameters)
                .elements(isText: isText, beside: list.name)
            var pairs: [String] = []
            for value in values where !value.isNull {
                // Checks it too.
                guard case .integer(let key) = try binding(value, for: list, isText: isText),
                    let identifier = try Self.identifier(value)
                else { continue }
                pairs.append("[\(key),\"\(identifier.entityName)\"]")
            }
            return .text("[\(pairs.joined(separator: ","))]")
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
