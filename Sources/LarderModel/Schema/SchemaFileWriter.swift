/// Writes the JSON of a schema file on several lines: what fits into a line is on one line.
///
/// It is not the canonical text of a schema, and comparisons do not use it.
struct SchemaFileWriter {
    private static let columnsMax = 100

    private var text = ""

    /// The text, which ends with a line break.
    static func text(_ json: JSONValue) -> String {
        var writer = SchemaFileWriter()
        writer.write(json, indent: 0, before: 0, isRoot: true)
        return writer.text + "\n"
    }

    /// A value on one line, however long it is.
    static func line(_ json: JSONValue) -> String { line(json, columnsMax: .max) ?? json.text }

    /// - Parameters:
    ///   - indent: The indentation of the line on which the value begins.
    ///   - before: The number of columns before the value, after the indentation.
    ///   - isRoot: Whether the value is the document, which is never on one line.
    private mutating func write(_ json: JSONValue, indent: Int, before: Int, isRoot: Bool) {
        // A comma may follow.
        let columns = Self.columnsMax - indent - before - 1
        if !isRoot, let line = Self.line(json, columnsMax: columns) {
            text += line
            return
        }
        switch json {
        case .array(let elements) where !elements.isEmpty:
            writeLines("[", "]", elements.map { ("", $0) }, indent)
        case .object(let members) where !members.isEmpty:
            let ordered = Self.ordered(members)
            writeLines("{", "}", ordered.map { (Self.keyText($0.key), $0.value) }, indent)
        default: text += json.text
        }
    }

    private mutating func writeLines(
        _ opening: String, _ closing: String, _ elements: [(key: String, value: JSONValue)],
        _ indent: Int
    ) {
        text += opening
        let inner = indent + 2
        for (index, element) in elements.enumerated() {
            text += index == 0 ? "\n" : ",\n"
            text += String(repeating: " ", count: inner) + element.key
            let before = element.key.count
            // The list of entities has one per paragraph, however short they are.
            let isRoot = element.key == Self.keyText("entities")
            write(element.value, indent: inner, before: before, isRoot: isRoot)
        }
        text += "\n" + String(repeating: " ", count: indent) + closing
    }

    /// The value on one line; nil if it has more columns.
    private static func line(_ json: JSONValue, columnsMax: Int) -> String? {
        var parts: [String] = []
        let braces: (String, String)
        // The braces and spaces, and a comma and a space between two elements.
        var columns = 4
        switch json {
        case .array(let elements):
            for element in elements {
                guard let part = line(element, columnsMax: columnsMax - columns) else { return nil }
                parts.append(part)
                columns += part.count + 2
            }
            braces = ("[", "]")
        case .object(let members) where !members.isEmpty:
            guard members.count <= columnsMax else { return nil }
            for (key, value) in ordered(members) {
                let key = keyText(key)
                let rest = columnsMax - columns - key.count
                guard let part = line(value, columnsMax: rest) else { return nil }
                parts.append(key + part)
                columns += key.count + part.count + 2
            }
            braces = ("{ ", " }")
        default:
            let text = json.text
            return text.count <= columnsMax ? text : nil
        }
        let line = braces.0 + parts.joined(separator: ", ") + braces.1
        return line.count <= columnsMax ? line : nil
    }

    private static func keyText(_ key: String) -> String { JSONValue.string(key).text + ": " }

    private static func ordered(_ members: [String: JSONValue]) -> [(key: String, value: JSONValue)]
    {
        members.sorted { SchemaKey.precedes($0.key, $1.key) }
    }
}
