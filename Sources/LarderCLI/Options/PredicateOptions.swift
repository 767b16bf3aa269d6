import ArgumentParser
import LarderModel

/// The predicate of a query or a bulk change, and its arguments.
struct PredicateOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .unconditional,
        help: ArgumentHelp(
            "Predicate in Core Data's format: 'wordCount > 100 AND title BEGINSWITH \"A\"'.",
            valueName: "format"))
    var format: String?

    @OptionGroup var values: ArgumentOptions

    @Flag(
        name: .customLong("no-subentities"),
        help: "Exclude the objects of subentities.")
    var excludesSubentities = false

    var predicate: QueryTerm? { format.map(QueryTerm.format) }

    /// The format strings, each with the name that error messages use.
    var texts: [(name: String, text: String)] { format.map { [("predicate", $0)] } ?? [] }

    func parameters(limit: Int64? = nil, offset: Int64? = nil) -> QueryParameters {
        var parameters = values.parameters
        parameters.limit = limit
        parameters.offset = offset
        return parameters
    }
}
