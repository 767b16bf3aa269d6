import ArgumentParser
import Glibc
import LarderModel

/// What every command takes: which store, how results look, how long to wait.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The server's socket; LARDER_SOCKET if not given.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("A store's file, used without a server.", valueName: "file"),
        completion: .file())
    var store: String?

    @Option(
        help: ArgumentHelp(
            "With --store: the schema file, to create a store; an existing one holds its own.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var schema: String?

    @Option(help: "How results are printed; table on a terminal, plain when piped.")
    var output: OutputFormat?

    @Option(
        help: ArgumentHelp(
            "How long to wait for an answer: 500ms, 10s, 2m. 30s if not given.", valueName: "time"))
    var timeout: TimeLimit?

    mutating func validate() throws {
        if socket != nil && store != nil {
            throw ValidationError("--socket and --store exclude each other")
        }
        if schema != nil && store == nil { throw ValidationError("--schema needs --store") }
    }

    var format: OutputFormat { output ?? .ofStandardOutput }

    /// The socket to connect to, where no file is given.
    var socketPath: String? {
        if let socket { return socket }
        guard let path = getenv("LARDER_SOCKET") else { return nil }
        let text = String(cString: path)
        return text.isEmpty ? nil : text
    }
}
