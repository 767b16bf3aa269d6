import LarderModel
import LarderQuery

extension ValueConverter {
    /// The elements of a list that is one value: an argument's list, objects, or the text of a JSON
    /// array. Nil is the empty list.
    ///
    /// - Returns: The elements except nil, strings without what the options ignore, and whether nil
    ///   is among the elements.
    package func elements(
        _ list: TypedValue, _ parameters: QueryParameters, _ options: Comparison.Options = []
    ) throws(LarderError) -> (values: [SQLValue], hasNil: Bool) {
        try conversion.locating(list) { () throws(LarderError) in
            let given = try conversion.argument(list, parameters, interruption)
            guard let conversions, Conversions.isLarge(given),
                let key = Conversions.Key(list, .elements(options))
            else { return try convert(given, list, parameters, options) }
            let result = try conversions.result(key) { () throws(LarderError) in
                let (values, hasNil) =
                    try options.isEmpty
                    ? convert(given, list, parameters, [])
                    : folded(elements(list, parameters), options)
                return .elements(values, hasNil: hasNil)
            }
            guard case .elements(let values, let hasNil) = result else {
                preconditionFailure("the elements of a list")
            }
            return (values, hasNil)
        }
    }

    private func convert(
        _ given: QueryArgument, _ list: TypedValue, _ parameters: QueryParameters,
        _ options: Comparison.Options
    ) throws(LarderError) -> (values: [SQLValue], hasNil: Bool) {
        let reading = conversion.reading(list, parameters)
        let elements = try self.elements(of: given, list, reading)
        var values: [SQLValue] = []
        values.reserveCapacity(elements.count)
        for element in elements where !element.isNull {
            values.append(try binding(element, for: list, reading))
        }
        return try folded((values, values.count < elements.count), options)
    }

    private func folded(
        _ elements: (values: [SQLValue], hasNil: Bool), _ options: Comparison.Options
    ) throws(LarderError) -> (values: [SQLValue], hasNil: Bool) {
        if options.isEmpty { return elements }
        var values: [SQLValue] = []
        values.reserveCapacity(elements.values.count)
        for value in elements.values {
            try conversions?.count(bytes: value.byteCount)
            values.append(folded(value, options))
        }
        return (values, elements.hasNil)
    }

    private func elements(
        of given: QueryArgument, _ list: TypedValue, _ reading: TextReading
    ) throws(LarderError) -> [Value] {
        if case .value(let text) = given { try conversions?.count(text) }
        return try given.elements(reading, comparedWith: list.name, interruption)
    }

    /// The objects of such a list except nil, as a JSON array of pairs.
    package func objects(
        _ list: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> SQLValue {
        try conversion.locating(list) { () throws(LarderError) in
            let reading = conversion.reading(list, parameters)
            let values = try elements(
                of: conversion.argument(list, parameters, interruption), list, reading)
            var pairs: [String] = []
            for value in values where !value.isNull {
                // This checks the identifier too.
                guard case .integer(let key) = try binding(value, for: list, reading),
                    let identifier = try conversion.identifier(value)
                else { continue }
                pairs.append("[\(key),\"\(conversion.currentName(of: identifier))\"]")
            }
            return .text("[\(pairs.joined(separator: ","))]")
        }
    }
}
