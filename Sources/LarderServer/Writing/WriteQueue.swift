import LarderModel
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
        case probe(@Sendable () -> Void)
    }

    private struct Save: Sendable {
        let changes: ReceivedChangeSet
        let frameBytes: Int
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Outcome) -> Void
    }

    private struct State {
        var items: [Item] = []
        var frameBytes = 0
        var isDraining = false
        var isClosed = false
        var groups = 0
        var saves = 0
    }

    /// Sendable unchecked: after its making, the writer is touched by jobs of `thread` alone.
    private struct Owned: @unchecked Sendable {
        let writer: any StoreWriter
    }

    private let owned: Owned
    private let limits: ServerLimits
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())

    init(writer: any StoreWriter, limits: ServerLimits) {
        self.owned = Owned(writer: writer)
        self.limits = limits
        thread.start()
    }

    /// Queues a write; `answer` is called on the writer's thread, or at once if it is refused.
    ///
    /// - Parameter frameBytes: the bytes that it arrived in, by which the queue is bounded.
    func save(
        _ changes: ReceivedChangeSet, frameBytes: Int, deadline: ContinuousClock.Instant,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let save = Save(
            changes: changes, frameBytes: frameBytes, deadline: deadline, answer: answer)
        if let refusal = append(.save(save), frameBytes: frameBytes) { answer(.failure(refusal)) }
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
                if case .save(let save) = item {
                    if count > 0, bytes + save.frameBytes > limits.writeGroupBytesMax { break }
                    bytes += save.frameBytes
                }
                count += 1
            }
            let group = Array(state.items.prefix(count))
            state.items.removeFirst(count)
            state.frameBytes -= bytes
            return group
        }
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
            }
        }
        if !saves.isEmpty {
            let outcomes = owned.writer.save(saves.map(\.changes))
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
                Statistic("savesWaiting", .int(Int64(state.items.count))),
            ]
        }
    }
}
