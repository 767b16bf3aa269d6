#if PostgreSQL
/// Where a database is: an address `postgresql://user@host:port/database`, or libpq's keywords and
/// values, of which `service=NAME` is one. libpq reads the rest from the service file, the
/// environment and the password file.
///
/// It may have a password in it, so it is printed without one.
package struct PostgresAddress: Sendable, CustomStringConvertible, CustomReflectable {
    private let text: String
    /// For messages: `user@host:port/database`, as far as they are given.
    package let description: String

    /// The length of an address.
    static let bytesMax = 4_096

    /// - Throws: `malformedAddress`. libpq's own message is not part of it, because that repeats
    ///   parts of the address, which may be those of a password.
    package init(_ text: String) throws(PostgresError) {
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
        self.text = text
        var description = settings["user"].map { "\($0)@" } ?? ""
        description += host + (settings["port"].map { ":\($0)" } ?? "")
        description += settings["dbname"].map { "/\($0)" } ?? ""
        if let service = settings["service"] { description += " of service \(service)" }
        self.description = description
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
