import ArgumentParser
import LarderModel

struct FetchCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Prints the objects that satisfy a predicate.",
        discussion: """
            EXAMPLES:
              larder fetch Article --where 'wordCount > 100' --sort published:desc --limit 10
              larder fetch Article --where 'category.name == %@' --arg tech --select title
              larder fetch Article --select category.name --distinct
              larder fetch Article --select 'title,month=month(published)' --sort title:localized
              larder fetch Article --sort published --limit 50 --after "$published" --after "$id"
              larder fetch Article --prefetch category --prefetch tags --output jsonl
              larder fetch Article --where 'wordCount == 0' --ids | xargs larder delete

            Without --select: every attribute and to-one relationship in the schema's order, with \
            @id in front, in JSON also @entity and @version. get prints to-many relationships too. \
            nil is empty in table, plain and csv, where the empty string of csv is "". In table \
            and plain a tab, newline or backslash within a value is written \\t, \\n, \\\\. \
            A table takes its widths from the first rows, so that any result is printed as it comes.
            """)

    @Argument(help: ArgumentHelp("What to fetch objects of.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var query: FetchOptions
    @OptionGroup var options: GlobalOptions

    mutating func validate() throws {
        if !query.prefetch.isEmpty && !options.format.isJSON {
            throw ValidationError("--prefetch needs --output json or jsonl")
        }
        for suffix in query.sort.compactMap(\.unknownSuffix) {
            throw ValidationError(
                "--sort: `:\(suffix)` is no order or stands twice; behind an expression stand"
                    + " \(SortArgument.suffixes)")
        }
    }

    func run(_ store: OpenStore) throws {
        try PredicateFailure.joining(query.texts) {
            let batches = try store.client.stream(query.query(entity.name), query.parameters)
            if query.prefetch.isEmpty {
                var printer = ResultPrinter(
                    options.format, store: store.identifier, columns: query.columns)
                while let batch = try batches.next() { try printer.print(batch) }
                try printer.end()
            } else {
                var printer = NestedPrinter(
                    isArray: options.format == .json, store: store.identifier)
                while let batch = try batches.next() { try printer.print(batch) }
                try printer.end()
            }
        }
    }
}
