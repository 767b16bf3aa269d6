import LarderModel

/// The names, types and literals of Python.
enum PythonNames {
    /// The name of a class or a field. An underscore follows a name that Python, or a module with
    /// records, needs for something else, and one that ends with an underscore itself; the package
    /// `larder` removes one underscore.
    static func escaped(_ name: String) -> String {
        reserved.contains(name) || name.hasSuffix("_") ? name + "_" : name
    }

    static func type(of attribute: Attribute) -> String {
        let type = type(of: attribute.type)
        return attribute.isOptional || attribute.isDerived ? type + " | None" : type
    }

    private static func type(of type: AttributeType) -> String {
        switch type {
        case .bool: "bool"
        case .int16, .int32, .int64: "int"
        case .float, .double: "float"
        case .decimal: "decimal.Decimal"
        case .string: "str"
        case .date: "datetime.datetime"
        case .uuid: "uuid.UUID"
        case .url: "larder.Url"
        case .data: "bytes"
        case .json: "larder.JSON"
        }
    }

    /// A default value as an expression; nil for a date that Python does not have.
    static func literal(_ value: Value) -> String? {
        switch value {
        case .null: "None"
        case .bool(let value): value ? "True" : "False"
        case .float(let value) where !value.isFinite: "float(\"\(value.description)\")"
        case .double(let value) where !value.isFinite: "float(\"\(value.description)\")"
        case .int, .float, .double: value.text
        case .decimal: "decimal.Decimal(\"\(value.text)\")"
        case .string(let text): quoted(text)
        case .date:
            // Other years have more digits, or a sign.
            value.text.prefix { $0 != "-" }.utf8.count == 4 && !value.text.hasPrefix("0000")
                ? "datetime.datetime.fromisoformat(\"\(value.text)\")" : nil
        case .uuid: "uuid.UUID(\"\(value.text)\")"
        case .url: "larder.Url(\(quoted(value.text)))"
        case .data(let data):
            "bytes.fromhex(\"\(data.map { hexadecimal(UInt32($0), digits: 2) }.joined())\")"
        case .json(let text): "field(default_factory=lambda: json.loads(\(quoted(text))))"
        case .object, .objects: nil
        }
    }

    static func quoted(_ text: String) -> String {
        SourceText.literal(text) { scalar in
            scalar.value <= 0xFFFF
                ? "\\u" + hexadecimal(scalar.value, digits: 4)
                : "\\U" + hexadecimal(scalar.value, digits: 8)
        }
    }

    private static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Python's keywords, the fields of every record, and the names that a module with records
    /// uses. A field with such a name would hide it in the lines after it.
    private static let reserved: Set<String> = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
        "identifier", "version",
        "bool", "bytes", "dataclass", "datetime", "decimal", "field", "float", "int", "json",
        "larder", "list", "str", "uuid",
    ]
}
