import ArgumentParser
import LarderModel

/// The form of a file with objects, and what its columns mean.
struct FormatOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Property of a column, or of a key in JSON; column=author.name for a related object, \
            column= to leave the column out; '#3=name' for the third column. Can be repeated.
            """, valueName: "column=property"))
    var map: [String] = []

    @Option(
        name: .customLong("null"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A text that is nil, such as '\\N' or NA. Can be repeated.", valueName: "text"))
    var nulls: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Format of dates that are not in ISO 8601, such as '%d.%m.%Y %H:%M', of all columns or \
            of one. Can be repeated; the formats of a column are tried in order.
            """, valueName: "[column=]format"))
    var dateFormat: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Character before the fraction of a number. Default: a point.", valueName: "character")
    )
    var decimal: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Character between the thousands of a number. Default: none.", valueName: "character"))
    var thousands: String?

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
            """
            CSV: text between the objects in a field of a to-many relationship. Default: a space, \
            between URIs.
            """, valueName: "text"))
    var listSeparator: String?

    /// The options for CSV that were given, as in error messages.
    var givenForCSV: [String] {
        let options = [
            ("--header", header != nil), ("--delimiter", delimiter != nil),
            ("--list-separator", listSeparator != nil),
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
        _ = try format()
        _ = try numbers()
    }

    /// The format of a file.
    ///
    /// - Parameter isTSV: Whether the fields are separated by tabs, unless `--delimiter` says
    ///   otherwise.
    func format(isTSV: Bool = false) throws -> FileFormat {
        var format = FileFormat(
            delimiter: delimiter.flatMap(Self.byte) ?? UInt8(ascii: isTSV ? "\t" : ","),
            header: header.map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            },
            mapping: try mapping(), listSeparator: listSeparator, nulls: nulls,
            numbers: try numbers())
        for text in dateFormat {
            let (column, dateFormat) = try Self.dateFormat(text)
            if let column {
                format.columnDateFormats[column, default: []].append(dateFormat)
            } else {
                format.dateFormats.append(dateFormat)
            }
        }
        return format
    }

    private func numbers() throws -> NumberForm? {
        for (option, text) in [("--decimal", decimal), ("--thousands", thousands)] {
            guard let text, !NumberForm.isSeparator(text) else { continue }
            throw ValidationError(
                "\(option) must be one character other than a digit, a letter or a sign")
        }
        guard decimal != nil || thousands != nil else { return nil }
        guard decimal ?? "." != thousands else {
            throw ValidationError("--decimal and --thousands must be different characters")
        }
        return NumberForm(decimal: decimal ?? ".", thousands: thousands)
    }

    /// A format, and its column if it is of one column. The name of a column has no `%` here.
    private static func dateFormat(_ text: String) throws -> (column: String?, DateFormat) {
        var column: String?
        var format = text[...]
        if let end = text.firstIndex(of: "="), end > text.startIndex, !text[..<end].contains("%") {
            column = String(text[..<end])
            format = text[text.index(after: end)...]
        }
        do throws(LarderError) {
            return (column, try DateFormat(String(format)))
        } catch {
            throw ValidationError(
                "--date-format: \(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
        }
    }

    /// The property of each column that `--map` names. The name of a column may contain `=`, that
    /// of a property cannot.
    private func mapping() throws -> [String: String] {
        var mapping: [String: String] = [:]
        for text in map {
            guard let end = text.lastIndex(of: "="), end > text.startIndex else {
                let shown = EscapedText.escaped(String(text.prefix(40)))
                throw ValidationError(
                    "--map: '\(shown)' is not of the form column=property; a column without a name "
                        + "is #1, #2 and so on")
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
