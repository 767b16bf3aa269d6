public import LarderClient

/// The addresses of pages. Every text in them is percent-encoded.
public enum Link {
    public static let entities = "/"
    public static let schema = "/schema"
    public static let query = "/query"
    public static let activity = "/activity"
    public static let history = "/history"

    public static func schema(of entityName: String) -> String {
        address(schema, [("entity", entityName)])
    }

    public static func rows(of entityName: String, where predicate: String = "") -> String {
        address("/rows/\(entityName)", predicate.isEmpty ? [] : [("where", predicate)])
    }

    public static func object(_ identifier: PersistentIdentifier) -> String {
        "/object/\(path(identifier))"
    }

    /// The value of one property, as a file or an image.
    public static func value(_ property: String, of identifier: PersistentIdentifier) -> String {
        "/value/\(path(identifier))/\(property)"
    }

    public static func history(
        of identifier: PersistentIdentifier, before number: Int64? = nil
    ) -> String {
        address(
            "/history/\(path(identifier))", number.map { [("before", $0.description)] } ?? [])
    }

    public static func edit(_ identifier: PersistentIdentifier) -> String {
        "/edit/\(path(identifier))"
    }

    public static func delete(_ identifier: PersistentIdentifier) -> String {
        "/delete/\(path(identifier))"
    }

    public static func new(_ entityName: String) -> String { "/new/\(entityName)" }

    /// A path with a query of names and values.
    public static func address(_ path: String, _ fields: [(String, String)]) -> String {
        guard !fields.isEmpty else { return path }
        return path + "?"
            + fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// Names of entities are ASCII letters, digits and underscores.
    private static func path(_ identifier: PersistentIdentifier) -> String {
        "\(identifier.entityName)/p\(identifier.permanentKey ?? 0)"
    }

    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
