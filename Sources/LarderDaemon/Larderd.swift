import ArgumentParser
import FoundationEssentials
import Glibc
import LarderModel
import LarderPrograms
import LarderQuery
import LarderServer
import LarderStore
import Logging
import ServiceLifecycle
import UnixSignals

/// `larderd`: opens a store, listens on a socket, and serves until a signal or the idle timeout.
///
/// This file connects the store and the server, which are independent of each other. All output
/// goes to standard error: log lines while the server runs, and an error if it cannot start.
@main
enum Larderd {
    static func main() async {
        StandardStreams.prepare()
        HelpWidth.prepare()
        for number in ignoredSignals { signal(number, SIG_IGN) }
        ProcessLimits.raiseDescriptorLimit()
        ProcessMemory.boundKeptMemory()
        let configuration = readConfiguration()
        let options: DaemonCommand
        do {
            options = try DaemonCommand.parse(configuration.arguments)
        } catch {
            // --help and --version: ArgumentParser prints them to standard output.
            if DaemonCommand.exitCode(for: error) == .success {
                DaemonCommand.exit(withError: error)
            }
            let message = DaemonCommand.message(for: error)
            let lines =
                ["error[USAGE]: \(message)"] + configuration.sources(in: message).map { "  \($0)" }
                + ["hint: run larderd --help"]
            fail(lines.joined(separator: "\n"), ExitStatus.usage)
        }
        if options.printConfig {
            guard StandardStreams.write(configuration.text, to: STDOUT_FILENO) else {
                fail(
                    "error[STORAGE_FAILED]: cannot write to standard output",
                    ExitStatus.inputOutputError)
            }
            exit(ExitStatus.success)
        }
        do {
            if options.checkConfig { try check(options) } else { try await serve(options) }
            exit(ExitStatus.success)
        } catch let error as UsageError {
            fail("error[USAGE]: \(error.message)", ExitStatus.usage, options.logFormat)
        } catch let error as LarderError {
            fail(error.description, ExitStatus.startup(error.code), options.logFormat)
        } catch {
            fail("error[FAILED]: \(error)", ExitStatus.failure, options.logFormat)
        }
    }

    /// Signals that would end the process at once, without a shutdown, and that mean nothing here:
    /// SIGHUP, which comes with the end of a terminal or asks to read a configuration again;
    /// SIGUSR1 and SIGUSR2, which tools send to programs that reopen their logs or report; and
    /// those of timers and descriptors, of which the server has none.
    private static let ignoredSignals = [
        SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
    ]

    private static func fail(
        _ message: String, _ status: Int32, _ format: LineLogHandler.Format = .text
    ) -> Never {
        switch format {
        case .text: StandardError.write(message + "\n")
        case .json: logger(.critical, format).critical("\(message)")
        }
        exit(status)
    }

    private static func readConfiguration() -> Configuration {
        do throws(LarderError) { try ProgramArguments.check() } catch {
            fail(error.description, ExitStatus.usage)
        }
        let environment = ProcessInfo.processInfo.environment
        for warning in Configuration.warnings(about: environment) {
            StandardError.write("warning: \(warning)\n")
        }
        do {
            return try Configuration(
                options: Array(CommandLine.arguments.dropFirst()), environment: environment)
        } catch let error as LarderError {
            fail(error.description, ExitStatus.dataError)
        } catch let error as UsageError {
            fail("error[USAGE]: \(error.message)\nhint: run larderd --help", ExitStatus.usage)
        } catch {
            preconditionFailure("every error above has one of two types")
        }
    }

    /// Checks what can be checked without serving the store.
    private static func check(_ options: DaemonCommand) throws {
        _ = try options.socketGroup()
        _ = try options.migrationRights()
        let given = try options.schema.map { (path) throws(LarderError) in
            try StoreOpening.readSchema(at: path)
        }
        guard options.policy != nil else { return }
        if let given {
            _ = try options.readPolicy(for: given)
        } else if case .file(let path) = options.location {
            let store = try Store.open(
                path: path, schema: nil, options: StoreOptions(isReadOnly: true))
            _ = try options.readPolicy(for: store.storeDescription.schema)
        }
    }

