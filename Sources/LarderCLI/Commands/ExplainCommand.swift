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
              larder explain Article --where 'title CONTAINS "a"' --analyze

            Takes the options of fetch; with a column or --group-by, those of aggregate. Prints \
            the plan as a tree, the SQL, SQLite's query plan with the indexes that it uses, \
            warnings, for example about a full table scan, and the indexes that would help, as \
            they are written in the schema file.

            --analyze also runs the query, without sending its rows, and prints the rows, those \
            that scans have read, the steps of SQLite, and the time of each stage in milliseconds.
            """)

    @Argument(help: ArgumentHelp("Entity to query.", valueName: "entity"))
    var entity: EntityName

    @Flag(help: "Run the query, and print what that took.")
    var analyze = false

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
        ) {
            analyze
                ? try session.client.analyze(explained, query.parameters)
                : try session.client.explain(explained, query.parameters)
        }
        switch output.format {
        case .table, .vertical, .plain:
            var standardOutput = StandardOutput()
            try standardOutput.write(explanation.text)
            try standardOutput.flush()
        case .json, .jsonl, .csv:
            var writer = output.format.makeWriter()
            try writer.write(
                all: [explanation.row],
                names: ["plan", "sql", "steps", "warnings", "indexes", "execution"])
        }
    }
}

extension Explanation {
    /// The parts as indented text, each below its title.
    fileprivate var text: String {
        let parts = [
            ("plan", plan.split(separator: "\n").map(String.init)),
            ("sql", sql.split(separator: "\n").map(String.init)),
            ("steps", steps), ("warnings", warnings), ("indexes", indexes),
            ("execution", executionLines),
        ]
        return parts.filter { !$0.1.isEmpty }
            .map { title, lines in title + "\n" + lines.map { "  \($0)\n" }.joined() }
            .joined()
    }

    /// The names and values of the execution in two columns.
    private var executionLines: [String] {
        let width = execution.map(\.name.count).max() ?? 0
        return execution.map {
            $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.value.text
        }
    }

    fileprivate var row: [Value] {
        let members = execution.map { ($0.name, $0.value.jsonValue) }
        let statistics = JSONValue.object(Dictionary(members) { $1 })
        return [plan, sql].map(Value.string)
            + [steps, warnings, indexes].map {
                .json(JSONValue.array($0.map { .string($0) }).text)
            } + [execution.isEmpty ? .null : .json(statistics.text)]
    }
}
