import ArgumentParser
import LarderModel

/// Which objects a query is about, and what fills the predicate.
struct PredicateOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .unconditional,
        help: ArgumentHelp(
            "A predicate in Core Data's format: 'wordCount > 100 AND title BEGINSWITH \"A\"'.",
            valueName: "format"))
    var format: String?

    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Fills the next %@ or %K; may be repeated. An object is given by its URI.",
            valueName: "value"))
    var arguments: [String] = []

    var predicate: QueryTerm? { format.map(QueryTerm.format) }

    func parameters(limit: Int64? = nil, offset: Int64? = nil) -> QueryParameters {
        QueryParameters(
            arguments: arguments.map(Value.string), argumentsAreText: true, limit: limit,
            offset: offset)
    }
}
