import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import LarderWire
internal import Logging
import NIOCore
import NIOPosix

/// The parts of a server other than its listeners: the readers of the event loops, the reader pool,
/// the writer's queue, the quotas and the connections.
final class ServerCore: Sendable {
    let storeDescription: StoreDescription
    let backend: any StoreBackend
    let idle: IdleWatch?
    /// A channel with more waiting bytes than the upper mark is not writable until there are fewer
    /// than the lower mark.
    let writeBufferWaterMark: ChannelOptions.Types.WriteBufferWaterMark
    private let pool: ReaderPool
    private let writes: WriteQueue?
    let registry: ConnectionRegistry
    let metrics: MetricsCollector
    private let loopReaders: [LoopReader]
    private let services: [ObjectIdentifier: ConnectionServices]
    private let limitedViews: LimitedViews
    private let limits: ServerLimits
    private let failures: FailureLog

    init(
        backend: any StoreBackend, writer: (any StoreWriter)?,
        group: MultiThreadedEventLoopGroup, options: Server.Options, idle: IdleWatch?,
        migrations: Migrations, failures: FailureLog, logger: Logger
    ) {
        let limits = options.limits
        let store = backend.storeDescription
        let schemaText = store.schema.canonicalText
        let registry = ConnectionRegistry(
            limits: limits, descriptorLimit: Self.descriptorLimit,
            becameEmpty: { idle?.becameIdle() })
        let pool = ReaderPool(backend: backend, limits: limits, becameIdle: options.memoryReleased)
        let disposal = Disposal(pool: pool)
        let spools = SpoolQuota(folder: options.spoolFolder, limits: limits)
        let backups = BackupQuota(folder: options.spoolFolder, limits: limits)
        let loopReaders = Array(group.makeIterator()).map {
            LoopReader(eventLoop: $0, backend: backend, limits: limits)
        }
        let feeds = loopReaders.map {
            LoopFeed(eventLoop: $0.eventLoop, reader: $0, store: store)
        }
        let liveQueries = LiveQueries(
            backend: backend, pool: pool, limits: limits, eventLoop: group.next())
        let writes = writer.map {
            WriteQueue(
                writer: $0, readers: pool, announcer: CommitAnnouncer(feeds, liveQueries),
                limits: limits, eventLoop: group.next())
        }
        let statistics = Self.statistics(
            registry, loopReaders, pool, writes, spools, backups, liveQueries)
        let slowReads = SlowReads(limits: limits, logger: logger)
        let views = LimitedViews(backend, options)
        let metrics = MetricsCollector(
            loopReaders, server: options.name, statistics: statistics,
            writes: { writes?.metrics ?? [] })
        let activity = ActivityCollector(
            registry: registry, slowReads: slowReads,
            load: Self.load(of: backend, loopReaders, pool, writes, backups))
        self.services = Dictionary(
            uniqueKeysWithValues: zip(loopReaders, feeds).map { loopReader, feed in
                let services = ConnectionServices(
                    limits: limits, welcome: Self.welcome(store, options), schemaText: schemaText,
                    backend: backend, view: backend, loopReader: loopReader, loopFeed: feed,
                    liveQueries: liveQueries,
                    loopOccupancy: LoopOccupancy(eventLoop: loopReader.eventLoop),
                    loopTurns: LoopTurns(
                        eventLoop: loopReader.eventLoop, timeMax: TimeAmount(limits.turnTimeMax)),
                    flushQueue: FlushQueue(eventLoop: loopReader.eventLoop), pool: pool,
                    disposal: disposal, writes: writes, registry: registry, store: store,
                    spools: spools, backups: backups, probe: StoreProbe(store), activity: activity,
                    migrations: migrations, viewServices: ViewServices(backend, loopReader, views),
                    slowReads: slowReads, metrics: metrics, statistics: statistics,
                    failures: failures, logger: logger)
                return (ObjectIdentifier(loopReader.eventLoop), services)
            })
        self.storeDescription = store
        limitedViews = views
        self.metrics = metrics
        self.backend = backend
        self.idle = idle
        self.writeBufferWaterMark = Self.waterMark(limits)
        self.pool = pool
        self.writes = writes
        self.registry = registry
        self.loopReaders = loopReaders
        self.limits = limits
        self.failures = failures
        // The connection that began a session is not one of these.
        idle?.watch { migrations.session == nil && registry.isEmpty }
    }

    private static func waterMark(
        _ limits: ServerLimits
    ) -> ChannelOptions.Types.WriteBufferWaterMark {
        ChannelOptions.Types.WriteBufferWaterMark(
            low: min(limits.batchBytesMax, limits.queuedBytesSoftMax / 2),
            high: min(limits.batchBytesMax * 3, limits.queuedBytesSoftMax))
    }

