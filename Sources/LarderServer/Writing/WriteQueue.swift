import LarderModel
import NIOCore
import NIOPosix
import Synchronization

/// The way of every write: a bounded queue before the one thread that owns the store's writer.
///
/// The thread takes what waits, up to a group, has it committed at once, and only then answers
/// each; so an answer means that the write is as durable as the store makes it. A write whose time
/// has passed while it waited is refused without having been executed.
final class WriteQueue: Sendable {
    typealias Outcome = Result<SaveResult, LarderError>

    private enum Item: Sendable {
        case save(Save)
        case insert(Insert)
        case probe(@Sendable () -> Void)

        var deadline: ContinuousClock.Instant? {
            switch self {
            case .save(let save): save.deadline
            case .insert(let insert): insert.deadline
            case .probe: nil
            }
        }

        var isShortSave: Bool { if case .save(let save) = self { save.isShort } else { false } }

        var frameBytes: Int { if case .save(let save) = self { save.frameBytes } else { 0 } }
    }

    private final class Save: Sendable {
        let changes: ReceivedChangeSet
        let frameBytes: Int
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Outcome) -> Void

        init(
            _ changes: ReceivedChangeSet, frameBytes: Int, deadline: ContinuousClock.Instant,
            answer: @escaping @Sendable (Outcome) -> Void
        ) {
            self.changes = changes
            self.frameBytes = frameBytes
            self.deadline = deadline
            self.answer = answer
        }

        /// Whether its frame says how long it takes, and that is not long: few objects, by name.
        var isShort: Bool {
            frameBytes <= Self.shortBytesMax
                && changes.changeSet.changes.allSatisfy { $0.identifier != nil }
        }

