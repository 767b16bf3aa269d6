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
            """
            Fills the next %@ or %K; may be repeated. An object is given by its URI, a list for IN \
            as a JSON array.
            """, valueName: "value"))
    var arguments: [String] = []

    @Option(
        name: .customLong("variable"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("What $NAME stands for; may be repeated.", valueName: "name=value"))
    var variables: [VariableArgument] = []

    @Flag(
        name: .customLong("no-subentities"),
        help: "Only objects of the entity itself, not those of its sub-entities.")
    var excludesSubentities = false

    mutating func validate() throws {
        let names = variables.map(\.name)
        guard Set(names).count == names.count else {
            throw ValidationError("a variable is given twice")
        }
    }

    var predicate: QueryTerm? { format.map(QueryTerm.format) }

    /// The texts that errors may be about, by the names that they have there.
    var texts: [(name: String, text: String)] { format.map { [("predicate", $0)] } ?? [] }

    func parameters(limit: Int64? = nil, offset: Int64? = nil) -> QueryParameters {
        QueryParameters(
            arguments: arguments.map { .value(.string($0)) },
            variables: Dictionary(
                variables.map { ($0.name, .value(.string($0.value))) },
                uniquingKeysWith: { first, _ in first }),
            argumentsAreText: true, limit: limit, offset: offset)
    }
}