    /// A function that reports the load of a server that starts now.
    private static func load(
        of backend: any StoreBackend, _ loopReaders: [LoopReader], _ pool: ReaderPool,
        _ writes: WriteQueue?, _ backups: BackupQuota
    ) -> @Sendable (_ time: Date) -> ServerLoad {
        let started = Date()
        return { time in
            var load = ServerLoad(time: time, started: started)
            load.requestCount = loopReaders.reduce(0) {
                $0 + Int64($1.counters.requests.load(ordering: .relaxed))
            }
            writes?.report(&load)
            pool.report(&load)
            backups.report(&load)
            load.logByteCount = Int64(backend.logByteCount)
            return load
        }
    }

    private static func welcome(_ store: StoreDescription, _ options: Server.Options) -> Welcome {
        Welcome(
            serverName: options.name, storeIdentifier: store.identifier,
            schemaVersion: store.schema.version, schemaFingerprint: store.fingerprint,
            isReadOnly: store.isReadOnly,
            capabilities: [WireProtocol.savesInParts, WireProtocol.dryRuns],
            frameBytesMax: UInt32(clamping: options.limits.frameBytesMax),
            requestsInFlightMax: UInt32(clamping: options.limits.requestsInFlightMax),
            historyEpoch: store.historyEpoch,
            objectBytesMax: UInt32(clamping: options.limits.objectBytesMax))
    }

