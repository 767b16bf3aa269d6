import ArgumentParser
import LarderModel

struct ExplainCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Prints how a fetch or an aggregate would be answered.",
        discussion: """
            EXAMPLES:
              larder explain Article --where 'title BEGINSWITH "A"' --sort published
              larder explain Article --group-by category.name count

            Takes the options of fetch, or those of aggregate: then name a column. Shows the plan \
            as a tree, the SQL, SQLite's own steps with the indexes they use, and warnings, as of \
            a full scan.
            """)

    @Argument(help: ArgumentHelp("What is asked for.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var aggregate: AggregateOptions
    @OptionGroup var fetch: FetchOptions
    @OptionGroup var options: GlobalOptions

    private var isAggregate: Bool { !aggregate.columns.isEmpty || !aggregate.groupBy.isEmpty }

    mutating func validate() throws {
        if isAggregate,
            fetch.columns != nil || fetch.distinct || fetch.offset != nil || !fetch.after.isEmpty
                || !fetch.prefetch.isEmpty
        {
            throw ValidationError(
                "--select, --ids, --distinct, --offset, --after and --prefetch are fetch's alone")
        }
        if !isAggregate, aggregate.having != nil {
            throw ValidationError("--having needs a column")
        }
    }

    func run(_ store: OpenStore) throws {
        let query =
            isAggregate
            ? aggregate.query(entity.name, where: fetch.predicate, sort: fetch.sort)
            : fetch.query(entity.name)
        let explanation = try PredicateFailure.joining(
            fetch.texts + aggregate.texts
        ) { try store.client.explain(query, fetch.parameters) }
        switch options.format {
        case .table, .plain:
            var output = StandardOutput()
            try output.write(explanation.text)
            try output.flush()
        case .json, .jsonl, .csv:
            var writer = options.format.makeWriter()
            try writer.write(all: [explanation.row], names: ["plan", "sql", "steps", "warnings"])
        }
    }
}

extension Explanation {
    /// The parts under their headings, indented.
    fileprivate var text: String {
        let parts = [
            ("plan", plan.split(separator: "\n").map(String.init)),
            ("sql", sql.split(separator: "\n").map(String.init)),
            ("steps", steps), ("warnings", warnings),
        ]
        return parts.filter { !$0.1.isEmpty }
            .map { heading, lines in heading + "\n" + lines.map { "  \($0)\n" }.joined() }
            .joined()
    }

    fileprivate var row: [Value] {
        [plan, sql].map(Value.string)
            + [steps, warnings].map { .json(JSONValue.array($0.map { .string($0) }).text) }
    }
}
