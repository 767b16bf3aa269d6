import ArgumentParser
import Glibc
import LarderModel

/// The options of every command: the store, the time limit and the output format.
struct GlobalOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    var format: OutputFormat { output ?? .standardOutputDefault }
}

/// The store that a command uses, and how long it waits for a reply.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Socket of the server. Default: LARDER_SOCKET from the environment.",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("Store file to open without a server.", valueName: "file"),
        completion: .file())
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Schema file, with --store. Required to create a store; optional for an existing one.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var schema: String?

    @Option(
        help: ArgumentHelp(
            "Version of the schema to use: the store's, or a former one that it was extended from.",
            valueName: "version"))
    var schemaVersion: String?

    @Option(
        help: ArgumentHelp(
            "Maximum time to wait for a reply, such as 500ms, 10s or 2m. Default: 30s.",
            valueName: "time"))
    var timeout: TimeLimit?

    mutating func validate() throws {
        if socket != nil && store != nil {
            throw ValidationError("--socket and --store cannot be combined")
        }
    }

    /// The socket to connect to, if no file is given.
    var socketPath: String? {
        socket ?? Environment["LARDER_SOCKET"]
    }
}

/// The variables of the environment.
enum Environment {
    /// The text of a variable; nil if it is missing or empty.
    static subscript(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
