import ArgumentParser
import LarderModel
import LarderPrograms
import LarderServer
import LarderStore
import Logging

/// The options of `larderd` and the checks of their combinations.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larderd",
        abstract: "Serve a Larder object store over a Unix socket.",
        discussion: """
            EXAMPLES:
              larderd --store school.store --schema school.json
              larderd --store school.store --socket /run/larder/school.sock --group students
              larderd --in-memory --schema school.json --socket /tmp/school.sock
              larderd --config /etc/larder/school.toml --check-config

            Without --socket, the server listens at the first of these that applies: \
            $RUNTIME_DIRECTORY/NAME.sock, $XDG_RUNTIME_DIR/larder/NAME.sock, or, for root, \
            /run/larder/NAME.sock. NAME is the name of the store file without its extension. \
            With socket activation (LISTEN_FDS), the server uses the inherited socket.

            Each option is also a key of the file of --config, such as query-timeout = 30, and an \
            environment variable, such as LARDERD_QUERY_TIMEOUT. An option weighs more than a \
            variable, and that more than the file.

            SIGTERM and SIGINT shut the server down gracefully; a second SIGINT stops it \
            immediately.
            """,
        version: Version.text(
            of: "larderd", protocolVersion: Server.protocolVersion,
            storeFormat: StoreFormat.version, databaseVersion: StoreFormat.databaseVersion))

    @Option(
        help: ArgumentHelp(
            "Configuration file; or a name, for NAME.toml in $XDG_CONFIG_HOME/larder or "
                + "/etc/larder.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var config: String?

    @Flag(help: "Check the configuration, the schema and the policy, and exit.")
    var checkConfig = false

    @Flag(help: "Print the configuration, and where each value comes from, and exit.")
    var printConfig = false

    @Option(
        help: ArgumentHelp(
            "Store file, or postgresql://HOST/DATABASE?schema=NAME. Created if it does not exist "
                + "and --schema is given.", valueName: "file"))
    var store: String?

    @Flag(help: "Keep the store in memory only. All data is lost when the server exits.")
    var inMemory = false

    @Option(
        help: ArgumentHelp(
            "Schema file. Required to create a store; optional for an existing one.",
            valueName: "file"))
    var schema: String?

    @Flag(
        help: """
            If the store has another schema than --schema, change it to that one before serving. \
            Without this flag, the server does not start then.
            """)
    var migrate = false

    @Option(
        help: ArgumentHelp(
            "Path of a socket to listen on. It may be given several times. With :ROLE at its end, "
                + "everybody who connects there has this role of the policy; the role `read` "
                + "exists without a policy.", valueName: "path"))
    var socket: [String] = []

    @Option(
        help: ArgumentHelp(
            "Policy file: who may do what. SIGHUP reads it again. Default: everybody who can "
                + "connect to the socket may do everything.", valueName: "file"))
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Permissions of the socket, in octal. Default: 0600, or 0660 with --group.",
            valueName: "mode"),
        transform: DaemonCommand.mode)
    var mode: UInt32?

    @Option(
        help: ArgumentHelp(
            "Group of the socket, whose members may connect: a name or a number. Default: the "
                + "group of the process.", valueName: "group"))
    var group: String?

    @Option(
        help: ArgumentHelp(
            "Path of a socket with the metrics for Prometheus: HTTP, GET /metrics. It has the "
                + "permissions and the group of the other sockets. Default: none.",
            valueName: "path"))
    var metricsSocket: String?

    @Flag(help: "Reject all changes.")
    var readOnly = false

    @Option(
        help: """
            Durability of an acknowledged save. full: survives power loss; normal: survives a \
            crash of larderd, but the latest saves may be lost on power failure.
            """)
    var synchronous: StoreOptions.Synchronous = .full

    @Option(
        help: ArgumentHelp(
            "Exit after this time without a connection. Default: never.", valueName: "seconds"))
    var idleExit: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum number of connections. The limit on open files may reduce it.",
            valueName: "number"))
    var maxConnections = ServerLimits().connections.total

    @Option(help: ArgumentHelp("Maximum number of connections per user.", valueName: "number"))
    var maxConnectionsPerUser = 256

    @Option(
        help: ArgumentHelp(
            "Number of threads that serve connections, 1 to \(DaemonCommand.eventLoopsMax). "
                + "Default: one for each processor that the process may use.",
            valueName: "number"))
    var eventLoops: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum duration of a query, including its stream of results.", valueName: "seconds"))
    var queryTimeout = 30

    @Option(
        help: ArgumentHelp(
            "Maximum duration of a migration in stages, while others wait.", valueName: "seconds"))
    var migrationTimeout = 3_600

    @Option(
        help: ArgumentHelp(
            "End a migration in stages whose client sends nothing for this time.",
            valueName: "seconds"))
    var migrationIdleTimeout = 30

    @Option(
        help: ArgumentHelp(
            "Group whose members may migrate the store, besides root, the owner of the store file "
                + "and the user of larderd. A name or a number. Default: none.",
            valueName: "group"))
    var migrationGroup: String?

    @Option(
        help: ArgumentHelp(
            "Maximum size of an object, 16 to 953. A reply with a larger object fails.",
            valueName: "MiB"))
    var maxObject = ServerLimits().objectBytesMax >> 20

    @Option(
        help: ArgumentHelp(
            "Maximum disk space for unfinished atomic imports and saves in parts.",
            valueName: "MiB"))
    var maxSpool = ServerLimits().spoolBytes.total >> 20

    @Option(
        help: ArgumentHelp(
            "Size of the write-ahead log, at least 32, at which long reads that it is kept for end "
                + "with an error.",
            valueName: "MiB"))
    var maxLog = ServerLimits().logBytesMax >> 20

    @Option(
        help: ArgumentHelp(
            "Maximum memory of SQLite: page caches, statements, sorting. A request that needs more "
                + "fails.",
            valueName: "MiB"))
    var maxDatabaseMemory = 512

    @Option(
        help: ArgumentHelp(
            "Maximum age of transactions in the history. Default: unlimited.", valueName: "days"))
    var historyAge: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum number of transactions in the history. Default: unlimited.",
            valueName: "number"))
    var historyCount: Int64?

    @Option(
        help: ArgumentHelp(
            "Folder to archive every commit to, so that `larder restore --archive` can restore "
                + "any earlier state. It must exist.", valueName: "folder"))
    var archive: String?

    @Option(
        help: ArgumentHelp(
            "Maximum time until a commit is archived. Default: 10.", valueName: "seconds"))
    var archiveInterval: Int?

    @Option(
        help: ArgumentHelp(
            "Keep all archived states that are at most this old. Default: unlimited.",
            valueName: "days"))
    var archiveKeepFor: Int?

    @Option(
        help: ArgumentHelp(
            "Delete the oldest archived states when the archive is larger than this. At least "
                + "the last base copy and what follows it are kept. Default: unlimited.",
            valueName: "MiB"))
    var archiveKeepBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Shell command that copies a finished file of the archive elsewhere: $1 is its path, "
                + "$2 its name. It is repeated until it exits with status 0.",
            valueName: "command"))
    var archiveCommand: String?

    @Option(
        help: ArgumentHelp(
            "Minimum level of logged messages: \(DaemonCommand.logLevels). Default: notice.",
            valueName: "level"),
        transform: DaemonCommand.logLevel)
    var logLevel: Logger.Level = .notice

    @Option(
        help: ArgumentHelp(
            "Log each query that takes this time or longer, with its plan. Queries of a few "
                + "milliseconds are never logged. Default: none.", valueName: "milliseconds"))
    var logSlow: Int?

    @Option(
        help: ArgumentHelp(
            "Format of the log: text, or json for one object per line.", valueName: "format"))
    var logFormat: LineLogHandler.Format = .text

    func validate() throws {
        if (store == nil) == !inMemory {
            throw ValidationError("exactly one of --store FILE and --in-memory is required")
        }
        if inMemory {
            if schema == nil { throw ValidationError("--in-memory requires --schema FILE") }
            if readOnly { throw ValidationError("--in-memory and --read-only cannot be combined") }
        }
        if case .database = location {
            let given = [
                ("--archive", archive != nil), ("--migrate", migrate), ("--read-only", readOnly),
                ("--synchronous", synchronous != .full),
            ].filter(\.1)
            if let (name, _) = given.first {
                throw ValidationError("\(name) requires a store in a file")
            }
        }
        if group != nil, let mode, mode & 0o060 != 0o060 {
            throw ValidationError("--group requires a --mode that lets the group read and write")
        }
        if migrate, schema == nil || store == nil || readOnly {
            throw ValidationError("--migrate requires --store and --schema, without --read-only")
        }
        for (name, value) in [
            ("--idle-exit", idleExit ?? 1), ("--max-connections", maxConnections),
            ("--max-connections-per-user", maxConnectionsPerUser),
            ("--query-timeout", queryTimeout), ("--max-spool", maxSpool),
            ("--migration-timeout", migrationTimeout),
            ("--migration-idle-timeout", migrationIdleTimeout),
            ("--max-database-memory", maxDatabaseMemory),
            ("--history-age", historyAge ?? 1), ("--archive-interval", archiveInterval ?? 1),
            ("--archive-keep-for", archiveKeepFor ?? 1),
            ("--archive-keep-bytes", archiveKeepBytes ?? 1), ("--log-slow", logSlow ?? 1),
        ] where !(1...Self.numberMax).contains(value) {
            throw ValidationError("\(name) must be a number from 1 to \(Self.numberMax)")
        }
        guard Self.objectMebibytes.contains(maxObject) else {
            throw ValidationError(
                "--max-object must be a number from \(Self.objectMebibytes.lowerBound) to "
                    + "\(Self.objectMebibytes.upperBound)")
        }
        guard Self.logMebibytes.contains(maxLog) else {
            throw ValidationError(
                "--max-log must be a number from \(Self.logMebibytes.lowerBound) to "
                    + "\(Self.logMebibytes.upperBound)")
        }
        if let eventLoops, !(1...Self.eventLoopsMax).contains(eventLoops) {
            throw ValidationError(
                "--event-loops must be a number from 1 to \(Self.eventLoopsMax)")
        }
        if let historyCount, historyCount < 1 {
            throw ValidationError("--history-count must be a number from 1")
        }
        try validateArchive()
    }

    private func validateArchive() throws {
        guard archive == nil else {
            if readOnly || inMemory {
                let name = readOnly ? "--read-only" : "--in-memory"
                throw ValidationError("--archive and \(name) cannot be combined")
            }
            return
        }
        let given = [
            ("--archive-interval", archiveInterval != nil),
            ("--archive-keep-for", archiveKeepFor != nil),
            ("--archive-keep-bytes", archiveKeepBytes != nil),
            ("--archive-command", archiveCommand != nil),
        ].filter(\.1)
        if let (name, _) = given.first { throw ValidationError("\(name) requires --archive") }
    }

    private static let numberMax = 1_000_000
    /// A shorter log does not have to start from its beginning.
    private static let logMebibytes = 32...numberMax
    private static let archiveIntervalDefault = 10
    private static let eventLoopsMax = 256
    private static let secondsPerDay = 86_400.0

    private static func mode(_ text: String) throws -> UInt32 {
        guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
            throw ValidationError(
                "the mode must be octal, at most 0777, and let the owner read and write")
        }
        return mode
    }

    private static let logLevels =
        Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")

    private static func logLevel(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError("unknown level; valid levels are \(logLevels)")
        }
        return level
    }

    var location: StoreLocation { store.map(StoreLocation.init) ?? .memory }

    /// nil if the store is not archived.
    var archiveOptions: ArchiveOptions? {
        archive.map { folder in
            ArchiveOptions(
                folder: folder, interval: .seconds(archiveInterval ?? Self.archiveIntervalDefault),
                ageMax: archiveKeepFor.map { .seconds(Double($0) * Self.secondsPerDay) },
                bytesMax: archiveKeepBytes.map { Int64($0) << 20 }, command: archiveCommand)
        }
    }

    private static let objectMebibytes =
        Limits.frameBytesMax >> 20...Limits.objectBytesMax >> 20

    /// The server's default limits, changed by the options.
    var limits: ServerLimits {
        var limits = ServerLimits(
            eventLoopCount: eventLoops ?? min(Processors.available, Self.eventLoopsMax))
        limits.connections = SharedLimit(
            maxConnections,
            userShare: min(1, Double(maxConnectionsPerUser) / Double(maxConnections)))
        limits.readTimeMax = .seconds(queryTimeout)
        limits.slowReadLogTimeMin = logSlow.map { .milliseconds($0) }
        limits.migrationTimeMax = .seconds(migrationTimeout)
        limits.migrationSilenceMax = .seconds(migrationIdleTimeout)
        limits.spoolBytes.total = maxSpool << 20
        limits.logBytesMax = maxLog << 20
        limits.acceptObjects(ofBytes: maxObject << 20)
        limits.historyRetention = HistoryRetention(
            ageMax: historyAge.map { Double($0) * Self.secondsPerDay }, countMax: historyCount)
        return limits
    }
}

extension StoreOptions.Synchronous: ExpressibleByArgument {}
extension LineLogHandler.Format: ExpressibleByArgument {}
