import FoundationEssentials

// Text of values that programs, stores and clients give, for errors, logs and identifiers.
// Foundation's description of a date ends the process if the date is NaN, also as a part of another
// value. A date alone has a text of its own, `Date.text`.

extension String {
    /// The description of a value, with the names of types in place of values that cannot be
    /// described because a date in them is NaN.
    package init(safelyDescribing value: Any) {
        guard NaNDates.mayBe(in: value) else {
            self = String(describing: value)
            return
        }
        switch value {
        case let date as Date: self = date.text
        case EncodingError.invalidValue(let invalid, let context):
            self = "a value of type \(type(of: invalid)): \(context.debugDescription)"
        default: self = "a value of type \(type(of: value))"
        }
    }
}

/// The search for dates that cannot be described.
private enum NaNDates {
    private static let depthMax = 16

    /// Whether a value has a date that is NaN, or is nested so deeply that this is not known.
    static func mayBe(in value: Any, depth: Int = 0) -> Bool {
        if let date = value as? Date { return date.timeIntervalSinceReferenceDate.isNaN }
        guard depth < depthMax else { return true }
        let mirror = Mirror(reflecting: value)
        // The description of an object does not show its properties.
        guard mirror.displayStyle != .class else { return false }
        return mirror.children.contains { mayBe(in: $0.value, depth: depth + 1) }
    }
}

extension Value: CustomDebugStringConvertible {
    /// The case with its value, as for an enumeration without a description of its own. A date has
    /// the form of ``text``, because its own description ends the process if it is NaN.
    public var debugDescription: String {
        switch self {
        case .null: "null"
        case .bool(let value): "bool(\(value))"
        case .int(let value): "int(\(value))"
        case .float(let value): "float(\(value))"
        case .double(let value): "double(\(value))"
        case .decimal(let value): "decimal(\(value))"
        case .string(let value): "string(\(value.debugDescription))"
        case .date(let value): "date(\(value.text))"
        case .uuid(let value): "uuid(\(value))"
        case .url(let value): "url(\(value))"
        case .data(let value): "data(\(value))"
        case .json(let value): "json(\(value.debugDescription))"
        case .object(let value): "object(\(value))"
        case .objects(let values): "objects(\(values))"
        }
    }
}
