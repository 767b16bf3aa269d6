import FoundationEssentials

// What the values of a query become beside the types of a schema, for SQL and in memory alike.

extension Value {
    /// A text as a value of the type, where texts are read so: as a date, UUID, URL, decimal, data
    /// or JSON document, and, if arguments come as text, as a number or bool as well. Any other
    /// value as it is.
    ///
    /// - Parameter name: What the value stands beside, for sentences: `Article.title`.
    /// - Throws: `malformedValue` for a text that is no such value.
    public func read(
        as type: AttributeType, isText: Bool, beside name: String
    ) throws(LarderError) -> Value {
        guard case .string(let text) = self else { return self }
        switch type {
        case .string: return self
        case .date, .uuid, .url, .decimal, .data, .json: break
        case .int16, .int32, .int64:
            guard isText else { return self }
            // An integer may be compared with 2.5 or with 3000000000, whatever its size.
            if let integer = Int64(text) { return .int(integer) }
            // A double would round 9223372036854775806.5 to an integer.
            if let decimal = Decimal(exactly: text) { return .decimal(decimal) }
            if let double = try? Value(text: text, type: .double) { return double }
            throw LarderError(
                .malformedValue,
                "\(name) is \(type.nounWithArticle); what was given is no number")
        case .bool, .float, .double:
            guard isText else { return self }
        }
        do throws(LarderError) { return try Value(text: text, type: type) } catch {
            var named = error
            named.message = "\(name): \(error.message)"
            throw named
        }
    }
}

extension QueryArgument {
    /// The elements of a list that is one argument: a list's own, objects, or those of a JSON array
    /// where arguments come as text. Nil is the empty list.
    ///
    /// - Parameter name: What the list stands beside, for sentences: `Article.title`.
    /// - Throws: `wrongType` or `malformedValue` for what is no list; `resourceExhausted` beyond
    ///   ``Limits/listElementsMax``.
    public func elements(
        isText: Bool, beside name: String, behind operator: Comparison.Operator = .in
    ) throws(LarderError) -> [Value] {
        let name = "\(name) \(`operator`.rawValue) …"
        let elements: [Value]
        switch self {
        case .list(let values): elements = values
        case .value(.null): elements = []
        case .value(.objects(let identifiers)): elements = identifiers.map { .object($0) }
        case .value(.string(let text)) where isText:
            guard case .array(let array) = try? JSONValue(parsing: text) else {
                throw LarderError(
                    .malformedValue, "\(name) needs a list",
                    hint: "a list is given as a JSON array: [1, 2]")
            }
            elements = try Self.texts(of: array, beside: name)
        case .value(let value):
            throw LarderError(
                .wrongType, "\(name) needs a list, and \(value.kindWithArticle) was given")
        }
        guard elements.count <= Limits.listElementsMax else {
            throw LarderError(
                .resourceExhausted, "a list has \(Limits.listElementsMax) elements at most",
                hint: "ask several queries")
        }
        return elements
    }

    /// The bounds of BETWEEN, where they are one argument.
    ///
    /// - Throws: as ``elements(isText:beside:behind:)``; `wrongType` for a list of another length.
    public func bounds(isText: Bool, beside name: String) throws(LarderError) -> [Value] {
        let bounds = try elements(isText: isText, beside: name, behind: .between)
        guard bounds.count == 2 else {
            throw LarderError(
                .wrongType,
                "\(name) BETWEEN … needs a list of two bounds, and one of \(bounds.count) was given"
            )
        }
        return bounds
    }

    /// The elements of a JSON array as the texts that values are read from.
    private static func texts(
        of array: [JSONValue], beside name: String
    ) throws(LarderError) -> [Value] {
        var texts: [Value] = []
        texts.reserveCapacity(array.count)
        for element in array {
            switch element {
            case .null: texts.append(.null)
            case .string(let text): texts.append(.string(text))
            case .bool, .integer, .double, .decimal: texts.append(.string(element.text))
            case .array, .object:
                throw LarderError(.wrongType, "\(name) needs a list of single values")
            }
        }
        return texts
    }
}
