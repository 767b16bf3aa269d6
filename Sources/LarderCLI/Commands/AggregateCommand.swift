import ArgumentParser
import LarderModel

struct AggregateCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Print counts, sums and other aggregates over groups of objects.",
        discussion: """
            EXAMPLES:
              larder aggregate Article count average:wordCount
              larder aggregate Article --group-by category.name count \\
                words=sum:wordCount --having 'words > 1000' --sort words:desc --limit 10
              larder aggregate Article --group-by 'month=month(published)' count \\
                'long=count where wordCount > 1000' --sort month

            Prints one row per group, group keys first; without --group-by, one row for all \
            objects. The name of a column is its text (sum:wordCount) unless NAME= gives another; \
            --having and --sort refer to columns by name. --arg values fill %@ in this order: \
            --where, --group-by, columns, --having, --sort.
            """)

    @Argument(help: ArgumentHelp("Entity to aggregate.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var aggregate: AggregateOptions
    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions

    @Option(
        name: .customLong("sort"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Columns or expressions over columns to sort by, separated by commas, each with the \
            modifiers of fetch: NAME:desc:nilslast. Can be repeated.
            """, valueName: "name,…"),
        transform: { try SortArgument.list($0) })
    var sortLists: [[SortArgument]] = []

    private var sort: [SortArgument] { sortLists.flatMap { $0 } }

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of rows.", valueName: "n"))
    var limit: Int64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Number of rows to skip.", valueName: "n"))
    var offset: Int64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    mutating func validate() throws {
        if limit.map({ $0 < 0 }) == true { throw ValidationError("--limit must not be negative") }
        if offset.map({ $0 < 0 }) == true { throw ValidationError("--offset must not be negative") }
        if aggregate.columns.isEmpty && aggregate.groupBy.isEmpty {
            throw ValidationError(
                "no columns given; pass count, sum:EXPRESSION or another function")
        }
    }

    func run(_ session: StoreSession) throws {
        let query = aggregate.query(entity.name, where: predicate, sort: sort)
        let texts = predicate.texts + aggregate.texts + SortArgument.texts(sort)
        var parameters = arguments.parameters(dates)
        parameters.limit = limit
        parameters.offset = offset
        try PredicateFailure.attachingFormat(texts, parameters.arguments) {
            let batches = try session.client.stream(query, parameters)
            let decimals = try ShownDecimals(of: entity.name, in: session, output.format)
            var printer = ResultPrinter(
                output.format, store: session.storeIdentifier,
                decimals: decimals.aggregated(aggregate))
            while let batch = try batches.next() { try printer.print(batch) }
            try printer.end()
        }
    }
}
