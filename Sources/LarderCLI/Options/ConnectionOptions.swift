import ArgumentParser
import LarderModel

/// The store that a command uses, and how long it waits for a reply.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Socket of the server. Default: LARDER_SOCKET, or the only one in the runtime folder.",
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
            """
            Maximum time of a whole result: 500ms, 10s, 2m. Default: LARDER_TIMEOUT, or 30s, for \
            each of its parts.
            """, valueName: "time"))
    var timeout: TimeLimit?

    @Option(
        help: ArgumentHelp(
            "Id of the requests for the server's log, such as a W3C traceparent. Default: "
                + "TRACEPARENT, or none.", valueName: "id"))
    var traceparent: String?

    /// The id of the requests for the server's log; empty for none.
    var trace: String { traceparent ?? Environment.value(Environment.trace) ?? "" }

    mutating func validate() throws {
        do throws(LarderError) { try RequestTrace.check(trace.utf8) } catch {
            let name = traceparent == nil ? Environment.trace : "--traceparent"
            throw ValidationError("\(name): \(error.message)")
        }
        if socket != nil && store != nil {
            throw ValidationError("--socket and --store cannot be combined")
        }
        if timeout == nil, preferredTimeout == nil, Environment.value(Environment.timeout) != nil {
            throw ValidationError("LARDER_TIMEOUT must be a time such as 500ms, 10s or 2m")
        }
    }

    /// The time limit in the environment, for single replies.
    private var preferredTimeout: TimeLimit? {
        Environment.value(Environment.timeout).flatMap(TimeLimit.init(argument:))
    }

    private static let timeLimitDefault = Duration.seconds(30)

    /// The maximum time to wait for each reply.
    var timeLimit: Duration { (timeout ?? preferredTimeout)?.duration ?? Self.timeLimitDefault }

    /// The socket to connect to, if no file is given.
    ///
    /// - Throws: A usage error if there is none, or if it is not clear which.
    func socketPath() throws -> String {
        if let path = try socket ?? Environment.value(Environment.socket) ?? DefaultSocket.path() {
            return path
        }
        throw ValidationError(
            "no store given; pass --socket PATH or --store FILE, or set LARDER_SOCKET")
    }
}
