import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms
import LarderServer
import LarderStore

/// `larder`: queries and edits a store from the shell.
///
/// Each command is a file in `Commands/`, with its options in `Options/`, and works on a
/// `StoreClient`. `Connection/` connects the client to a server's socket, or to a server in this
/// process for a file. `Input/` reads files and arguments, `Related/` finds the objects that they
/// name, `Import/` sends many objects, `Infer/` proposes schemas for files, `Dump/` writes and
/// loads whole stores, `History/` finds what has changed an object and what undoes it, `Output/`
/// prints results, `SchemaFormats/` schemas, and `Errors/` errors, and chooses the exit status.
/// `Completion/` completes arguments, and `Shell/` executes the lines that a person types.
@main
struct LarderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract: "Query and edit a Larder object store.",
        discussion: """
            EXAMPLES:
              export LARDER_SOCKET=/run/larder/school.sock
              larder insert Student name=Ann birthOfYear=2001
              larder fetch Student --where 'birthOfYear >= 2000' --sort name
              larder aggregate Student --group-by birthOfYear count

            Every command connects to a server, given by --socket PATH or LARDER_SOCKET, or opens \
            a store file without a server, given by --store FILE. Without these, it connects to \
            the only server with a socket in $XDG_RUNTIME_DIR/larder or /run/larder. \
            LARDER_OUTPUT, LARDER_TIMEOUT and LARDER_UTC replace --output, --timeout and --utc.

            To enable shell completion, see larder --generate-completion-script bash (or zsh, fish).
            """,
        version: Version.text(
            of: "larder", protocolVersion: Server.protocolVersion,
            storeFormat: StoreFormat.version, databaseVersion: StoreFormat.databaseVersion),
        groupedSubcommands: [
            CommandGroup(
                name: "Object",
                subcommands: [
                    InsertCommand.self, GetCommand.self, UpdateCommand.self, DeleteCommand.self,
                    SaveCommand.self, EditCommand.self, IdentifierCommand.self,
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
                    ImportCommand.self, ExportCommand.self, HistoryCommand.self,
                    RevertCommand.self, WatchCommand.self, SchemaCommand.self, PolicyCommand.self,
                    StatsCommand.self, MetricsCommand.self, TopCommand.self,
                    CancelCommand.self, BrowseCommand.self, CheckCommand.self, PingCommand.self,
                    ShellCommand.self,
                    DumpCommand.self, LoadCommand.self,
                    BackupCommand.self, RestoreCommand.self, ArchiveCommand.self,
                    NewIdentityCommand.self, MigrateCommand.self, ServiceCommand.self,
                ]),
        ])

    static func main() {
        StandardStreams.prepare()
        HelpWidth.prepare()
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            // A completion script passes a first argument with three dashes and prints no errors.
            if arguments.first?.hasPrefix("---") != true {
                Environment.warnAboutUnknownVariables()
            }
            try ProgramArguments.check()
            var command = try parse(arguments)
            if (command as? any PagedCommand)?.usesPager == true { StandardOutput.beginPaging() }
            try command.run()
            try StandardOutput.endPaging()
        } catch {
            try? StandardOutput.endPaging()
            Glibc.exit(report(error))
        }
    }

    /// The command of arguments, which has checked its own.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        try checkCommand(arguments)
        return try parseAsRoot(arguments)
    }

    /// Rejects the name of a command that does not exist. ArgumentParser would report the first
    /// option that follows it.
    private static func checkCommand(_ arguments: [String]) throws {
        if let name = arguments.first, let hint = UsageHint.selection(arguments) {
            throw UsageFailure(message: noCommand(name), hint: EscapedText.escaped(hint))
        }
        try check(arguments.first, among: commands, isKnown: ["help"])
        let command = commands.first { $0.configuration.commandName == arguments.first }
        guard let configuration = command?.configuration, configuration.defaultSubcommand == nil,
            !configuration.subcommands.isEmpty
        else { return }
        try check(arguments.dropFirst().first, among: configuration.subcommands, isKnown: [])
    }

    private static func check(
        _ name: String?, among commands: [any ParsableCommand.Type], isKnown others: [String]
    ) throws {
        let known = commands.compactMap { $0.configuration.commandName }
        guard let name, !name.hasPrefix("-"), !(known + others).contains(name) else { return }
        throw UsageFailure(
            message: noCommand(name),
            hint: UsageHint.command(name, among: known)
                ?? "the commands are \(known.joined(separator: ", "))")
    }

    private static func noCommand(_ name: String) -> String {
        "there is no command \"\(EscapedText.escaped(String(name.prefix(40))))\""
    }

    /// Prints the error, or the help that ArgumentParser throws, and returns the exit status.
    static func report(_ error: any Error) -> Int32 {
        let report: ErrorReport
        switch error {
        case let error as LarderError: report = ErrorReport(error)
        case let failure as PredicateFailure:
            report = ErrorReport(failure.error, format: failure.format)
        case let error as UsageFailure:
            report = ErrorReport(usage: error.message, explanation: error.hint)
        case _ where exitCode(for: error) == .success:
            return printHelp(fullMessage(for: error))
        default:
            let message = message(for: error)
            let explanation = fullMessage(for: error).dropFirst("Error: ".count + message.count)
            report = ErrorReport(usage: message, explanation: String(explanation))
                .hinting(Array(CommandLine.arguments))
        }
        report.print(asJSON: wantsJSON)
        return report.status
    }

    /// Prints help, the version, or a completion script.
    private static func printHelp(_ text: String) -> Int32 {
        var output = StandardOutput()
        do throws(LarderError) {
            try output.write(CompletionScript.adapted(text) + "\n")
            try output.flush()
            return ExitStatus.success.rawValue
        } catch {
            ErrorReport(error).print(asJSON: false)
            return ExitStatus(error.code).rawValue
        }
    }

    /// Whether errors and warnings are printed as JSON. Reads the arguments directly, because the
    /// parser may have failed.
    static var wantsJSON: Bool {
        let arguments = CommandLine.arguments.dropFirst()
        let separate = zip(arguments, arguments.dropFirst())
            .filter { $0.0 == "--output" }.map(\.1)
        let joined = arguments.filter { $0.hasPrefix("--output=") }.map { $0.dropFirst(9) }
        let given =
            separate.last ?? joined.last.map { String($0) } ?? Environment.value(Environment.output)
        return given.flatMap(OutputFormat.init(rawValue:))?.isJSON ?? false
    }
}
