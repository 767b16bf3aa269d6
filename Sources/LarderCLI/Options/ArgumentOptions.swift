import ArgumentParser
import LarderModel

/// The values of a predicate's placeholders and variables.
struct ArgumentOptions: ParsableArguments {
    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Value for the next %@ or %K. An object is a URI, a list for IN is a JSON array. \
            Compared with a member of a JSON document, 9 is a number and "9" with its quotation \
            marks a string. Can be repeated.
            """, valueName: "value"))
    var arguments: [String] = []

    @Option(
        name: .customLong("variable"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Value for $NAME in a predicate. Can be repeated.", valueName: "name=value"))
    var variables: [VariableArgument] = []

    var isGiven: Bool { !arguments.isEmpty || !variables.isEmpty }

    mutating func validate() throws {
        let names = variables.map(\.name)
        guard Set(names).count == names.count else {
            throw ValidationError("--variable: the same name is given more than once")
        }
    }

    /// The values as parameters of a query, whose dates are read as `dates` says.
    func parameters(_ dates: DateOptions) -> QueryParameters {
        QueryParameters(
            arguments: arguments.map { .value(.string($0)) },
            variables: Dictionary(
                variables.map { ($0.name, .value(.string($0.value))) },
                uniquingKeysWith: { first, _ in first }),
            argumentsAreText: true, assumesUTC: dates.assumesUTC)
    }
}
