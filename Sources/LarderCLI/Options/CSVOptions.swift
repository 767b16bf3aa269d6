import ArgumentParser
import LarderModel

/// The form of a CSV file, and what its columns mean.
struct CSVOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            CSV: property of a column; column=author.name for a related object, column= to leave \
            the column out. Can be repeated.
            """, valueName: "column=property"))
    var map: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            CSV: names of the columns of a file without a header, separated by commas; an empty \
            name leaves the column out.
            """, valueName: "names"))
    var header: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "CSV: character between fields, or the word tab. Default: a comma.",
            valueName: "character"))
    var delimiter: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "CSV: text between the objects in a field of a to-many relationship.",
            valueName: "text"))
    var listSeparator: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "CSV: format of dates that are not in ISO 8601, such as '%d.%m.%Y %H:%M'.",
            valueName: "format"))
    var dateFormat: String?

    /// The options that were given, as in error messages.
    var given: [String] {
        let options = [
            ("--map", !map.isEmpty), ("--header", header != nil),
            ("--delimiter", delimiter != nil), ("--list-separator", listSeparator != nil),
            ("--date-format", dateFormat != nil),
        ]
        return options.filter(\.1).map(\.0)
    }

    mutating func validate() throws {
        _ = try mapping()
        guard header?.contains(where: { $0 != "," }) != false else {
            throw ValidationError("--header must have the name of a column")
        }
        guard listSeparator?.isEmpty != true else {
            throw ValidationError("--list-separator must not be empty")
        }
        guard listSeparator?.contains(where: { "\"\r\n".contains($0) }) != true else {
            throw ValidationError("--list-separator must not contain a quotation mark or a newline")
        }
        if let delimiter {
            guard Self.byte(delimiter) != nil else {
                throw ValidationError(
                    "--delimiter must be one ASCII character other than a quotation mark or a "
                        + "newline; for a tab, write tab")
            }
        }
        if let dateFormat {
            do throws(LarderError) {
                _ = try DateFormat(dateFormat)
            } catch {
                throw ValidationError(
                    "--date-format: \(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
            }
        }
    }

    /// The format of a file.
    ///
    /// - Parameter isTSV: Whether the fields are separated by tabs, unless `--delimiter` says
    ///   otherwise.
    func format(isTSV: Bool) throws -> CSVFormat {
        CSVFormat(
            delimiter: delimiter.flatMap(Self.byte) ?? UInt8(ascii: isTSV ? "\t" : ","),
            header: header.map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            },
            mapping: try mapping(), listSeparator: listSeparator,
            dateFormat: try dateFormat.map { (format) throws(LarderError) in
                try DateFormat(format)
            })
    }

    /// The property of each column that `--map` names. The name of a column may contain `=`, that
    /// of a property cannot.
    private func mapping() throws -> [String: String] {
        var mapping: [String: String] = [:]
        for text in map {
            guard let end = text.lastIndex(of: "="), end > text.startIndex else {
                let shown = EscapedText.escaped(String(text.prefix(40)))
                throw ValidationError("--map: '\(shown)' is not of the form column=property")
            }
            let column = String(text[..<end])
            let property = String(text[text.index(after: end)...])
            guard mapping.updateValue(property, forKey: column) == nil else {
                let shown = EscapedText.escaped(String(column.prefix(40)))
                throw ValidationError("--map: the column '\(shown)' is given more than once")
            }
        }
        return mapping
    }

    private static func byte(_ text: String) -> UInt8? {
        if text == "tab" || text == #"\t"# { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80,
            !"\"\r\n\0".utf8.contains(byte)
        else { return nil }
        return byte
    }
}

/// The form of a CSV file, and what its columns mean.
struct CSVFormat: Sendable {
    var delimiter = UInt8(ascii: ",")
    /// The names of the columns; nil if the first record has them.
    var header: [String]?
    /// The properties of columns with other names; empty for a column that is left out.
    var mapping: [String: String] = [:]
    /// The text between the objects of a to-many relationship; nil if none is allowed.
    var listSeparator: String?
    /// nil for ISO 8601.
    var dateFormat: DateFormat?
}
