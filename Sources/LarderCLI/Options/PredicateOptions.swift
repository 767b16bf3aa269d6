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

    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Value for the next %@ or %K. An object is a URI, a list for IN is a JSON array. Can \
            be repeated.
            """, valueName: "value"))
    var arguments: [String] = []

    @Option(
        name: .customLong("variable"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Value for $NAME in a predicate. Can be repeated.", valueName: "name=value"))
    var variables: [VariableArgument] = []

    @Flag(
        name: .customLong("no-subentities"),
        help: "Exclude the objects of subentities.")
    var excludesSubentities = false

    mutating func validate() throws {
        let names = variables.map(\.name)
        guard Set(names).count == names.count else {
            throw ValidationError("--variable: the same name is given more than once")
        }
    }

    var predicate: QueryTerm? { format.map(QueryTerm.format) }

    /// The format strings, each with the name that error messages use.
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
