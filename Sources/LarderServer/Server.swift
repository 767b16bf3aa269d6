import Glibc
public import LarderModel
import LarderWire
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// Serves one store to the clients that connect, until it is told to stop.
///
/// As a `Service` it listens, says so to the service manager, and stops in order when the group
/// does. It also serves sockets that are already connected (``serve(connectedSocket:)``), for a
/// program that keeps a store to itself. It knows its store by `StoreBackend` alone.
///
/// Concurrency is in three places: the event loops (sockets and short reads), the reader pool (long
/// reads), and the one writer thread.
public final class Server: Service {
    public struct Options: Sendable {
        /// What the handshake calls the server; a program's name and version.
        public var name: String
        /// Event-loop threads.
        public var eventLoopCount: Int
        /// ``Server/run()`` returns after so long without a connection; nil is never.
        public var idleTimeMax: Duration?
        public var limits = ServerLimits()

        public init(name: String = "larderd") {
            self.name = name
            self.eventLoopCount = min(2, System.coreCount)
        }
    }

    private struct State {
        var channels: [any Channel] = []
        var isStopping = false
    }

    let group: MultiThreadedEventLoopGroup
    let core: ServerCore
    private let listeningSockets: [ListeningSocket]
    private let options: Options
    private let notification: Notification
    private let logger: Logger
    private let state = Mutex(State())
    private let stopRequests: AsyncStream<Void>
    private let stopRequest: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - listeningSockets: owned by the server from now on.
    /// - Throws: what the store's writer throws when it is made.
    public init(
        backend: any StoreBackend, listeningSockets: [ListeningSocket] = [],
        options: Options = Options(), notification: Notification = Notification(), logger: Logger
    ) throws(LarderError) {
        let isReadOnly = backend.storeDescription.isReadOnly
        let writer = isReadOnly ? nil : try backend.makeWriter()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, options.eventLoopCount))
        (stopRequests, stopRequest) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let idle = options.idleTimeMax.map { [stopRequest] time in
            IdleWatch(time: time, eventLoop: group.next()) {
                logger.notice("stopping: nobody has been connected for \(time)")
                stopRequest.yield()
            }
        }
        self.core = ServerCore(
            backend: backend, writer: writer, group: group, options: options, idle: idle,
            logger: logger)
        self.group = group
        self.listeningSockets = listeningSockets
        self.options = options
        self.notification = notification
        self.logger = logger
    }

    /// Listens, serves until the service group shuts down, the server has been idle for too long
    /// or the task is cancelled, then stops in order.
    public func run() async throws {
        do {
            try await listen()
        } catch {
            await stop()
            throw error
        }
        let watchdog = startWatchdog()
        announce()
        core.idle?.becameIdle()
        await withGracefulShutdownHandler {
            for await _ in stopRequests { break }
        } onGracefulShutdown: {
            self.stopRequest.yield()
        }
        watchdog?.cancel()
        await stop()
    }

    /// Serves one connected Unix socket, such as an end of a socket pair, which the server owns
    /// from now on. Blocks for a moment; not to be called on an event loop.
    public func serve(connectedSocket descriptor: Int32) throws(LarderError) {
        let core = core
        do {
            _ = try ClientBootstrap(group: group)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.writeBufferWaterMark, value: core.writeBufferWaterMark)
                .channelInitializer { core.configure($0) }
                .withConnectedSocket(descriptor)
                .wait()
        } catch {
            throw LarderError(.connectionFailed, "the connected socket cannot be served: \(error)")
        }
    }

    /// Ends in order: accepts no more, answers what was received, closes the connections, then the
    /// writer with its final checkpoint. Returns when all of it is done; a second call returns at
    /// once.
    public func stop() async {
        guard let stopping = stopServing() else { return }
        try? await stopping.get()
        try? await group.shutdownGracefully()
        giveUpPlaces()
    }

    /// The same as ``stop()`` for a caller that is not asynchronous; not to be called on an event
    /// loop.
    public func stopAndWait() {
        guard let stopping = stopServing() else { return }
        try? stopping.wait()
        try? group.syncShutdownGracefully()
        giveUpPlaces()
    }

    /// - Returns: nil if the server is stopping already.
    private func stopServing() -> EventLoopFuture<Void>? {
        let channels = state.withLock { state -> [any Channel]? in
            guard !state.isStopping else { return nil }
            state.isStopping = true
            defer { state.channels = [] }
            return state.channels
        }
        guard let channels else { return nil }
        notification.stopping()
        notification.extendTime(by: options.limits.stopTimeMax * 2)
        let (eventLoop, core) = (group.next(), core)
        let closing = channels.map { $0.close() }
        return EventLoopFuture.andAllComplete(closing, on: eventLoop).flatMap {
            core.stop(on: eventLoop)
        }
    }

    private func giveUpPlaces() {
        for socket in listeningSockets { socket.release() }
        logger.notice("stopped")
    }

    // MARK: Listening

    private static let backlog: Int32 = 1_024

    private func listen() async throws {
        let core = core
        let logger = logger
        for socket in listeningSockets {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            AcceptHandler(logger: logger))
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelOption(.writeBufferWaterMark, value: core.writeBufferWaterMark)
                .childChannelInitializer { core.configure($0) }
                .withBoundSocket(socket.descriptor).get()
            // NIO has begun to listen with a short queue.
            _ = Glibc.listen(socket.descriptor, Self.backlog)
            state.withLock { $0.channels.append(channel) }
        }
    }

    private func announce() {
        let store = core.storeDescription
        let places = listeningSockets.map(\.address).joined(separator: ", ")
        let line =
            "serving store \(store.identifier.uuidString), schema version \(store.schema.version)"
            + (store.isReadOnly ? ", read only" : "")
            + (places.isEmpty ? "" : ", at \(places)")
        logger.notice("\(line)")
        notification.ready(status: line)
    }

    /// Tells the service manager that the server lives, each time after asking every event loop
    /// for a real read and going once through the writer's queue.
    private func startWatchdog() -> RepeatedTask? {
        guard let interval = notification.watchdogInterval else { return nil }
        let (core, notification) = (core, notification)
        return group.next().scheduleRepeatedTask(
            initialDelay: .zero, delay: TimeAmount(interval / 2)
        ) { _ in
            core.probe { notification.alive() }
        }
    }
}
