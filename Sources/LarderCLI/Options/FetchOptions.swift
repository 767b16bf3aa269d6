import ArgumentParser
import LarderModel

/// The rows and columns of a fetch.
struct FetchOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Objects whose texts have these words, the best first unless --sort is given: \
            'larder "object store" -redis pan*'.
            """, valueName: "text"))
    var search: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of rows.", valueName: "n"))
    var limit: Int64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Number of rows to skip.", valueName: "n"))
    var offset: Int64?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Continue after a row of the previous page. Repeat the option: one value for each \
            --sort ('nil' for nil), then the URI of the row's object.
            """, valueName: "value"))
    var after: [String] = []

    @Option(
        help: ArgumentHelp(
            "Columns to print: [NAME=]EXPRESSION, @id, @entity or @version, separated by commas.",
            valueName: "expression,…"), completion: StoreCompletion.expression)
    var select: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Embed the related objects in JSON output. Can be repeated.",
            valueName: "keypath"), completion: StoreCompletion.expression)
    var prefetch: [String] = []

    @Flag(help: "Remove duplicate rows. Requires --select.")
    var distinct = false

    @Flag(help: "Print URIs only; same as --select @id.")
    var ids = false

    mutating func validate() throws {
        if limit.map({ $0 < 0 }) == true { throw ValidationError("--limit must not be negative") }
        if offset.map({ $0 < 0 }) == true { throw ValidationError("--offset must not be negative") }
        if ids && select != nil { throw ValidationError("--ids and --select cannot be combined") }
        if let select { try ResultColumn.validate(list: select) }
        if distinct && select == nil { throw ValidationError("--distinct requires --select") }
        if !after.isEmpty && (distinct || offset != nil) {
            throw ValidationError("--after cannot be combined with --distinct or --offset")
        }
        if !prefetch.isEmpty && (select != nil || ids) {
            throw ValidationError("--prefetch cannot be combined with --select or --ids")
        }
        guard let columns else { return }
        if distinct && columns.contains(where: \.isIdentity) {
            throw ValidationError(
                "--distinct cannot be combined with the columns @id, @entity and @version")
        }
    }

    /// - Throws: A usage error if a variable has the name of the search.
    func check(_ arguments: ArgumentOptions) throws {
        let name = FetchQuery.searchVariable
        guard search == nil || !arguments.variables.contains(where: { $0.name == name }) else {
            throw ValidationError("--search sets $\(name); give another name to --variable")
        }
    }

    /// The selected columns; nil for whole objects.
    var columns: [ResultColumn]? {
        if ids { return [.identifier] }
        return select.map(ResultColumn.list)
    }

    /// The values of `--after`.
    var cursor: [Value] { after.map(Self.cursorValue) }

    /// Converts a value of `--after`. `nil` is nil; the string `nil` is written `\nil`.
    private static func cursorValue(_ text: String) -> Value {
        if text == "nil" { return .null }
        let isEscaped = text.first == "\\" && text.drop { $0 == "\\" } == "nil"
        return .string(isEscaped ? String(text.dropFirst()) : text)
    }
}
