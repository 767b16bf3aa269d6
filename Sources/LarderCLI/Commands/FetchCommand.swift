import ArgumentParser
import LarderModel

struct FetchCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Print the objects that match a predicate.",
        discussion: """
            EXAMPLES:
              larder fetch Article --where 'wordCount > 100' --sort title:desc --limit 10
              larder fetch Article --where 'category.name == %@' --arg tech --select title
              larder fetch Article --search 'larder "object store" -redis' --limit 20
              larder fetch Article --select category.name --distinct
              larder fetch Article --select 'title,month=month(published)' --sort title
              larder fetch Article --sort title --limit 50 --after "$title" --after "$id"
              larder fetch Article --prefetch category --prefetch tags --output jsonl
              larder fetch Article --where 'wordCount == 0' --ids | xargs larder delete

            Without --select, prints @id (in JSON also @entity and @version), every attribute and \
            every to-one relationship, in the order of the schema. get also prints to-many \
            relationships.

            In table, plain and csv output, nil is empty; in csv, the empty string is "". In table \
            and plain output, a tab, newline or backslash in a value is printed as \\t, \\n or \
            \\\\. Rows are printed as they arrive; the first rows determine the column widths of a \
            table.
            """)

    @Argument(help: ArgumentHelp("Entity to fetch.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var sortOption: SortOption
    @OptionGroup var fetch: FetchOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    mutating func validate() throws {
        try fetch.check(arguments)
        if !fetch.prefetch.isEmpty && !output.format.isJSON {
            throw ValidationError("--prefetch requires --output json or jsonl")
        }
        if let modifier = sortOption.keys.lazy.compactMap(\.unknownModifier).first {
            throw ValidationError(
                "--sort: unknown or repeated modifier `:\(modifier)`; valid modifiers are"
                    + " \(SortArgument.modifiers)")
        }
    }

    func run(_ session: StoreSession) throws {
        let query = try FetchQuery(
            entity.name, fetch, where: predicate, sort: sortOption, arguments.parameters(dates)
        ).resolved(in: session)
        try PredicateFailure.attachingFormat(query.texts, query.parameters.arguments) {
            let batches = try session.client.stream(.fetch(query.fetch), query.parameters)
            if fetch.prefetch.isEmpty {
                let decimals = try ShownDecimals(of: entity.name, in: session, output.format)
                var printer = ResultPrinter(
                    output.format, store: session.storeIdentifier, columns: query.columns,
                    decimals: decimals.fetched(query.columns))
                while let batch = try batches.next() { try printer.print(batch) }
                try printer.end()
            } else {
                var printer = NestedPrinter(
                    isArray: output.format == .json, store: session.storeIdentifier)
                while let batch = try batches.next() { try printer.print(batch) }
                try printer.end()
            }
        }
    }
}
