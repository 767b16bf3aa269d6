import ArgumentParser
import LarderModel

/// What `aggregate` computes, apart from the entity.
struct AggregateOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            count, sum:EXPRESSION, average:, minimum:, maximum:, median:, mode:, stddev:, \
            countDistinct:, each with name= in front if it is to be called so, and ' where FORMAT' \
            behind if it is to look only at objects that satisfy it.
            """, valueName: "column"))
    var columns: [ColumnArgument] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Groups by an expression, a key path above all; may be repeated.",
            valueName: "[name=]expression"))
    var groupBy: [GroupArgument] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A predicate over the columns' names.", valueName: "format"))
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

    /// The texts that errors may be about, by the names that they have there.
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
