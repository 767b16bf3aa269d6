/// The parts of libpq's message for a connection that fails, which has no fields: lines such as
/// `connection to server on socket "…" failed: FATAL:  28P01: password authentication failed …`.
struct ErrorText {
    /// PostgreSQL's code; empty if the server did not report the error.
    let sqlState: String
    /// The first line, without the severity and the code.
    let message: String

    private static let codeLength = 5

    init(_ text: String) {
        // With several hosts, the last line is that of the last one.
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let line = lines.last { !Self.code(in: $0).isEmpty } ?? lines.first ?? ""
        let code = Self.code(in: line)
        sqlState = code
        if let range = line.firstRange(of: "  \(code): "), !code.isEmpty {
            message = String(line[range.upperBound...])
        } else {
            message = line.isEmpty ? "the connection was closed" : line
        }
    }

    /// Two spaces follow the severity, whatever its language.
    private static func code(in line: String) -> String {
        for part in line.split(separator: ":  ").dropFirst() {
            let code = part.prefix { $0 != ":" }
            if code.utf8.count == codeLength, code.utf8.allSatisfy(isCodeByte) {
                return String(code)
            }
        }
        return ""
    }

    private static func isCodeByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
