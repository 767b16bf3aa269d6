import ArgumentParser
import LarderModel

/// The columns and groups of an aggregate query.
struct AggregateOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Column to compute: count, or one of sum, average, minimum, maximum, median, mode, \
            stddev and countDistinct, followed by :EXPRESSION. Prefix NAME= names the column; \
            suffix ' where FORMAT' restricts it to the objects that match a predicate.
            """, valueName: "column"),
        completion: StoreCompletion.column,
        transform: { try ColumnArgument($0) })
    var columns: [ColumnArgument] = []

    @Option(
        name: .customLong("group-by"), parsing: .singleValue,
        help: ArgumentHelp(
            "Key paths or expressions to group by, separated by commas. Can be repeated.",
            valueName: "[name=]expression,…"), completion: StoreCompletion.expression,
        transform: { try GroupArgument.list($0) })
    var groupLists: [[GroupArgument]] = []

    var groupBy: [GroupArgument] { groupLists.flatMap { $0 } }

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Predicate that the result rows must match; it uses the names of columns.",
            valueName: "format"), completion: StoreCompletion.expression)
    var having: String?
}

extension AggregateOptions {
    func query(
        _ entityName: String, where predicate: PredicateOptions, sort: [SortArgument]
    ) -> Query {
        .aggregate(
            Aggregate(
                entityName, where: predicate.predicate, groupBy: groupBy.map(\.column),
                columns.map(\.column),
                having: having.map(QueryTerm.format), sort: sort.map(\.key),
                includesSubentities: !predicate.excludesSubentities))
    }

    /// The format strings, each with the name that error messages use.
    var texts: [(name: String, text: String)] {
        var texts: [(name: String, text: String)] = []
        for (index, group) in groupBy.enumerated() {
            texts.append(("group key \(index + 1)", group.text))
        }
        for (index, column) in columns.enumerated() {
            if let text = column.text { texts.append(("aggregate \(index + 1)", text)) }
            if let filter = column.filter { texts.append(("filter \(index + 1)", filter)) }
        }
        return texts + (having.map { [("having", $0)] } ?? [])
    }
}
