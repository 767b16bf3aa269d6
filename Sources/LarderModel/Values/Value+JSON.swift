import FoundationEssentials

// Values in JSON. Integers beyond 2^53, decimals and infinities are written as strings, because
// most JSON readers represent numbers as doubles. Both forms are accepted as input.

extension Value {
    /// The value as JSON: dates in ISO 8601, data in base64, UUIDs and URLs as strings, objects as
    /// their URIs, a json value as the document itself.
    public var jsonValue: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value):
            value.magnitude <= 1 << 53 ? .integer(value) : .string(value.description)
        case .float(let value):
            // The float's own shortest text: 0.1, not 0.10000000149011612.
            value.isFinite
                ? .double(Double(value.description) ?? Double(value)) : .string(text)
        case .double(let value): value.isFinite ? .double(value) : .string(text)
        case .json(let value): (try? JSONValue(parsing: value)) ?? .string(value)
        case .objects(let values): .array(values.map { .string($0.uriRepresentation) })
        case .decimal, .string, .date, .uuid, .url, .data, .object: .string(text)
        }
    }

    /// Converts JSON to a value of a type; null becomes nil.
    ///
    /// - Throws: `malformedValue` for text that is not a value of the type, `wrongType` for other
    ///   JSON; the message names the expected form.
    /// - Parameter assumesUTC: Whether a date without a time zone is in UTC.
    public init(
        json: JSONValue, type: AttributeType, assumesUTC: Bool = false
    ) throws(LarderError) {
        let value: Value? =
            switch (json, type) {
            case (.null, _): .null
            case (_, .json): .json(json.text)
            case (.bool(let value), .bool): .bool(value)
            // JSON has one number type, so integers are rounded to doubles as fractions are.
            case (.integer(let value), .float): .float(Float(value))
            case (.integer(let value), .double): .double(Double(value))
            case (.integer(let value), _): Value.int(value).converted(to: type)
            case (.double(let value), .float), (.double(let value), .double),
                (.double(let value), .decimal):
                Value.double(value).converted(to: type)
            case (.decimal(let text), .float), (.decimal(let text), .double),
                (.decimal(let text), .decimal):
                try Value(text: text, type: type)
            case (.string("inf"), .float), (.string("inf"), .double):
                Value.double(.infinity).converted(to: type)
            case (.string("-inf"), .float), (.string("-inf"), .double):
                Value.double(-.infinity).converted(to: type)
            case (.string, .bool), (.string, .int16), (.string, .int32), (.string, .float),
                (.string, .double):
                nil
            case (.string(let text), _):
                try Value(text: text, type: type, assumesUTC: assumesUTC)
            default: nil
            }
        guard let value else {
            throw LarderError(
                .wrongType, "expected \(type.jsonDescription), found \(json.kindDescription)")
        }
        self = value
    }
}

extension AttributeType {
    /// The JSON form of the type's values, to follow the word `expected`.
    fileprivate var jsonDescription: String {
        switch self {
        case .bool, .int16, .int32: textDescription
        case .int64, .decimal: "\(textDescription), as a number or a string"
        case .float, .double: textDescription.replacing("or inf or -inf", with: #""inf" or "-inf""#)
        case .string: textDescription
        case .date, .uuid, .url, .data: "\(textDescription), as a string"
        case .json: textDescription
        }
    }
}