    /// The number of descriptors that this process may open.
    private static var descriptorLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }

    /// A function that reports the metrics for `stats` of a server that starts now.
    private static func statistics(
        _ registry: ConnectionRegistry, _ loopReaders: [LoopReader], _ pool: ReaderPool,
        _ writes: WriteQueue?, _ spools: SpoolQuota, _ backups: BackupQuota,
        _ liveQueries: LiveQueries
    ) -> @Sendable () -> [Statistic] {
        let started = ContinuousClock.now
        return {
            [Statistic("uptimeSeconds", .int((ContinuousClock.now - started).components.seconds))]
                + registry.statistics + statistics(of: loopReaders) + pool.statistics
                + (writes?.statistics ?? []) + spools.statistics + backups.statistics
                + liveQueries.statistics + memoryStatistics(registry, pool, liveQueries)
        }
    }

    private static func statistics(of loopReaders: [LoopReader]) -> [Statistic] {
        func sum(_ counter: (LoopReader.Counters) -> Int) -> Value {
            .int(Int64(loopReaders.reduce(0) { $0 + counter($1.counters) }))
        }
        func total(_ counter: (QueryCounters.Totals) -> Int) -> Value {
            .int(Int64(loopReaders.reduce(0) { $0 + counter($1.queries.totals) }))
        }
        return [
            Statistic("eventLoops", .int(Int64(loopReaders.count))),
            Statistic("requests", sum { $0.requests.load(ordering: .relaxed) }),
            Statistic("inlineReads", sum { $0.inlineReads.load(ordering: .relaxed) }),
            Statistic("replyCacheHits", sum { $0.cacheHits.load(ordering: .relaxed) }),
            Statistic("planCacheHits", sum { $0.planHits.load(ordering: .relaxed) }),
            Statistic("planCacheMisses", sum { $0.planMisses.load(ordering: .relaxed) }),
            Statistic("planCacheBytes", sum { $0.planBytes.load(ordering: .relaxed) }),
            Statistic("replyCacheBytes", sum { $0.replyBytes.load(ordering: .relaxed) }),
            Statistic("queryShapes", total { $0.shapes.load(ordering: .relaxed) }),
            Statistic("queryShapeBytes", total { $0.bytes.load(ordering: .relaxed) }),
            Statistic("queryShapesEvicted", total { $0.evicted.load(ordering: .relaxed) }),
        ]
    }

    /// The memory of each user: its requests and replies, its long reads, and its live queries.
    private static func memoryStatistics(
        _ registry: ConnectionRegistry, _ pool: ReaderPool, _ liveQueries: LiveQueries
    ) -> [Statistic] {
        let amounts = registry.memoryByUser + pool.memoryByUser + liveQueries.memoryByUser
        var bytes: [UInt32: Int] = [:]
        for (user, amount) in amounts { bytes[user, default: 0] += amount }
        return bytes.sorted { $0.key < $1.key }.map { user, amount in
            Statistic("\(StatisticMetrics.userMemoryPrefix)\(user)", .int(Int64(amount)))
        }
    }

    /// Adds the handler of a connection to a channel. It must be called on the channel's event
    /// loop.
    ///
    /// - Parameters:
    ///   - credentials: Those of the peer; nil to read them from the socket.
    ///   - role: That of the socket at which the peer has connected.
    func configure(
        _ channel: any Channel, as credentials: PeerCredentials? = nil, role: String? = nil
    ) -> EventLoopFuture<Void> {
        guard let services = services[ObjectIdentifier(channel.eventLoop)] else {
            preconditionFailure("connections belong to the server's own event loops")
        }
        let read = PeerCredentials.read(from: channel)
        guard limitedViews.applies(at: role) else {
            return read.flatMapThrowing { read in
                try channel.pipeline.syncOperations.addHandler(
                    ConnectionHandler(services: services, credentials: credentials ?? read))
            }
        }
        // The system's database of users is not read on the event loop.
        let (views, eventLoop) = (limitedViews, channel.eventLoop)
        return read.flatMap { read in
            NIOSingletons.posixBlockingThreadPool.runIfActive(eventLoop: eventLoop) {
                let credentials = credentials ?? read
                return (
                    credentials,
                    Result { () throws(LarderError) in
                        try credentials.flatMap { (credentials) throws(LarderError) in
                            try views.view(for: credentials, at: role)
                        }
                    }
                )
            }
        }.flatMapThrowing { credentials, view in
            var (services, refusal) = (services, nil as LarderError?)
            switch view {
            case .success(let view?):
                services = services.viewServices.services(limitedTo: view, services)
            case .success(nil): break
            case .failure(let error): refusal = error
            }
            try channel.pipeline.syncOperations.addHandler(
                ConnectionHandler(services: services, credentials: credentials, refusal: refusal))
        }
    }

    /// Calls back if the server works: after every event loop has read from the store, and the
    /// writer's queue has processed a probe. A writer that has worked since the last call need not
    /// process the probe first.
    func probe(_ done: @escaping @Sendable () -> Void) {
        probe(loopReaders[...], done)
    }

    private func probe(
        _ remaining: ArraySlice<LoopReader>, _ done: @escaping @Sendable () -> Void
    ) {
        guard let loopReader = remaining.first else {
            guard let writes else { return done() }
            return writes.probe(done)
        }
        loopReader.eventLoop.execute { [self] in
            if let failure = StoreProbe(storeDescription).failure(of: loopReader) {
                return failures.report(failure)
            }
            probe(remaining.dropFirst(), done)
        }
    }

    /// Lets every connection complete its requests until they are interrupted, or closes it after
    /// `stopTimeMax`; then finishes the writes, and closes the pool, the readers and the writer.
    ///
    /// - Parameter interruption: When the requests are interrupted.
    func stop(
        interruptingAt interruption: NIODeadline, on eventLoop: any EventLoop
    ) -> EventLoopFuture<Void> {
        end(interruptingAt: interruption, on: eventLoop)
    }

    /// The form for a migration: the connection that requested it stays, and new ones are refused
    /// with a reason.
    func suspend(
        refusing reason: LarderError, leaving requester: ConnectionPort?,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<Void> {
        end(
            refusing: reason, leaving: requester,
            interruptingAt: .now() + TimeAmount(limits.stopGraceTime), on: eventLoop)
    }

    private func end(
        refusing reason: LarderError = ConnectionState.stopping,
        leaving requester: ConnectionPort? = nil, interruptingAt interruption: NIODeadline,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<Void> {
        let registry = registry
        // Weak, because the store must be released before the end is reported.
        let timers = [
            eventLoop.scheduleTask(deadline: interruption) { [weak self] in
                self?.interrupt(except: requester)
            },
            eventLoop.scheduleTask(in: TimeAmount(limits.stopTimeMax)) {
                registry.closeAll(except: requester)
            },
        ]
        let drained = eventLoop.makePromise(of: Void.self)
        registry.drain(refusing: reason, leaving: requester) { drained.succeed() }
        return close(after: drained.futureResult, on: eventLoop).always { _ in
            for timer in timers { timer.cancel() }
        }
    }

    /// Ends what runs, except a commit. Clients get UNAVAILABLE, and nothing is changed.
    func interrupt(except requester: ConnectionPort? = nil) {
        registry.interruptAll(except: requester)
        writes?.interrupt()
    }

    /// Calls back when the last connection has closed, of those that are being drained.
    func whenDrained(_ call: @escaping @Sendable () -> Void) {
        registry.drain(whenDrained: call)
    }

    /// Lets every connection complete its requests and close, because its rights may have changed.
    /// Clients connect again.
    func endConnections() {
        for connection in registry.open {
            connection.port.execute { $0.startDraining(ConnectionState.policyReplaced) }
        }
    }

    /// Changes the reason with which new connections are refused.
    func refuse(_ reason: LarderError) { registry.refuse(reason) }

    private func close(
        after drained: EventLoopFuture<Void>, on eventLoop: any EventLoop
    ) -> EventLoopFuture<Void> {
        let (writes, pool) = (writes, pool)
        return drained.flatMap {
            let finished = eventLoop.makePromise(of: Void.self)
            if let writes { writes.finish { finished.succeed() } } else { finished.succeed() }
            return finished.futureResult
        }.flatMap {
            let closed = eventLoop.makePromise(of: Void.self)
            pool.close { closed.succeed() }
            return closed.futureResult
        }.flatMap { [services] in
            let closing = services.values.map { services in
                services.loopReader.eventLoop.submit {
                    services.viewServices.close()
                    services.loopReader.close()
                }
            }
            return .andAllComplete(closing, on: eventLoop)
        }.flatMap {
            // Last, because SQLite removes the log with the last connection, which must be the
            // writer's: those of readers never checkpoint.
            let closed = eventLoop.makePromise(of: Void.self)
            if let writes { writes.close { closed.succeed() } } else { closed.succeed() }
            return closed.futureResult
        }
    }
}
