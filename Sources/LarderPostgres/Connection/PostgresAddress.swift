#if PostgreSQL
/// Where a database is: an address `postgresql://user@host:port/database`, or libpq's keywords and
/// values, of which `service=NAME` is one. libpq reads the rest from the service file, the
/// environment and the password file. An address `postgresql://…?schema=NAME` names the schema of
/// the database, too, which libpq would not accept.
///
/// It may have a password in it, so it is printed without one.
package struct PostgresAddress: Sendable, CustomStringConvertible, CustomReflectable {
    private let text: String
    /// For messages: `user@host:port/database`, as far as they are given.
    package let description: String
    /// The schema of the database with the store's tables.
    package let schemaName: String
    /// Whether the address itself has a password.
    package let hasPassword: Bool

    /// The length of an address.
    static let bytesMax = 4_096
    private static let schemaNameBytesMax = 63

    /// - Throws: `malformedAddress`. libpq's own message is not part of it, because that repeats
    ///   parts of the address, which may be those of a password.
    package init(_ text: String) throws(PostgresError) {
        let (text, schemaName) = Self.dividing(text)
        guard text.utf8.count <= Self.bytesMax, !text.utf8.contains(0),
            let settings = Libpq.settings(of: text)
        else {
            throw PostgresError(.malformedAddress, "libpq cannot read it")
        }
        let host = settings["hostaddr"] ?? settings["host"] ?? ""
        guard !Self.dividesPassword(text), !host.contains("@"),
            settings["port", default: ""].utf8.allSatisfy(Self.isPortByte)
        else {
            throw PostgresError(.malformedAddress, "its parts cannot be told from each other")
        }
        guard Self.isSchemaName(schemaName) else {
            throw PostgresError(
                .malformedAddress,
                "the name of its schema has other characters than a-z, 0-9, _ and -, or begins "
                    + "with pg_")
        }
        self.text = text
        self.schemaName = schemaName
        hasPassword = ["password", "sslpassword"].contains { settings[$0]?.isEmpty == false }
        var description = settings["user"].map { "\($0)@" } ?? ""
        description += host + (settings["port"].map { ":\($0)" } ?? "")
        description += settings["dbname"].map { "/\($0)" } ?? ""
        if let service = settings["service"] { description += " of service \(service)" }
        self.description = description
    }

    /// An address without its schema, and the schema. Neither is checked.
    package static func dividing(_ text: String) -> (address: String, schemaName: String) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.contains("://"), parts.count == 2 else { return (text, "larder") }
        let items = parts[1].split(separator: "&")
        let rest = items.filter { !$0.hasPrefix("schema=") }
        let names = items.filter { $0.hasPrefix("schema=") }.map { $0.dropFirst("schema=".count) }
        let address = rest.isEmpty ? parts[0] : "\(parts[0])?\(rest.joined(separator: "&"))"
        return (String(address), names.last.map { String($0) } ?? "larder")
    }

    private static func isSchemaName(_ name: String) -> Bool {
        (1...schemaNameBytesMax).contains(name.utf8.count) && !name.hasPrefix("pg_")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether a URI has a `/` or an `@` before its last `@`: a part of a password, which libpq
    /// would read, and print, as a host, a port or a database.
    private static func dividesPassword(_ text: String) -> Bool {
        guard let start = text.firstRange(of: "://")?.upperBound else { return false }
        let rest = text[start...].prefix { $0 != "?" }
        guard let end = rest.lastIndex(of: "@") else { return false }
        return rest[..<end].contains { $0 == "/" || $0 == "@" }
    }

    private static func isPortByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ",")
    }

    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }

    /// The settings of a connection. Those of the address precede the fallbacks.
    var settings: [(keyword: String, value: String)] {
        [
            ("fallback_application_name", "larder"), ("dbname", text),
            ("client_encoding", "UTF8"),
        ]
    }
}
#endif