    private static func serve(_ options: DaemonCommand) async throws {
        let logger = Self.logger(options.logLevel, options.logFormat)
        let notification = Notification()
        let sockets = try Activation.takeListeningSockets()
        let paths = try sockets.isEmpty ? SocketPath.paths(for: options) : []
        if !sockets.isEmpty, !options.socket.isEmpty {
            throw UsageError(
                message: "--socket cannot be used with socket activation (LISTEN_FDS)")
        }
        if !sockets.isEmpty, options.group != nil {
            throw UsageError(
                message: "--group cannot be used with socket activation (LISTEN_FDS); write "
                    + "SocketGroup= in the socket unit")
        }
        let group = try options.socketGroup()
        let ownerFile = try options.location.path.map { (path) throws(LarderError) in
            try OwnerFile.claimIfPossible(path)
        }
        guard DatabaseMemory.setLimit(bytes: options.maxDatabaseMemory << 20) else {
            throw UsageError(message: "SQLite cannot be configured in this process")
        }
        let store = try StoreOpening(options: options, notification: notification, logger: logger)
            .open()
        if let warning = store.warning { logger.warning("\(warning)") }
        let policy = try options.readPolicy(for: store.backend.storeDescription.schema)
        for case let role? in paths.map(\.role) where (policy ?? Policy()).role(named: role) == nil
        {
            throw UsageError(message: "--socket: there is no role \(role) in the policy")
        }
        // A folder that an option names is never created: its name may be mistyped.
        if options.socket.isEmpty {
            for socket in paths { try ListeningSocket.makeFolder(of: socket.path) }
        }
        let bound = try paths.map { (socket) throws(LarderError) in
            try ListeningSocket(
                path: socket.path, mode: options.socketMode, group: group, role: socket.role)
        }
        let listening = bound.isEmpty ? sockets : bound
        let metricsSocket = try options.metricsSocket.map { (path) throws(LarderError) in
            try ListeningSocket(path: path, mode: options.socketMode, group: group)
        }
        var serverOptions = Server.Options(name: "larderd \(Version.current)")
        serverOptions.limits = options.limits
        serverOptions.memoryReleased = { ProcessMemory.release() }
        serverOptions.spoolFolder = store.folder
        serverOptions.migrationRights = try options.migrationRights()
        serverOptions.policy = AccessPolicy(policy)
        serverOptions.ownerFile = ownerFile ?? nil
        serverOptions.metricsSocket = metricsSocket
        serverOptions.idleTimeMax = options.idleExit.map { .seconds($0) }
        let server = try Server(
            backend: store.backend, listeningSockets: listening, options: serverOptions,
            notification: notification,
            logger: logger)
        try await run(server, options, logger)
    }

    private static func run(
        _ server: Server, _ options: DaemonCommand, _ logger: Logger
    ) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: server, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigquit], logger: quiet))
        let interrupts = await UnixSignalsSequence(trapping: .sigint)
        let watch = Task { await stop(group, at: interrupts, logger) }
        defer { watch.cancel() }
        let reload = try await reloadPolicy(of: server, options, logger)
        defer { reload?.cancel() }
        try await group.run()
    }

    /// Reads the policy again after each SIGHUP. A policy with errors changes nothing.
    ///
    /// - Returns: nil without a policy.
    private static func reloadPolicy(
        of server: Server, _ options: DaemonCommand, _ logger: Logger
    ) async throws -> Task<Void, Never>? {
        guard options.policy != nil else { return nil }
        let signals = await UnixSignalsSequence(trapping: .sighup)
        return Task {
            for await _ in signals {
                do throws(LarderError) {
                    guard let policy = try options.readPolicy(for: server.schema) else { continue }
                    server.setPolicy(policy)
                    logger.notice("the policy was read again")
                } catch {
                    logger.error("the policy stays as it was: \(error.description)")
                }
            }
        }
    }

    /// Shuts down gracefully after the first SIGINT, and exits immediately after the second.
    private static func stop(
        _ group: ServiceGroup, at interrupts: UnixSignalsSequence, _ logger: Logger
    ) async {
        var isStopping = false
        for await _ in interrupts {
            if isStopping { _exit(ExitStatus.interrupted) }
            isStopping = true
            logger.notice("stopping: finishing the requests that were received")
            await group.triggerGracefulShutdown()
        }
    }

    private static func logger(
        _ level: Logger.Level, _ format: LineLogHandler.Format
    ) -> Logger {
        var logger = Logger(label: "larderd") { _ in
            LineLogHandler(format: format, destination: .standardError)
        }
        logger.logLevel = level
        return logger
    }
}

/// Options that conflict with the environment that the process was started in.
struct UsageError: Error {
    let message: String
}
