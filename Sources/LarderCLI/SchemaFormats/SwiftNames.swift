import FoundationEssentials
import LarderModel

/// The Swift names of types and macros, and Swift literals.
///
/// A type or a macro is qualified with its module if an entity has the same name, because the
/// entity's class hides it.
struct SwiftNames {
    private let entityNames: Set<String>

    init(_ schema: Schema) { entityNames = Set(schema.entities.map(\.name)) }

    /// `Model`, or `SwiftData.Model`.
    func macro(_ name: String) -> String { qualified(name, "SwiftData") }

    private func qualified(_ name: String, _ module: String) -> String {
        entityNames.contains(name) ? "\(module).\(name)" : name
    }

    func type(of attribute: Attribute) -> String {
        let type = type(of: attribute.type)
        return attribute.isOptional ? type + "?" : type
    }

    private func type(of type: AttributeType) -> String {
        switch type {
        case .bool: qualified("Bool", "Swift")
        case .int16: qualified("Int16", "Swift")
        case .int32: qualified("Int32", "Swift")
        case .int64: qualified("Int64", "Swift")
        case .float: qualified("Float", "Swift")
        case .double: qualified("Double", "Swift")
        case .string: qualified("String", "Swift")
        case .decimal: qualified("Decimal", "Foundation")
        case .date: qualified("Date", "Foundation")
        case .uuid: qualified("UUID", "Foundation")
        case .url: qualified("URL", "Foundation")
        case .data, .json: qualified("Data", "Foundation")
        }
    }

    /// A value of an attribute as an expression.
    func literal(_ value: Value, _ attributeType: AttributeType) -> String {
        let name = type(of: attributeType)
        switch value {
        case .float(let value) where !value.isFinite: return value < 0 ? "-.infinity" : ".infinity"
        case .double(let value) where !value.isFinite: return value < 0 ? "-.infinity" : ".infinity"
        case .string(let value): return Self.literal(value)
        case .decimal: return "\(name)(string: \(Self.literal(value.text)))!"
        case .date(let date):
            return "\(name)(timeIntervalSinceReferenceDate: "
                + "\(date.timeIntervalSinceReferenceDate))"
        case .uuid: return "\(name)(uuidString: \(Self.literal(value.text)))!"
        case .url: return "\(name)(string: \(Self.literal(value.text)))!"
        case .data: return "\(name)(base64Encoded: \(Self.literal(value.text)))!"
        case .json(let text): return "\(name)(\(Self.literal(text)).utf8)"
        case .null, .bool, .int, .float, .double, .object, .objects: return value.text
        }
    }

    static func literal(_ text: String) -> String {
        SourceText.literal(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// A text for the end of a line comment, with escapes for what could end it.
    static func comment(_ text: String) -> String {
        text.unicodeScalars.allSatisfy(SourceText.isPrintable) ? text : literal(text)
    }

    /// The name in backticks if it is a keyword.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    static func label(_ name: String) -> String {
        ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
    }

    /// The names that Swift reserves in declarations, expressions or types.
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "async", "await", "borrowing",
        "break", "case", "catch", "class", "consuming", "continue", "default", "defer", "deinit",
        "do", "dynamicType", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
        "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "macro", "nil", "operator", "package", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "sending", "some", "any", "each", "static",
        "struct", "subscript", "super", "switch", "then", "throw", "throws", "true", "try",
        "typealias", "var", "weak", "where", "while", "yield",
    ]
}