        private static let shortBytesMax = 4 << 10
    }

    /// Rows that become one transaction, which nothing else shares.
    final class Insert: Sendable {
        let insertion: ReceivedInsertion
        /// The place of the first row in its stream.
        let firstRow: Int64
        /// Called on the writer's thread.
        let rows: @Sendable () -> any RowSource
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Result<InsertedRows, LarderError>) -> Void

        init(
            _ insertion: ReceivedInsertion, firstRow: Int64,
            rows: @escaping @Sendable () -> any RowSource, deadline: ContinuousClock.Instant,
            answer: @escaping @Sendable (Result<InsertedRows, LarderError>) -> Void
        ) {
            self.insertion = insertion
            self.firstRow = firstRow
            self.rows = rows
            self.deadline = deadline
            self.answer = answer
        }
    }

    private struct State {
        var items: [Item] = []
        var frameBytes = 0
        var isDraining = false
        var isClosed = false
        var groups = 0
        var inserts = 0
        var saves = 0
    }

    /// Sendable unchecked: after its making, the writer is touched by jobs of `thread` alone.
    private struct Owned: @unchecked Sendable {
        let writer: any StoreWriter
    }

    private let owned: Owned
    private let limits: ServerLimits
    private let thread = NIOThreadPool(numberOfThreads: 1)
    /// Keeps the time of those who wait while the writer is busy for long.
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    init(writer: any StoreWriter, limits: ServerLimits, eventLoop: any EventLoop) {
        self.owned = Owned(writer: writer)
        self.limits = limits
        self.eventLoop = eventLoop
        thread.start()
    }

    /// Queues a write; `answer` is called on the writer's thread, or at once if it is refused.
    ///
    /// - Parameter frameBytes: the bytes that it arrived in, by which the queue is bounded.
    func save(
        _ changes: ReceivedChangeSet, frameBytes: Int, deadline: ContinuousClock.Instant,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let save = Save(changes, frameBytes: frameBytes, deadline: deadline, answer: answer)
        if let refusal = append(.save(save), frameBytes: frameBytes) { answer(.failure(refusal)) }
    }

    /// Queues rows; their bytes are on the books of their connection.
    func insert(_ insert: Insert) {
        if let refusal = append(.insert(insert), frameBytes: 0) {
            insert.answer(.failure(refusal))
        }
    }

    /// Calls back from the writer's thread when all that waits now has been done.
    ///
    /// - Returns: why it will not, if the queue is full or closed.
    func probe(_ reached: @escaping @Sendable () -> Void) -> LarderError? {
        append(.probe(reached), frameBytes: 0)
    }

    private func append(_ item: Item, frameBytes: Int) -> LarderError? {
        let (refusal, isIdle) = state.withLock { state -> (LarderError?, Bool) in
            if state.isClosed { return (ConnectionState.stopping, false) }
            if state.items.count >= limits.writesQueuedMax
                || state.frameBytes + frameBytes > limits.writeBytesQueuedMax
            {
                return (Self.full, false)
            }
            state.items.append(item)
            state.frameBytes += frameBytes
            defer { state.isDraining = true }
            return (nil, !state.isDraining)
        }
        if isIdle { thread.submit { _ in self.drain() } }
        return refusal
    }

    private func drain() {
        while let group = takeGroup() {
            execute(group)
        }
    }

    private func takeGroup() -> [Item]? {
        state.withLock { state in
            guard !state.items.isEmpty else {
                state.isDraining = false
                return nil
            }
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

    /// The short saves that have come meanwhile, as far as a group of so many has room: they need
    /// no commit of their own. Others wait, so that nobody in the group waits long for them.
    private func takeSaves(behind count: Int) -> [Save] {
        var (taken, expired): ([Save], [Save]) = ([], [])
        state.withLock { state in
            let short = state.items.prefix(max(0, limits.writeGroupMax - count))
                .prefix { $0.isShortSave }
            guard !short.isEmpty else { return }
            let now = ContinuousClock.now
            for case .save(let save) in short {
                state.frameBytes -= save.frameBytes
                if save.deadline <= now { expired.append(save) } else { taken.append(save) }
            }
            state.items.removeFirst(short.count)
        }
        for save in expired { save.answer(.failure(Self.expired)) }
        return taken
    }

    private func execute(_ group: [Item]) {
        let now = ContinuousClock.now
        var saves: [Save] = []
        var probes: [@Sendable () -> Void] = []
        for item in group {
            switch item {
            case .probe(let reached): probes.append(reached)
            case .save(let save) where save.deadline <= now: save.answer(.failure(Self.expired))
            case .save(let save): saves.append(save)
            case .insert(let insert) where insert.deadline <= now:
                insert.answer(.failure(Self.expired))
            case .insert(let insert): execute(insert)
            }
        }
        if !saves.isEmpty {
            let outcomes = owned.writer.save(saves.map(\.changes)) {
                let more = takeSaves(behind: saves.count)
                saves += more
                return more.map(\.changes)
            }
            precondition(outcomes.count == saves.count, "the writer answers each set once")
            for (save, outcome) in zip(saves, outcomes) { save.answer(outcome) }
            owned.writer.checkpointIfNeeded()
            let count = saves.count
            state.withLock { state in
                state.groups += 1
                state.saves += count
            }
        }
        for reached in probes { reached() }
    }

    /// Rows may take long. Whoever waits behind them is told in time that they waited in vain.
    private func execute(_ insert: Insert) {
        let interval = TimeAmount(limits.expiryInterval)
        let watch = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            self.answerExpired()
        }
        insert.answer(
            owned.writer.insert(insert.insertion, firstRow: insert.firstRow, insert.rows()))
        owned.writer.checkpointIfNeeded()
        watch.cancel()
        state.withLock { $0.inserts += 1 }
    }

    /// Refuses the writes that wait and whose time is over.
    private func answerExpired() {
        let now = ContinuousClock.now
        let expired = state.withLock { state -> [Item] in
            let expired = state.items.filter { $0.deadline.map { $0 <= now } ?? false }
            guard !expired.isEmpty else { return [] }
            state.items.removeAll { $0.deadline.map { $0 <= now } ?? false }
            state.frameBytes -= expired.reduce(0) { $0 + $1.frameBytes }
            return expired
        }
        for item in expired {
            switch item {
            case .save(let save): save.answer(.failure(Self.expired))
            case .insert(let insert): insert.answer(.failure(Self.expired))
            case .probe: break
            }
        }
    }

    private static let full = LarderError(
        .resourceExhausted, "too many writes are waiting; this one was not executed",
        hint: "try again after a moment")

    private static let expired = LarderError(
        .timeout, "the write waited for too long and was not executed",
        hint: "it can be sent again")

    /// Does what still waits, then ends the writer and its thread.
    func close(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isClosed = true }
        // The thread does its jobs in order, so this one comes after every drain before it.
        thread.submit { [self] _ in
            drain()
            owned.writer.close()
            thread.shutdownGracefully { _ in done() }
        }
    }

    /// Figures for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("saves", .int(Int64(state.saves))),
                Statistic("saveGroups", .int(Int64(state.groups))),
                Statistic("insertTransactions", .int(Int64(state.inserts))),
                Statistic("savesWaiting", .int(Int64(state.items.count))),
            ]
        }
    }
}
