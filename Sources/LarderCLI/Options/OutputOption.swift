import ArgumentParser

/// The format in which a command prints its result.
struct OutputOption: ParsableArguments {
    @Option(
        name: .customLong("output"),
        help: "Output format. Default: LARDER_OUTPUT, or table on a terminal, otherwise plain.")
    var given: OutputFormat?

    var format: OutputFormat { given ?? Self.preferred }

    /// The format without an option.
    static var preferred: OutputFormat { preference ?? .standardOutputDefault }

    /// The format in the environment, which commands with one format ignore.
    private static var preference: OutputFormat? {
        Environment.value(Environment.output).flatMap(OutputFormat.init(rawValue:))
    }

    mutating func validate() throws {
        guard given == nil, Self.preference == nil, Environment.value(Environment.output) != nil
        else { return }
        let formats = OutputFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("LARDER_OUTPUT must be one of \(formats)")
    }
}
