import LarderModel
import NIOCore
import NIOPosix
import Synchronization

/// The bounded queue of writes for the store's writer.
///
/// A thread takes a group of waiting writes, commits them together, and then replies to each; so a
/// reply means that the write is as durable as the store makes it. A write whose deadline passes
/// while it waits is rejected without having been executed. While nothing waits, an event loop may
/// execute one short save itself (``saveInline(_:frameBytes:)``).
final class WriteQueue: Sendable {
    typealias Outcome = Result<SaveResult, LarderError>

    private struct State {
        var items: [Item] = []
        var frameBytes = 0
        var isClosed = false
        var groups = 0
        var inserts = 0
        var saves = 0
    }

    private let lease: WriterLease
    private let limits: ServerLimits
    private let thread = NIOThreadPool(numberOfThreads: 1)
    /// Rejects expired writes while the writer is busy for long.
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    init(writer: any StoreWriter, limits: ServerLimits, eventLoop: any EventLoop) {
        self.lease = WriterLease(writer: writer, limits: limits)
        self.limits = limits
        self.eventLoop = eventLoop
        thread.start()
    }

    /// Queues a save. It must be called on the event loop on which `reply` is called.
    ///
    /// - Parameter frameBytes: The length of its frame, by which the queue is bounded.
    func save(
        _ changes: SaveRequest, frameBytes: Int, deadline: NIODeadline,
        on eventLoop: any EventLoop, reply: @escaping @Sendable (Outcome) -> Void
    ) {
        let save = Save(
            changes, frameBytes: frameBytes, deadline: deadline, on: eventLoop, reply: reply)
        if let refusal = append(.save(save), frameBytes: frameBytes) { reply(.failure(refusal)) }
    }

    /// Queues rows. Their bytes are charged to their connection.
    func insert(_ insert: Insert) {
        if let refusal = append(.insert(insert), frameBytes: 0) {
            insert.reply(.failure(refusal))
        }
    }

    /// Calls back on the writer's thread after the writes that are waiting now.
    ///
    /// - Returns: the error if the queue is full or closed.
    func probe(_ reached: @escaping @Sendable () -> Void) -> LarderError? {
        append(.probe(reached), frameBytes: 0)
    }

    private func append(_ item: Item, frameBytes: Int) -> LarderError? {
        let refusal = state.withLock { state -> LarderError? in
            if state.isClosed { return ConnectionState.stopping }
            if state.items.count >= limits.writesQueuedMax
                || state.frameBytes + frameBytes > limits.writeBytesQueuedMax
            {
                return Self.full
            }
            state.items.append(item)
            state.frameBytes += frameBytes
            return nil
        }
        if refusal == nil, lease.takeForThread() { thread.submit { _ in self.drain() } }
        return refusal
    }

    private var isEmpty: Bool { state.withLock { $0.items.isEmpty } }

    // MARK: On the writer's thread

    /// Executes what waits, and releases the lease.
    private func drain() {
        repeat {
            while let group = takeGroup() { execute(group) }
            lease.releaseFromThread()
            // A write that was queued before the release has not started the thread.
        } while !isEmpty && lease.takeForThread()
    }

    private func takeGroup() -> [Item]? {
        state.withLock { state in
            guard !state.items.isEmpty else { return nil }
            var count = 0
            var bytes = 0
            for item in state.items.prefix(limits.writeGroupMax) {
                if case .insert = item {
                    count = max(count, 1)
                    break
                }
                if case .save(let save) = item {
                    if count > 0, bytes + save.frameBytes > limits.writeGroupBytesMax { break }
                    bytes += save.frameBytes
                }
                count += 1
            }
            state.frameBytes -= bytes
            guard count < state.items.count else {
                defer { state.items = [] }
                return state.items
            }
            let group = Array(state.items.prefix(count))
            state.items.removeFirst(count)
            return group
        }
    }

    /// The short saves at the head of the queue that a group of `groupCount` has room for. They
    /// join its commit; long ones would delay the replies to the group.
    private func takeShortSaves(groupCount: Int) -> [Save] {
        var (taken, expired): ([Save], [Save]) = ([], [])
        state.withLock { state in
            let short = state.items.prefix(max(0, limits.writeGroupMax - groupCount))
                .prefix { $0.isShortSave }
            guard !short.isEmpty else { return }
            let now = NIODeadline.now()
            for case .save(let save) in short {
                state.frameBytes -= save.frameBytes
                if save.deadline <= now { expired.append(save) } else { taken.append(save) }
            }
            state.items.removeFirst(short.count)
        }
        reply(to: expired, expired.map { _ in .failure(Self.expired) })
        return taken
    }

