import LarderModel

/// The findings of an inference, one row per column.
enum InferenceReport {
    static let names = [
        "entity", "column", "property", "type", "values", "nils", "distinct", "longest", "note",
    ]

    static func rows(_ columns: [FileInference.Column], entity: String) -> [[Value]] {
        columns.map { column in
            let facts = column.facts
            let isLeftOut = column.property.isEmpty
            return [
                .string(entity), .string(column.name),
                isLeftOut ? .null : .string(column.property),
                isLeftOut ? .null : .string(facts.attributeType.rawValue),
                .int(Int64(facts.valueCount)), .int(Int64(facts.nilCount)),
                .string(facts.distinctCount.map(String.init) ?? "many"),
                .int(Int64(facts.bytesLongest)), note(facts).map { .string($0) } ?? .null,
            ]
        }
    }

    private static func note(_ facts: ColumnFacts) -> String? {
        if let odd = facts.firstOdd {
            let shown = EscapedText.escaped(odd.text)
            return "\(odd.type.rawValue) until \"\(shown)\" in line \(odd.line)"
        }
        if facts.hasAmbiguousDates {
            return "dates with an unknown order of day and month; pass --date-format"
        }
        return facts.type?.dateFormat.map { "dates as \($0)" }
    }

    /// The options of `import` for a file with this format.
    static func options(_ columns: [FileInference.Column], _ format: FileFormat) -> [String] {
        var options: [String] = []
        switch format.delimiter {
        case UInt8(ascii: ","): break
        case UInt8(ascii: "\t"): options += ["--delimiter tab"]
        default: options += ["--delimiter '\(Unicode.Scalar(format.delimiter))'"]
        }
        if let header = format.header {
            options.append("--header \(quoted(header.joined(separator: ",")))")
        }
        // By length first, so that #10 follows #9.
        let mapping = format.mapping.sorted {
            ($0.key.count, $0.key) < ($1.key.count, $1.key)
        }
        for (column, property) in mapping {
            options.append("--map \(quoted("\(column)=\(property)"))")
        }
        for (index, column) in columns.enumerated() {
            guard let dateFormat = column.facts.type?.dateFormat else { continue }
            let key = format.columnDateFormats[column.name] == nil ? "#\(index + 1)" : column.name
            options.append("--date-format \(quoted("\(key)=\(dateFormat)"))")
        }
        return options
    }

    /// A text as one word of a shell.
    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
