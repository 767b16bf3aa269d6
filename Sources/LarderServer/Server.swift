package import CoreMetrics
import LarderModel
import LarderQuery
import LarderWire
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Serves one store to the clients that connect, until it is stopped.
///
/// As a `Service` it listens, reports readiness to the service manager, and stops gracefully with
/// its group. It also serves sockets that are already connected (``serve(connectedSocket:)``), for
/// a program that embeds a server for itself. It uses its store only through `StoreBackend`.
///
/// It runs on three kinds of threads: the event loops (sockets and short reads), the reader pool
/// (long reads), and one writer thread.
package final class Server: Service {
    /// The version of the protocol that the server and its clients use.
    package static var protocolVersion: UInt32 { WireProtocol.version }

    package struct Options: Sendable {
        /// The name and version of the program, for the handshake.
        package var name: String
        /// ``Server/run()`` returns after this time without a connection; nil is never.
        package var idleTimeMax: Duration?
        /// The folder for rows of unfinished atomic insert streams, which can be large. The files
        /// have no names and disappear with the process.
        package var spoolFolder = "/var/tmp"
        package var limits = ServerLimits()
        /// Who may migrate the store, besides root and the user of this process.
        package var migrationRights = MigrationRights()
        /// Who may do what; ``Server/setPolicy(_:)`` replaces it.
        package var policy = AccessPolicy()
        /// Called on any thread when the server has become idle after long reads and has closed
        /// what they used. A program of its own can return free memory to the system then.
        package var memoryReleased: @Sendable () -> Void = {}
        /// Loops of the program, which other servers use too; nil for loops of its own.
        package var eventLoops: EventLoops?
        /// Where other processes find the server by the path of its store; nil for nowhere. The
        /// server takes ownership of it.
        package var ownerFile: OwnerFile?
        /// Where Prometheus reads the metrics; nil for nowhere. The server takes ownership of it.
        package var metricsSocket: ListeningSocket?
        /// The backend of swift-metrics that gets the metrics; nil for none. Default: the one with
        /// which the process was bootstrapped.
        package var metricsFactory: (any MetricsFactory)?

        package init(name: String = "larderd") {
            self.name = name
            let bootstrapped = MetricsSystem.factory
            metricsFactory = bootstrapped is NOOPMetricsHandler ? nil : bootstrapped
        }
    }

    struct State {
        var acceptors: [Acceptor] = []
        /// Passes the metrics to a backend; nil if there is none.
        var publishing: RepeatedTask?
        var isStopping = false
        /// Serves the store; a migration exchanges it.
        var core: ServerCore?
        var isMigrating = false
        /// Succeeds when every exchange of the core and every session up to now has ended, and its
        /// client has the reply; nil if there was none.
        var migrations: EventLoopFuture<Void>?
        /// The session whose working copy is made or served.
        var session: MigrationSession?

        mutating func migrationBegins(endingWith future: EventLoopFuture<Void>) {
            migrations = migrations.map { future.and($0).map { _ in } } ?? future
        }
    }

    let group: MultiThreadedEventLoopGroup
    let loopAssignment: LoopAssignment
    private let listeningSockets: [ListeningSocket]
    private let idle: IdleWatch?
    private let options: Options
    private let migrationTurns: MigrationTurns
    let notification: Notification
    let logger: Logger
    let failures: FailureLog
    let state = Mutex(State())
    private let stopRequests: AsyncStream<Void>
    private let stopRequest: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - listeningSockets: The server takes ownership of them.
    /// - Throws: the error of the store's `makeWriter()`.
    package init(
        backend: any StoreBackend, listeningSockets: [ListeningSocket] = [],
        options: Options = Options(), notification: Notification = Notification(), logger: Logger
    ) throws(LarderError) {
        let isReadOnly = backend.storeDescription.isReadOnly
        let writer = isReadOnly ? nil : try backend.makeWriter()
        let group =
            options.eventLoops?.group
            ?? MultiThreadedEventLoopGroup(numberOfThreads: options.limits.eventLoopCount)
        (stopRequests, stopRequest) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let idle = options.idleTimeMax.map { [stopRequest] time in
            IdleWatch(time: time, eventLoop: group.next()) {
                logger.notice("stopping: there was no connection for \(time)")
                stopRequest.yield()
            }
        }
        self.idle = idle
        self.group = group
        loopAssignment = LoopAssignment(Array(group.makeIterator()))
        self.listeningSockets = listeningSockets
        self.options = options
        migrationTurns = MigrationTurns(limits: options.limits)
        self.notification = notification
        self.logger = logger
        failures = FailureLog(
            logger: logger, eventLoop: group.next(), limits: options.limits)
        let core = makeCore(backend, writer, nil)
        let publishing = options.metricsFactory.map { publishMetrics(with: $0) }
        state.withLock { state in
            state.core = core
            state.publishing = publishing
        }
    }

    /// - Parameter session: The session whose working copy the backend is; nil for the store.
    func makeCore(
        _ backend: any StoreBackend, _ writer: (any StoreWriter)?, _ session: MigrationSession?
    ) -> ServerCore {
        ServerCore(
            backend: backend, writer: writer, group: group, options: options, idle: idle,
            migrations: Migrations(
                backend: backend, session: session, rights: options.migrationRights,
                turns: migrationTurns
            ) { [weak self] in self },
            failures: failures, logger: logger)
    }

    /// The parts that serve the store. A connection belongs to those with which it began.
    var core: ServerCore {
        guard let core = state.withLock({ $0.core }) else {
            preconditionFailure("the core is made when the server is")
        }
        return core
    }

    /// Listens and serves, and stops gracefully when the service group shuts down, the server has
    /// been idle for too long or the task is cancelled.
    package func run() async throws {
        do {
            try listen()
        } catch {
            await stop()
            throw error
        }
        let watchdog = startWatchdog()
        announce()
        idle?.becameIdle()
        await withGracefulShutdownHandler {
            for await _ in stopRequests { break }
        } onGracefulShutdown: {
            self.stopRequest.yield()
        }
        watchdog?.cancel()
        await stop()
    }

    /// Serves one connected Unix socket, such as an end of a socket pair, and takes ownership of
    /// it. It blocks briefly and must not be called on an event loop.
    package func serve(connectedSocket descriptor: Int32) throws(LarderError) {
        try serve(connectedSocket: descriptor, as: nil)
    }

    /// - Parameter credentials: Those of the peer; nil to read them from the socket.
    package func serve(
        connectedSocket descriptor: Int32, as credentials: PeerCredentials?
    ) throws(LarderError) {
        do {
            _ = try channel(of: descriptor, as: credentials).wait()
        } catch {
            throw LarderError(.connectionFailed, "cannot serve the connected socket: \(error)")
        }
    }

    /// Makes a connection of a socket, on the event loop with the fewest.
    private func channel(
        of socket: Int32, as credentials: PeerCredentials? = nil, role: String? = nil
    ) -> EventLoopFuture<any Channel> {
        let (core, loopAssignment) = (core, loopAssignment)
        let (eventLoop, index) = loopAssignment.assign()
        let channel = ClientBootstrap(group: eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: core.writeBufferWaterMark)
            .channelOption(.maxMessagesPerRead, value: Self.readsPerTurn)
            .channelInitializer { core.configure($0, as: credentials, role: role) }
            .withConnectedSocket(socket)
        channel.flatMap(\.closeFuture).whenComplete { _ in loopAssignment.release(index) }
        return channel
    }

    /// Stops gracefully: stops listening, completes the requests that have been received, closes
    /// the connections, and then the writer. Returns when all of this is done; a second call
    /// returns immediately.
    package func stop() async {
        guard let stopping = stopServing() else { return }
        try? await stopping.get()
        if options.eventLoops == nil { try? await group.shutdownGracefully() }
        releaseListeningSockets()
    }

    /// The form of ``stop()`` for a synchronous caller. It must not be called on an event loop.
    package func stopAndWait() {
        guard let stopping = stopServing() else { return }
        try? stopping.wait()
        if options.eventLoops == nil { try? group.syncShutdownGracefully() }
        releaseListeningSockets()
    }

    /// - Returns: nil if the server is already stopping.
    private func stopServing() -> EventLoopFuture<Void>? {
        let acceptors = state.withLock { state -> [Acceptor]? in
            guard !state.isStopping else { return nil }
            state.isStopping = true
            state.publishing?.cancel()
            defer { state.acceptors = [] }
            return state.acceptors
        }
        guard let acceptors else { return nil }
        options.ownerFile?.withdraw()
        notification.stopping()
        notification.extendTime(by: options.limits.stopTimeMax * 2)
        let eventLoop = group.next()
        let interruption = NIODeadline.now() + TimeAmount(options.limits.stopGraceTime)
        // Not only when the core stops, because a migration is awaited before that. Weak, because
        // the store must be released before the end is reported.
        let timer = eventLoop.scheduleTask(deadline: interruption) { [weak self] in
            self?.core.interrupt()
        }
        let closing = acceptors.map { acceptor in
            let closed = eventLoop.makePromise(of: Void.self)
            acceptor.close { closed.succeed() }
            return closed.futureResult
        }
        return EventLoopFuture.andAllComplete(closing, on: eventLoop).flatMap {
            self.endMigrations(on: eventLoop)
        }.flatMap {
            self.core.stop(interruptingAt: interruption, on: eventLoop)
        }.always { _ in timer.cancel() }
    }

    private func releaseListeningSockets() {
        for socket in listeningSockets { socket.release() }
        options.metricsSocket?.release()
        options.ownerFile?.release()
        logger.notice("stopped")
    }

    // MARK: Listening

    /// A connection with long frames reads once, at most 64 KiB, and then the others get a turn.
    private static let readsPerTurn: UInt = 1

    /// Listens, for a program that embeds a server and stops it by ``stopAndWait()``.
    ///
    /// - Throws: `connectionFailed` if a socket cannot listen.
    package func listen() throws(LarderError) {
        for socket in listeningSockets {
            let acceptor: Acceptor
            do throws(SystemError) {
                acceptor = try Acceptor(socket.descriptor, logger: logger) { [self] in
                    serve(acceptedSocket: $0, role: socket.role)
                }
            } catch {
                throw Self.cannotListen(at: socket, error)
            }
            state.withLock { $0.acceptors.append(acceptor) }
        }
        if let socket = options.metricsSocket {
            do throws(SystemError) {
                let acceptor = try acceptMetrics(at: socket)
                state.withLock { $0.acceptors.append(acceptor) }
            } catch {
                throw Self.cannotListen(at: socket, error)
            }
        }
        announceOwner()
    }

    private static func cannotListen(
        at socket: ListeningSocket, _ error: SystemError
    ) -> LarderError {
        LarderError(.connectionFailed, "cannot listen at \(socket.address): \(error.text)")
    }

    private func serve(acceptedSocket descriptor: Int32, role: String?) {
        channel(of: descriptor, role: role).whenFailure { [logger] error in
            logger.debug("a connection has ended at once: \(error)")
        }
    }

    private func announceOwner() {
        guard let path = listeningSockets.lazy.compactMap(\.path).first else { return }
        options.ownerFile?.announce(socket: path, store: core.storeDescription.identifier)
    }

    /// Replaces the policy. Connections end after the requests that they have sent, and their
    /// clients connect again, with the rights that they have then.
    package func setPolicy(_ policy: Policy) {
        options.policy.replace(by: policy)
        core.endConnections()
    }

    /// The schema that the store has now.
    package var schema: Schema { core.storeDescription.schema }

    func requestStop() { stopRequest.yield() }

    func announce() {
        let store = core.storeDescription
        let addresses = listeningSockets.map(\.address).joined(separator: ", ")
        let line =
            "serving store \(store.identifier.uuidString), schema version \(store.schema.version)"
            + (store.isReadOnly ? ", read only" : "")
            + (addresses.isEmpty ? "" : ", at \(addresses)")
        logger.notice("\(line)")
        notification.ready(status: line)
    }
}
