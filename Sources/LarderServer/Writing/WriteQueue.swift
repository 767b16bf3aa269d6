import LarderModel
import NIOCore
import NIOPosix
import Synchronization

/// The way of every write: a bounded queue before the store's one writer, and who has that.
///
/// A thread takes what waits, up to a group, has it committed at once, and only then answers
/// each; so an answer means that the write is as durable as the store makes it. A write whose time
/// has passed while it waited is refused without having been executed. While nothing waits, an
/// event loop may take the writer for one short save (``saveAtOnce(_:frameBytes:)``).
final class WriteQueue: Sendable {
    typealias Outcome = Result<SaveResult, LarderError>

    /// Who may touch the writer.
    private enum Holder {
        case nobody
        /// The jobs of `thread`, until nothing waits.
        case thread
        /// An event loop, for one save.
        case loop
    }

    private struct State {
        var items: [Item] = []
        var frameBytes = 0
        var holder = Holder.nobody
        var isClosed = false
        /// The last job of `thread`, which waits for the event loop that has the writer.
        var ending: (@Sendable () -> Void)?
        var groups = 0
        var inserts = 0
        var saves = 0
        var savesOnLoop = 0
    }

    /// Sendable unchecked: after its making, the writer is touched by its holder alone, and it
    /// changes hands under the lock of `state`.
    private struct Owned: @unchecked Sendable {
        let writer: any StoreWriter
    }

    private let owned: Owned
    private let limits: ServerLimits
    /// Of a save on an event loop.
    private let budget: ReadBudget
    private let thread = NIOThreadPool(numberOfThreads: 1)
    /// Keeps the time of those who wait while the writer is busy for long.
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    init(writer: any StoreWriter, limits: ServerLimits, eventLoop: any EventLoop) {
        self.owned = Owned(writer: writer)
        self.limits = limits
        budget = ReadBudget(steps: limits.inlineStepsMax, stepsTimeMax: limits.inlineTimeMax)
        self.eventLoop = eventLoop
        thread.start()
    }

    /// Queues a write; to be called on the event loop on which `answer` is called, too.
    ///
    /// - Parameter frameBytes: the bytes that it arrived in, by which the queue is bounded.
    func save(
        _ changes: ReceivedChangeSet, frameBytes: Int, deadline: NIODeadline,
        on eventLoop: any EventLoop, answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let save = Save(
            changes, frameBytes: frameBytes, deadline: deadline, on: eventLoop, answer: answer)
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
            guard state.holder == .nobody else { return (nil, false) }
            state.holder = .thread
            return (nil, true)
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
                state.holder = .nobody
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
            let now = NIODeadline.now()
            for case .save(let save) in short {
                state.frameBytes -= save.frameBytes
                if save.deadline <= now { expired.append(save) } else { taken.append(save) }
            }
            state.items.removeFirst(short.count)
        }
        answer(expired, expired.map { _ in .failure(Self.expired) })
        return taken
    }

    /// Answers saves, those of one event loop together, so that it is woken once.
    private func answer(_ saves: [Save], _ outcomes: [Outcome]) {
        precondition(outcomes.count == saves.count, "the writer answers each set once")
        var eventLoops: [any EventLoop] = []
        for save in saves where !eventLoops.contains(where: { $0 === save.eventLoop }) {
            eventLoops.append(save.eventLoop)
        }
        for eventLoop in eventLoops {
            eventLoop.execute {
                for (save, outcome) in zip(saves, outcomes) where save.eventLoop === eventLoop {
                    save.answer(outcome)
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
                answer([save], [.failure(Self.expired)])
            case .save(let save): saves.append(save)
            case .insert(let insert) where insert.deadline <= .now:
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
            let count = saves.count
            state.withLock { state in
                state.groups += 1
                state.saves += count
            }
            answer(saves, outcomes)
            owned.writer.checkpointIfNeeded()
        }
        for reached in probes { reached() }
    }

    /// Rows may take long. Whoever waits behind them is told in time that they waited in vain.
    private func execute(_ insert: Insert) {
        let interval = TimeAmount(limits.expiryInterval)
        let watch = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            self.answerExpired()
        }
        let outcome = owned.writer.insert(
            insert.insertion, firstRow: insert.firstRow, insert.rows())
        state.withLock { $0.inserts += 1 }
        insert.answer(outcome)
        owned.writer.checkpointIfNeeded()
        watch.cancel()
    }

    /// Refuses the writes that wait and whose time is over.
    private func answerExpired() {
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
            case .save(let save): answer([save], [.failure(Self.expired)])
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
        let end: @Sendable () -> Void = { [self] in
            drain()
            owned.writer.close()
            thread.shutdownGracefully { _ in done() }
        }
        let isHeld = state.withLock { state in
            state.isClosed = true
            guard state.holder == .loop else { return false }
            state.ending = end
            return true
        }
        // The thread does its jobs in order, so this one comes after every drain before it.
        if !isHeld { thread.submit { _ in end() } }
    }

    // MARK: Saves on an event loop

    /// Carries out a short save on the event loop that calls, if nobody has the writer.
    ///
    /// - Returns: nil if the save has to be queued: then nothing was done.
    func saveAtOnce(_ changes: ReceivedChangeSet, frameBytes: Int) -> Outcome? {
        guard Self.isShort(changes, frameBytes: frameBytes), takeForLoop() else { return nil }
        let outcome = owned.writer.save(changes, within: budget)
        // By its pattern: `!=` would copy both sides to compare them.
        if case .none = outcome { giveBack(isSaved: false) } else { giveBack(isSaved: true) }
        return outcome
    }

    private func takeForLoop() -> Bool {
        state.withLock { state in
            guard state.holder == .nobody, !state.isClosed else { return false }
            state.holder = .loop
            return true
        }
    }

    /// What has come meanwhile, and a checkpoint, which may take long, are the thread's.
    private func giveBack(isSaved: Bool) {
        let needsCheckpoint = owned.writer.needsCheckpoint
        let (isNext, ending) = state.withLock { state in
            if isSaved {
                state.groups += 1
                state.saves += 1
                state.savesOnLoop += 1
            }
            let isNext = needsCheckpoint || !state.items.isEmpty
            state.holder = isNext ? .thread : .nobody
            return (isNext, state.ending.take())
        }
        if isNext {
            thread.submit { _ in
                self.owned.writer.checkpointIfNeeded()
                self.drain()
            }
        }
        if let ending { thread.submit { _ in ending() } }
    }

    /// Figures for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("saves", .int(Int64(state.saves))),
                Statistic("saveGroups", .int(Int64(state.groups))),
                Statistic("savesOnLoop", .int(Int64(state.savesOnLoop))),
                Statistic("insertTransactions", .int(Int64(state.inserts))),
                Statistic("savesWaiting", .int(Int64(state.items.count))),
            ]
        }
    }
}
