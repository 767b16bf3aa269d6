import FoundationEssentials
import LarderModel

// Converts the values of a query to the types of a schema, for SQL and in memory alike.

/// How text in a query becomes a value of another type.
package struct TextReading: Hashable, Sendable {
    /// Whether text may also be a number or a bool, as an argument that a shell passes.
    package var isArgument: Bool
    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    package var assumesUTC: Bool
    /// Whether the text of an argument is compared with JSON: it is JSON then or, if it has another
    /// form, a string.
    package var isJSON = false

    package init(isArgument: Bool, assumesUTC: Bool) {
        self.isArgument = isArgument
        self.assumesUTC = assumesUTC
    }
}

extension QueryParameters {
    /// How the text of an argument or a variable is read, or that of a literal in the query.
    package func reading(ofArgument isArgument: Bool) -> TextReading {
        TextReading(isArgument: isArgument && argumentsAreText, assumesUTC: assumesUTC)
    }
}

extension Value {
    /// Returns the value as the given type if it is text that can be converted: to a date, UUID,
    /// URL, decimal, data or JSON document and, if arguments are text, to a number or bool. Returns
    /// any other value unchanged.
    ///
    /// - Parameter name: The value it is compared with, for error messages: `Article.title`.
    /// - Throws: `malformedValue` for text that cannot be converted.
    package func read(
        as type: AttributeType, _ reading: TextReading, comparedWith name: String,
        _ interruption: Interruption = .never
    ) throws(LarderError) -> Value {
        guard case .string(let text) = self else { return self }
        switch type {
        case .string: return self
        case .date, .uuid, .url, .decimal, .data, .json: break
        case .int16, .int32, .int64:
            guard reading.isArgument else { return self }
            // An integer may be compared with 2.5 or with 3000000000, whatever its size.
            if let integer = Int64(text) { return .int(integer) }
            // A double would round 9223372036854775806.5 to an integer.
            if let decimal = Decimal(exactly: text) { return .decimal(decimal) }
            if let double = try? Value(text: text, type: .double) { return double }
            throw LarderError(
                .malformedValue,
                "\(name) is \(type.nounWithArticle), but the given value is not a number")
        case .bool, .float, .double:
            guard reading.isArgument else { return self }
        }
        do throws(LarderError) {
            return try Value(
                text: text, type: type, assumesUTC: reading.assumesUTC, interruption)
        } catch {
            var named = error
            named.message = "\(name): \(error.message)"
            throw named
        }
    }
}

extension Value {
    /// Reads an argument that is compared with JSON as a shell passes it: 9 is a number, true a
    /// bool, null nil, and `"9"` with its quotation marks a string. A text of another form is a
    /// string too.
    ///
    /// - Throws: `malformedValue` for a text that begins as JSON and is not JSON, unless it may be
    ///   a part of a text.
    init(
        jsonArgument text: String, for target: TypedValue, _ interruption: Interruption
    ) throws(LarderError) {
        let isString = target.type?.isString == true
        let value = try? JSONValue(parsing: text, valuesMax: .max, interruption)
        switch value {
        case .string(let content)? where isString: self = .string(content)
        case _ where isString: self = .string(text)
        case .null?: self = .null
        case let value?: self = .json(value.text)
        case nil:
            if !target.isPart, let first = text.utf8.first, #"[{""#.utf8.contains(first) {
                throw LarderError(
                    .malformedValue,
                    "\(target.name) is compared with an argument that begins as JSON and is not "
                        + "JSON", hint: #"write a text in quotation marks, as in --arg '"[a]"'"#)
            }
            self = .json(JSONValue.string(text).text)
        }
    }
}

extension QueryArgument {
    /// The elements of an argument that is a list: a list, a list of objects or, if arguments are
    /// text, a JSON array. Nil is an empty list.
    ///
    /// - Parameter name: The value that the list is compared with, for error messages:
    ///   `Article.title`.
    /// - Throws: `wrongType` or `malformedValue` for an argument that is not a list;
    ///   `resourceExhausted` for more than ``Limits/listElementsMax`` elements.
    package func elements(
        _ reading: TextReading, comparedWith name: String, operator: Comparison.Operator = .in,
        _ interruption: Interruption = .never
    ) throws(LarderError) -> [Value] {
        let name = "\(name) \(`operator`.rawValue) …"
        let elements: [Value]
        switch self {
        case .list(let values): elements = values
        case .value(.null): elements = []
        case .value(.objects(let identifiers)): elements = identifiers.map { .object($0) }
        case .value(.string(let text)) where reading.isArgument:
            let array = try Self.array(text, comparedWith: name, interruption)
            elements =
                try reading.isJSON
                ? array.map { $0 == .null ? .null : .json($0.text) }
                : Self.texts(of: array, comparedWith: name)
        case .value(let value):
            throw LarderError(
                .wrongType, "\(name) needs a list, but \(value.kindWithArticle) was given")
        }
        try Self.checkCount(of: elements)
        return elements
    }

    /// The two bounds of BETWEEN in an argument that is a list.
    ///
    /// - Throws: `wrongType` unless there are two bounds; and the errors of
    ///   ``elements(_:comparedWith:operator:_:)``.
    package func bounds(
        _ reading: TextReading, comparedWith name: String, _ interruption: Interruption = .never
    ) throws(LarderError) -> [Value] {
        let bounds = try elements(
            reading, comparedWith: name, operator: .between, interruption)
        guard bounds.count == 2 else {
            throw LarderError(
                .wrongType,
                "\(name) BETWEEN … needs a list of two bounds, but one of \(bounds.count) was given"
            )
        }
        return bounds
    }

    /// The JSON array in a text.
    private static func array(
        _ text: String, comparedWith name: String, _ interruption: Interruption
    ) throws(LarderError) -> [JSONValue] {
        var code = ErrorCode.malformedValue
        do throws(LarderError) {
            // The array is a value too.
            let document = try JSONValue(
                parsing: text, valuesMax: 1 + Limits.listElementsMax, interruption)
            if case .array(let array) = document { return array }
        } catch {
            code = error.code
        }
        if code == .resourceExhausted { throw tooManyElements }
        throw LarderError(
            .malformedValue, "\(name) needs a list", hint: "pass a list as a JSON array: [1, 2]")
    }

    /// The elements of a JSON array as text to convert.
    private static func texts(
        of array: [JSONValue], comparedWith name: String
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
