import ArgumentParser
import Glibc
import LarderModel

/// `larder`: asks a store, from the shell.
///
/// Every command is a file in `Commands/`. It says what it asks of a `StoreClient`; where the
/// client comes from (a server's socket, or a private server for a file) is `Store/`'s matter, what
/// is read `Input/`'s, how results look `Output/`'s, and what a failure prints and returns
/// `Errors/`'s.
@main
struct LarderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "Keeps and finds typed objects in a store that larderd serves.",
        discussion: """
            EXAMPLES:
              export LARDER_SOCKET=/run/larder/school.sock
              larder insert Student name=Ann birthOfYear=2001
              larder fetch Student --where 'birthOfYear >= 2000' --sort name
              larder aggregate Student --group-by birthOfYear count

            Every command takes --socket PATH or LARDER_SOCKET, or --store FILE to work on a file \
            without a server.
            Completion: larder --generate-completion-script bash (or zsh, fish).
            """,
        version: LarderCommand.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Object",
                subcommands: [
                    InsertCommand.self, GetCommand.self, UpdateCommand.self, DeleteCommand.self,
                    SaveCommand.self, IdentifierCommand.self,
                ]),
            CommandGroup(
                name: "Query",
                subcommands: [
                    FetchCommand.self, CountCommand.self, AggregateCommand.self,
                    ExplainCommand.self,
                ]),
            CommandGroup(
                name: "Store",
                subcommands: [
                    ImportCommand.self, ExportCommand.self, SchemaCommand.self, StatsCommand.self,
                    CheckCommand.self, PingCommand.self,
                ]),
        ])

    static let version = "0.1.0"

    static func main() {
        StandardStreams.prepare()
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            Glibc.exit(finish(error, arguments))
        }
    }

    /// Prints what is to be said at the end, and gives the exit status.
    private static func finish(_ error: any Error, _ arguments: [String]) -> Int32 {
        let report: ErrorReport
        switch error {
        case let error as LarderError: report = ErrorReport(error)
        case let failure as PredicateFailure:
            report = ErrorReport(failure.error, format: failure.format)
        case _ where exitCode(for: error) == .success:
            return printHelp(fullMessage(for: error))
        default:
            let message = message(for: error)
            let explanation = fullMessage(for: error).dropFirst("Error: ".count + message.count)
            report = ErrorReport(usage: message, explanation: String(explanation))
        }
        StandardError.write(report.text(asJSON: wantsJSON(arguments)))
        return report.status
    }

    /// Help, the version, or a completion script: what the parser answers by itself.
    private static func printHelp(_ text: String) -> Int32 {
        var output = StandardOutput()
        do throws(LarderError) {
            try output.write(text + "\n")
            try output.flush()
            return ExitStatus.done.rawValue
        } catch {
            StandardError.write(ErrorReport(error).text(asJSON: false))
            return ExitStatus(error.code).rawValue
        }
    }

    /// Read from the bare arguments, for the parser may be what failed.
    private static func wantsJSON(_ arguments: [String]) -> Bool {
        let forms = zip(arguments, arguments.dropFirst()).filter { $0.0 == "--output" }.map(\.1)
        let joined = arguments.filter { $0.hasPrefix("--output=") }.map { $0.dropFirst(9) }
        let given = forms.last ?? joined.last.map { String($0) }
        return given.flatMap(OutputFormat.init(rawValue:))?.isJSON ?? false
    }
}
