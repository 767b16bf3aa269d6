import ArgumentParser
import LarderModel

struct AggregateCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Prints values computed over groups of objects, by the database.",
        discussion: """
            EXAMPLES:
              larder aggregate Article count average:wordCount
              larder aggregate Article --group-by category.name count words=sum:wordCount \\
                --having 'words > 1000' --sort words:desc --limit 10
              larder aggregate Article --group-by 'month=month(published)' count \\
                'long=count where wordCount > 1000' --sort month

            A row for each group, its keys in front; without --group-by one row over all. A column \
            is called what was typed (sum:wordCount), or name with name= in front; --having and \
            --sort use these names. --arg fills %@ in the order --where, --group-by, columns, \
            --having, --sort.
            """)

    @Argument(help: ArgumentHelp("What to compute over objects of.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var aggregate: AggregateOptions
    @OptionGroup var predicate: PredicateOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            Orders by a column or an expression over columns, as fetch does: NAME:desc:nilslast; \
            may be repeated.
            """, valueName: "name"))
    var sort: [SortArgument] = []

    @Option(help: ArgumentHelp("At most so many rows.", valueName: "n"))
    var limit: Int64?

    @OptionGroup var options: GlobalOptions

    mutating func validate() throws {
        if limit.map({ $0 < 0 }) == true { throw ValidationError("--limit is a number from 0") }
        if aggregate.columns.isEmpty && aggregate.groupBy.isEmpty {
            throw ValidationError("Missing what to compute: count, sum:EXPRESSION, …")
        }
    }

    func run(_ store: OpenStore) throws {
        let query = aggregate.query(entity.name, where: predicate, sort: sort)
        let texts = predicate.texts + aggregate.texts + SortArgument.texts(sort)
        try PredicateFailure.joining(texts) {
            let batches = try store.client.stream(query, predicate.parameters(limit: limit))
            var printer = ResultPrinter(options.format, store: store.identifier)
            while let batch = try batches.next() { try printer.print(batch) }
            try printer.end()
        }
    }
}
