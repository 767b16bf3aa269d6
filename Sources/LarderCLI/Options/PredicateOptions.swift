import ArgumentParser
import LarderModel

/// The predicate of a query or a bulk change.
struct PredicateOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .unconditional,
        help: ArgumentHelp(
            "Predicate in Core Data's format: 'wordCount > 100 AND title BEGINSWITH \"A\"'.",
            valueName: "format"), completion: StoreCompletion.expression)
    var format: String?

    @Flag(
        name: .customLong("no-subentities"),
        help: "Exclude the objects of subentities.")
    var excludesSubentities = false

    var predicate: QueryTerm? { format.map(QueryTerm.format) }

    /// The format strings, each with the name that error messages use.
    var texts: [(name: String, text: String)] { format.map { [("predicate", $0)] } ?? [] }
}