    /// Replies to saves, to those of one event loop together, so that it is woken once.
    private func reply(to saves: [Save], _ outcomes: [Outcome]) {
        precondition(outcomes.count == saves.count, "the writer returns one outcome per set")
        var eventLoops: [any EventLoop] = []
        for save in saves where !eventLoops.contains(where: { $0 === save.eventLoop }) {
            eventLoops.append(save.eventLoop)
        }
        for eventLoop in eventLoops {
            eventLoop.execute {
                for (save, outcome) in zip(saves, outcomes) where save.eventLoop === eventLoop {
                    save.reply(outcome)
                }
            }
        }
    }

    private func execute(_ group: [Item]) {
        let now = NIODeadline.now()
        var saves: [Save] = []
        saves.reserveCapacity(group.count)
        var probes: [@Sendable () -> Void] = []
        for item in group {
            switch item {
            case .probe(let reached): probes.append(reached)
            case .save(let save) where save.deadline <= now:
                reply(to: [save], [.failure(Self.expired)])
            case .save(let save): saves.append(save)
            case .insert(let insert) where insert.deadline <= .now:
                insert.reply(.failure(Self.expired))
            case .insert(let insert): execute(insert)
            }
        }
        if !saves.isEmpty {
            let outcomes = lease.writer.save(saves.map(\.changes)) {
                let more = takeShortSaves(groupCount: saves.count)
                saves += more
                return more.map(\.changes)
            }
            let count = saves.count
            state.withLock { state in
                state.groups += 1
                state.saves += count
            }
            reply(to: saves, outcomes)
            lease.writer.performMaintenance()
        }
        for reached in probes { reached() }
    }

    /// Rows may take long, so the writes that wait for them are checked for their deadline
    /// meanwhile.
    private func execute(_ insert: Insert) {
        let interval = TimeAmount(limits.expiryInterval)
        let watch = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            self.rejectExpired()
        }
        let outcome = lease.writer.insert(
            insert.insertion, firstRow: insert.firstRow, insert.rows())
        state.withLock { $0.inserts += 1 }
        insert.reply(outcome)
        lease.writer.performMaintenance()
        watch.cancel()
    }

    /// Rejects the waiting writes whose deadline has passed.
    private func rejectExpired() {
        let expired = state.withLock { state -> [Item] in
            var expired: [Item] = []
            state.items.removeAll { item in
                guard item.isExpired else { return false }
                expired.append(item)
                return true
            }
            state.frameBytes -= expired.reduce(0) { $0 + $1.frameBytes }
            return expired
        }
        for item in expired {
            switch item {
            case .save(let save): reply(to: [save], [.failure(Self.expired)])
            case .insert(let insert): insert.reply(.failure(Self.expired))
            case .probe: break
            }
        }
    }

    private static let full = LarderError(
        .resourceExhausted, "too many writes are waiting; this one was not executed",
        hint: "try again later")

    private static let expired = LarderError(
        .timeout, "the write waited too long and was not executed",
        hint: "it can be sent again")

    // MARK: Saves on an event loop

    /// Executes a short save on the event loop that calls, if the writer is free.
    ///
    /// - Returns: nil, with nothing changed, if the save has to be queued.
    func saveInline(_ changes: SaveRequest, frameBytes: Int) -> Outcome? {
        guard Self.isShort(changes, frameBytes: frameBytes) else { return nil }
        return lease.saveInline(changes) { needsMaintenance in
            guard needsMaintenance || !isEmpty, lease.takeForThread() else { return }
            thread.submit { _ in
                self.lease.writer.performMaintenance()
                self.drain()
            }
        }
    }

    // MARK: The end

    /// Executes the writes that are waiting, then closes the writer and ends its thread.
    func close(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isClosed = true }
        // The thread runs its jobs in order, so this one comes after every other.
        lease.close { [self] in
            thread.submit { [self] _ in
                drain()
                lease.writer.close()
                thread.shutdownGracefully { _ in done() }
            }
        }
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        let inlineSaves = lease.inlineSaves
        return state.withLock { state in
            [
                Statistic("saves", .int(Int64(state.saves + inlineSaves))),
                Statistic("saveGroups", .int(Int64(state.groups + inlineSaves))),
                Statistic("inlineSaves", .int(Int64(inlineSaves))),
                Statistic("insertTransactions", .int(Int64(state.inserts))),
                Statistic("savesWaiting", .int(Int64(state.items.count))),
            ]
        }
    }
}
