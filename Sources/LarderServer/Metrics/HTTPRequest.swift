/// The head of an HTTP request, as far as a server of one page needs it (RFC 9112). A body has no
/// meaning here: it is never read.
struct HTTPRequest: Hashable, Sendable {
    let method: String
    /// Without the query.
    let path: String

    /// Why there is no request to reply to.
    enum Problem: Error {
        case malformed
        case unsupportedVersion
    }

    /// - Parameter head: The lines up to the empty one, without it.
    init(head: some Sequence<UInt8>) throws(Problem) {
        guard let text = String(validating: Array(head), as: UTF8.self) else { throw .malformed }
        // "\r\n" is one character of Swift.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(Self.isTokenCharacter),
            !words[1].isEmpty
        else { throw .malformed }
        let version = words[2]
        guard version.hasPrefix("HTTP/"), version.utf8.count == 8 else { throw .malformed }
        guard version.hasPrefix("HTTP/1.") else { throw .unsupportedVersion }
        let names = try Self.names(of: lines.dropFirst())
        // Required since version 1.1.
        let hosts = names.count { $0 == "host" }
        guard hosts == 1 || hosts == 0 && version == "HTTP/1.0" else { throw .malformed }
        method = String(words[0])
        path = try Self.path(of: words[1])
    }

    /// The names of the fields in lower case.
    private static func names(of fields: ArraySlice<Substring>) throws(Problem) -> [String] {
        var names: [String] = []
        for field in fields {
            guard let colon = field.firstIndex(of: ":"), colon > field.startIndex,
                field[..<colon].allSatisfy(isTokenCharacter)
            else { throw .malformed }
            names.append(field[..<colon].lowercased())
        }
        return names
    }

    /// - Parameter target: A path, or a URI with one, as a proxy sends it.
    private static func path(of target: Substring) throws(Problem) -> String {
        var path = target
        if let scheme = target.firstRange(of: "://") {
            let rest = target[scheme.upperBound...]
            path = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
        }
        guard path.first == "/" || target == "*" else { throw .malformed }
        return String(path.prefix { $0 != "?" })
    }

    private static func isTokenCharacter(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, byte > 0x20, byte < 0x7F else { return false }
        return !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}
