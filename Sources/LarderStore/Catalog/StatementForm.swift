import LarderSQL

/// The meaning of a CREATE TABLE or CREATE INDEX statement, as far as a store's layout determines
/// it.
///
/// White space, quotation marks, the order of columns and the name of an index do not matter:
/// earlier versions of this program wrote them differently, and a migration adds columns at the
/// end. Nor does a column's constant default, which gives the rows that a migration did not rewrite
/// their value. A default that is an expression matters, since SQLite would evaluate it.
struct StatementForm: Hashable {
    /// The statement with its columns sorted and without the name of an index.
    let text: String
    /// The table that is created, or whose index is created.
    let table: String

    /// - Parameter statement: A statement as the layout has it, or as SQLite stores it.
    init(_ statement: String) {
        let (head, items, tail) = Self.parts(of: Array(statement.utf8))
        var words = head.split(separator: " ").map(String.init)
        if let start = words.firstIndex(of: "INDEX"), let end = words.firstIndex(of: "ON") {
            words.removeSubrange(start + 1..<max(end, start + 1))
            text = "\(words.joined(separator: " ")) (\(items.joined(separator: ", ")))\(tail)"
        } else {
            let columns = items.map(Self.withoutDefault).sorted()
            text = "\(words.joined(separator: " ")) (\(columns.joined(separator: ", ")))\(tail)"
        }
        // The extension FTS5 writes names as string literals.
        table = (words.last ?? "").filter { $0 != "'" }
    }

    /// The text before the first parenthesis, its contents, divided at their commas, and the rest.
    /// Without quotation marks of names, and with single spaces.
    private static func parts(of bytes: [UInt8]) -> (String, [String], String) {
        var parts: [[UInt8]] = [[]]
        var (depth, head, tail) = (0, [UInt8](), [UInt8]())
        var quote: UInt8?
        var isAfter = false
        func append(_ byte: UInt8, to text: inout [UInt8]) {
            let isSpace = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
            if isSpace, text.isEmpty || text.last == UInt8(ascii: " ") { return }
            text.append(isSpace ? UInt8(ascii: " ") : byte)
        }
        for byte in bytes {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "("), !isAfter {
                depth += 1
                if depth == 1 { continue }
            } else if byte == UInt8(ascii: ")"), !isAfter {
                depth -= 1
                if depth == 0 {
                    isAfter = true
                    continue
                }
            } else if byte == UInt8(ascii: ","), depth == 1, !isAfter {
                parts.append([])
                continue
            }
            if byte == UInt8(ascii: "\"") { continue }
            if isAfter {
                append(byte, to: &tail)
            } else if depth == 0 {
                append(byte, to: &head)
            } else if quote == UInt8(ascii: "'") {
                parts[parts.count - 1].append(byte)
            } else {
                append(byte, to: &parts[parts.count - 1])
            }
        }
        return (
            String(decoding: head, as: UTF8.self), parts.map(trimmed),
            tail.isEmpty ? "" : " " + trimmed(tail)
        )
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        var bytes = bytes[...]
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A column without its default, if that is a constant.
    private static func withoutDefault(_ column: String) -> String {
        guard let start = column.firstRange(of: " DEFAULT ") else { return column }
        let value = column[start.upperBound...].utf8
        let isText = value.first == UInt8(ascii: "'") || value.starts(with: "x'".utf8)
        let isConstant =
            isText
            ? value.last == UInt8(ascii: "'") && hasOneLiteral(value)
            : value.allSatisfy { numberBytes.contains($0) }
        return isConstant ? String(column[..<start.lowerBound]) : column
    }

    /// Whether a text is one string literal, in which quotation marks are doubled.
    private static func hasOneLiteral(_ text: Substring.UTF8View) -> Bool {
        let mark = UInt8(ascii: "'")
        let content = text.drop { $0 != mark }.dropFirst().dropLast()
        var isOpen = false
        for byte in content {
            if byte == mark { isOpen.toggle() } else if isOpen { return false }
        }
        return !isOpen
    }

    private static let numberBytes = Set("0123456789+-.eE".utf8)
}

extension IndexDefinition {
    var form: StatementForm { StatementForm(statement.text) }
}
