import ArgumentParser
import Glibc
import LarderModel
import LarderServer
import LarderStore
import Logging
import ServiceLifecycle
import UnixSignals

/// `larderd`: opens a store, listens, and serves it until a signal or idleness ends it.
///
/// It only puts the store and the server together; neither knows the other. What it has to say it
/// says on standard error: log lines while it runs, and an error when it cannot.
@main
enum Larderd {
    static func main() async {
        Process.prepare()
        let options: DaemonCommand
        do {
            options = try DaemonCommand.parse()
        } catch {
            // Help and the version are asked for, and go to standard output.
            if DaemonCommand.exitCode(for: error) == .success {
                DaemonCommand.exit(withError: error)
            }
            Process.say("error[USAGE]: \(DaemonCommand.message(for: error))")
            Process.say("hint: see larderd --help")
            exit(ExitStatus.usage.rawValue)
        }
        do {
            try await serve(options)
            exit(ExitStatus.done.rawValue)
        } catch let error as UsageError {
            Process.say("error[USAGE]: \(error.message)")
            exit(ExitStatus.usage.rawValue)
        } catch let error as LarderError {
            Process.say(error.description)
            exit(ExitStatus(error.code).rawValue)
        } catch {
            Process.say("error[FAILED]: \(error)")
            exit(ExitStatus.failed.rawValue)
        }
    }

    private static func serve(_ options: DaemonCommand) async throws {
        let logger = Self.logger(options.logLevel)
        let notification = Notification()
        let sockets = try Activation.takeListeningSockets()
        let place = try sockets.isEmpty ? SocketPlace.path(for: options) : nil
        if !sockets.isEmpty, options.socket != nil {
            throw UsageError(message: "--socket is given, but a socket was inherited")
        }
        let store = try open(options, notification)
        let listening =
            try place.map { [try ListeningSocket(path: $0, mode: options.mode)] } ?? sockets
        var serverOptions = Server.Options(name: "larderd \(DaemonCommand.version)")
        serverOptions.limits = options.limits
        serverOptions.spoolFolder = store.folder
        serverOptions.idleTimeMax = options.idleExit.map { .seconds($0) }
        let server = try Server(
            backend: store, listeningSockets: listening, options: serverOptions,
            notification: notification,
            logger: logger)
        try await run(server, logger)
    }

    /// A log that was left behind may take long to recover; the manager is asked for patience.
    private static let openTimeMax: Duration = .seconds(300)

    private static func open(
        _ options: DaemonCommand, _ notification: Notification
    ) throws(LarderError) -> Store {
        let schema = try options.schema.map { (path) throws(LarderError) in
            try SchemaDocument.read(path)
        }
        guard let path = options.store else {
            guard let schema else { preconditionFailure("the options were validated") }
            return try Store.inMemory(schema: schema)
        }
        notification.status("opening the store")
        notification.extendTime(by: openTimeMax)
        return try Store.open(
            path: path, schema: schema,
            options: StoreOptions(
                synchronous: options.synchronous, isReadOnly: options.readOnly))
    }

    private static func run(_ server: Server, _ logger: Logger) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: server, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm], logger: quiet))
        let interrupts = await UnixSignalsSequence(trapping: .sigint)
        let watch = Task { await stop(group, at: interrupts, logger) }
        defer { watch.cancel() }
        try await group.run()
    }

    /// Stops in order at the first SIGINT, and does not wait for that at the second.
    private static func stop(
        _ group: ServiceGroup, at interrupts: UnixSignalsSequence, _ logger: Logger
    ) async {
        var isStopping = false
        for await _ in interrupts {
            if isStopping { _exit(ExitStatus.interrupted.rawValue) }
            isStopping = true
            logger.notice("stopping: answering what was received")
            await group.triggerGracefulShutdown()
        }
    }

    private static func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "larderd") { _ in LineLogHandler(place: .standardError) }
        logger.logLevel = level
        return logger
    }
}

/// Options that do not fit what the process was started with.
struct UsageError: Error {
    let message: String
}
