import ArgumentParser

/// The order of objects.
struct SortOption: ParsableArguments {
    @Option(
        name: .customLong("sort"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Key paths or expressions to sort by, separated by commas, each with optional modifiers \
            :asc or :desc, :nilsfirst or :nilslast, :caseinsensitive or :localized. Can be repeated.
            """, valueName: "expression,…"), completion: StoreCompletion.sortKeys,
        transform: { try SortArgument.list($0) })
    var lists: [[SortArgument]] = []

    var keys: [SortArgument] { lists.flatMap { $0 } }
}
