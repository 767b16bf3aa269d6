import FoundationEssentials

extension Value {
    /// The value converted to a type; nil if the conversion would lose information.
    ///
    /// Integers convert to any number type that holds them exactly. A float converts to a double; a
    /// double converts to a float, rounded unless out of range, or to a decimal, by its shortest
    /// text. Strings stay strings. Nil converts to nil of every type, NaN to no type.
    package func converted(to type: AttributeType) -> Value? {
        switch (self, type) {
        case (.null, _), (.bool, .bool), (.decimal, .decimal), (.string, .string), (.date, .date),
            (.uuid, .uuid), (.url, .url), (.data, .data), (.json, .json):
            self
        case (.int(let value), _): Self.converted(value, to: type)
        case (.float(let value), _) where value.isNaN: nil
        case (.float, .float): self
        case (.float(let value), .double): .double(Double(value))
        case (.float(let value), .decimal): Self.decimal(value.description)
        case (.double(let value), _) where value.isNaN: nil
        case (.double, .double): self
        case (.double(let value), .float) where Float(value).isFinite == value.isFinite:
            .float(Float(value))
        case (.double(let value), .decimal): Self.decimal(value.description)
        default: nil
        }
    }

    private static func decimal(_ text: String) -> Value? {
        Decimal(exactly: text).map { .decimal($0) }
    }

    private static func converted(_ value: Int64, to type: AttributeType) -> Value? {
        switch type {
        case .int16: Int16(exactly: value).map { .int(Int64($0)) }
        case .int32: Int32(exactly: value).map { .int(Int64($0)) }
        case .int64: .int(value)
        case .float: Float(exactly: value).map { .float($0) }
        case .double: Double(exactly: value).map { .double($0) }
        case .decimal: .decimal(Decimal(value))
        case .bool, .string, .date, .uuid, .url, .data, .json: nil
        }
    }
}
