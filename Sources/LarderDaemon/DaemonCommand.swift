import ArgumentParser
import LarderModel
import LarderServer
import LarderStore
import Logging

/// The options of `larderd`, and what of them does not fit together.
struct DaemonCommand: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "larderd",
        abstract: "Keeps the objects of one store and serves them over a Unix socket.",
        discussion: """
            EXAMPLES:
              larderd --store school.store --schema school.json
              larderd --store school.store --socket /run/larder/school.sock --mode 0660
              larderd --in-memory --schema school.json --socket /tmp/school.sock

            Without --socket it listens at $RUNTIME_DIRECTORY/NAME.sock, \
            $XDG_RUNTIME_DIR/larder/NAME.sock, or, for the superuser, /run/larder/NAME.sock, where \
            NAME is the store file's without its ending. \
            Under socket activation (LISTEN_FDS) it serves the socket that it inherits. \
            SIGTERM and SIGINT end it in order; a second SIGINT ends it at once.
            """,
        version: version)

    @Option(
        help: ArgumentHelp(
            "The store's file; created if it is missing and a schema is given.",
            valueName: "file"))
    var store: String?

    @Flag(help: "Keep the store in memory; it ends with the server.")
    var inMemory = false

    @Option(
        help: ArgumentHelp(
            "The schema file. An existing store may be served without it.", valueName: "file"))
    var schema: String?

    @Option(help: ArgumentHelp("Where to listen.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp("The permissions of the socket, in octal.", valueName: "mode"),
        transform: DaemonCommand.mode)
    var mode: UInt32 = 0o600

    @Flag(help: "Refuse all changes.")
    var readOnly = false

    @Option(
        help: """
            When a save is answered: full, once it is on disk; normal, once the system has it, so \
            that a loss of power may take the last saves.
            """)
    var synchronous: StoreOptions.Synchronous = .full

    @Option(
        help: ArgumentHelp("End after so long without a connection.", valueName: "seconds"))
    var idleExit: Int?

    @Option(
        help: ArgumentHelp(
            "Connections at once; never more than the descriptors allow.", valueName: "number"))
    var maxConnections = ServerLimits().connectionsMax

    @Option(help: ArgumentHelp("Connections at once for one user.", valueName: "number"))
    var maxConnectionsPerUser = ServerLimits().connectionsPerUserMax

    @Option(
        help: ArgumentHelp(
            "The longest that a query may take, with its snapshot.", valueName: "seconds"))
    var queryTimeout = 30

    @Option(
        help: ArgumentHelp(
            "What rows may take on the disk until the last of their transaction have come.",
            valueName: "MiB"))
    var maxSpool = ServerLimits().spoolBytesMax >> 20

    @Option(
        help: ArgumentHelp(
            "How much to log: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "level"),
        transform: DaemonCommand.logLevel)
    var logLevel: Logger.Level = .notice

    func validate() throws {
        if (store == nil) == !inMemory {
            throw ValidationError("Give either --store FILE or --in-memory.")
        }
        if inMemory {
            if schema == nil { throw ValidationError("--in-memory needs --schema FILE.") }
            if readOnly { throw ValidationError("--in-memory and --read-only exclude each other.") }
        }
        for (name, value) in [
            ("--idle-exit", idleExit ?? 1), ("--max-connections", maxConnections),
            ("--max-connections-per-user", maxConnectionsPerUser),
            ("--query-timeout", queryTimeout), ("--max-spool", maxSpool),
        ] where !(1...Self.numberMax).contains(value) {
            throw ValidationError("\(name) must be a number from 1 to \(Self.numberMax).")
        }
    }

    private static let numberMax = 1_000_000

    private static func mode(_ text: String) throws -> UInt32 {
        guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
            throw ValidationError(
                "The mode must be octal, from 0600 to 0777, and let the owner read and write.")
        }
        return mode
    }

    private static func logLevel(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError("There is no such level.")
        }
        return level
    }

    /// The server's limits with what the options say of them.
    var limits: ServerLimits {
        var limits = ServerLimits()
        limits.connectionsMax = maxConnections
        limits.connectionsPerUserMax = maxConnectionsPerUser
        limits.readTimeMax = .seconds(queryTimeout)
        limits.spoolBytesMax = maxSpool << 20
        return limits
    }
}

extension StoreOptions.Synchronous: ExpressibleByArgument {}
