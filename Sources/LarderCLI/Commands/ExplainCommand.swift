import ArgumentParser
import LarderModel

struct ExplainCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show the execution plan of a fetch or aggregate query.",
        discussion: """
            EXAMPLES:
              larder explain Article --where 'title BEGINSWITH "A"' --sort published
              larder explain Article --group-by category.name count

            Takes the options of fetch; with a column or --group-by, those of aggregate. Prints \
            the plan as a tree, the SQL, SQLite's query plan with the indexes that it uses, and \
            warnings, for example about a full table scan.
            """)

    @Argument(help: ArgumentHelp("Entity to query.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var aggregate: AggregateOptions
    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var sortOption: SortOption
    @OptionGroup var fetch: FetchOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    private var isAggregate: Bool { !aggregate.columns.isEmpty || !aggregate.groupBy.isEmpty }

    mutating func validate() throws {
        try fetch.check(arguments)
        if isAggregate,
            fetch.columns != nil || fetch.distinct || fetch.offset != nil || !fetch.after.isEmpty
                || !fetch.prefetch.isEmpty || fetch.search != nil
        {
            throw ValidationError(
                "aggregates take no --select, --ids, --distinct, --offset, --after, --prefetch or "
                    + "--search"
            )
        }
        if !isAggregate, aggregate.having != nil {
            throw ValidationError("--having requires a column or --group-by")
        }
    }

    func run(_ session: StoreSession) throws {
        let query = try FetchQuery(
            entity.name, fetch, where: predicate, sort: sortOption, arguments.parameters(dates)
        ).resolved(in: session)
        let explained =
            isAggregate
            ? aggregate.query(entity.name, where: query.predicate, sort: query.sort)
            : .fetch(query.fetch)
        let explanation = try PredicateFailure.attachingFormat(
            query.texts + aggregate.texts, query.parameters.arguments
        ) { try session.client.explain(explained, query.parameters) }
        switch output.format {
        case .table, .vertical, .plain:
            var standardOutput = StandardOutput()
            try standardOutput.write(explanation.text)
            try standardOutput.flush()
        case .json, .jsonl, .csv:
            var writer = output.format.makeWriter()
            try writer.write(all: [explanation.row], names: ["plan", "sql", "steps", "warnings"])
        }
    }
}

extension Explanation {
    /// The parts as indented text, each below its title.
    fileprivate var text: String {
        let parts = [
            ("plan", plan.split(separator: "\n").map(String.init)),
            ("sql", sql.split(separator: "\n").map(String.init)),
            ("steps", steps), ("warnings", warnings),
        ]
        return parts.filter { !$0.1.isEmpty }
            .map { title, lines in title + "\n" + lines.map { "  \($0)\n" }.joined() }
            .joined()
    }

    fileprivate var row: [Value] {
        [plan, sql].map(Value.string)
            + [steps, warnings].map { .json(JSONValue.array($0.map { .string($0) }).text) }
    }
}
