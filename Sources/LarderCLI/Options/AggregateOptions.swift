import ArgumentParser
import LarderModel

/// What `aggregate` computes, apart from the entity.
struct AggregateOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            count, sum:KEYPATH, average:, minimum:, maximum:, median:, stddev:, countDistinct:, \
            each with name= in front if it is to be called so.
            """, valueName: "column"))
    var columns: [ColumnArgument] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Groups by a key path; may be repeated.", valueName: "keypath"))
    var groupBy: [String] = []

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
                entityName, where: predicate.predicate, groupBy: groupBy.map { QueryColumn($0) }, columns.map(\.column),
                having: having.map(QueryTerm.format), sort: sort.map(\.key)))
    }
}
