import LarderModel
import LarderQuery
import NIOCore
import Synchronization

/// The items of the queue.
extension WriteQueue {
    enum Item: Sendable {
        case save(Save)
        case transaction(Transaction)
        case deletion(Deletion)
        case probe(Probe)

        /// The user who asked for the write.
        var user: UInt32 {
            switch self {
            case .save(let save): save.user
            case .transaction(let transaction): transaction.user
            case .deletion(let deletion): deletion.user
            case .probe(let probe): probe.user
            }
        }

        /// When the write is rejected if it has not begun.
        var deadline: NIODeadline {
            switch self {
            case .save(let save): save.deadline
            case .transaction(let transaction): transaction.deadline
            case .deletion(let deletion): deletion.deadline
            case .probe(let probe): probe.deadline
            }
        }

        /// Whether it takes little time.
        var isShort: Bool {
            switch self {
            case .save(let save): save.isShort
            case .transaction, .deletion: false
            case .probe: true
            }
        }

        /// Whether it can share a commit with others.
        var isGroupable: Bool {
            switch self {
            case .save(let save): !save.runsQueries
            case .transaction, .deletion: false
            case .probe: true
            }
        }

        var frameBytes: Int { if case .save(let save) = self { save.frameBytes } else { 0 } }

        /// Whether an attempt to execute it was stopped for other users.
        var wasStopped: Bool {
            switch self {
            case .save(let save): save.wasStopped.load(ordering: .relaxed)
            case .transaction(let transaction): transaction.wasStopped.load(ordering: .relaxed)
            case .deletion, .probe: false
            }
        }

        func noteStop() {
            switch self {
            case .save(let save): save.wasStopped.store(true, ordering: .relaxed)
            case .transaction(let write): write.wasStopped.store(true, ordering: .relaxed)
            case .deletion, .probe: break
            }
        }

        func reject(_ error: LarderError) {
            switch self {
            case .save(let save):
                let reply = save.reply
                save.eventLoop.execute { reply(.failure(error)) }
            case .transaction(let transaction): transaction.reply(.failure(error))
            case .deletion(let deletion): deletion.reject(error)
            case .probe(let probe): probe.reply(error)
            }
        }
    }

    final class Save: Sendable {
        let changes: SaveRequest
        let user: UInt32
        let frameBytes: Int
        let deadline: NIODeadline
        let isShort: Bool
        let runsQueries: Bool
        /// The event loop on which `reply` is called.
        let eventLoop: any EventLoop
        let reply: @Sendable (Outcome) -> Void
        fileprivate let wasStopped = Atomic(false)

        init(
            _ changes: SaveRequest, for user: UInt32, frameBytes: Int, deadline: NIODeadline,
            on eventLoop: any EventLoop, reply: @escaping @Sendable (Outcome) -> Void
        ) {
            self.changes = changes
            self.user = user
            self.frameBytes = frameBytes
            self.deadline = deadline
            self.eventLoop = eventLoop
            self.reply = reply
            runsQueries = changes.changeSet.runsQueries
            isShort = WriteQueue.isShort(changes, frameBytes: frameBytes)
        }

        /// The change set for one attempt.
        ///
        /// - Parameter shortBudget: That of a short one, which needs no deadline.
        func request(
            stoppedBy cancellation: ReadCancellation?, _ shortBudget: ReadBudget
        ) -> SaveRequest {
            var request = changes
            request.budget =
                isShort
                ? shortBudget : WriteQueue.budget(until: deadline, stoppedBy: cancellation)
            return request
        }
    }

    /// The budget of a write that begins now. The rest of the time is for the rollback and the
    /// reply.
    fileprivate static func budget(
        until deadline: NIODeadline, stoppedBy cancellation: ReadCancellation?
    ) -> ReadBudget {
        let time = (deadline - .now()).nanoseconds / 10 * 9
        return ReadBudget(
            deadline: .now.advanced(by: .nanoseconds(time)), cancellation: cancellation)
    }

    private static let shortBytesMax = 4 << 10

    /// Whether a save changes a few objects by identifier, so that its frame bounds its work.
    static func isShort(_ changes: SaveRequest, frameBytes: Int) -> Bool {
        frameBytes <= shortBytesMax && !changes.changeSet.runsQueries
    }

    /// The result of a transaction of its own.
    enum Written: Sendable {
        case rows(InsertedRows)
        case changes(SaveResult)

        /// The number of the transaction in the history.
        var transaction: Int64? {
            switch self {
            case .rows(let rows): rows.transaction
            case .changes(let result): result.transaction
            }
        }
    }

    /// A write that shares its commit with no other: rows, or a change set in parts.
    final class Transaction: Sendable {
        let user: UInt32
        let deadline: NIODeadline
        /// Called on the writer's thread, again for each attempt.
        let execute: @Sendable (any StoreWriter, ReadBudget) -> Result<Written, LarderError>
        let reply: @Sendable (Result<Written, LarderError>) -> Void
        fileprivate let wasStopped = Atomic(false)

        init(
            for user: UInt32, deadline: NIODeadline,
            execute:
                @escaping @Sendable (any StoreWriter, ReadBudget) -> Result<
                    Written, LarderError
                >, reply: @escaping @Sendable (Result<Written, LarderError>) -> Void
        ) {
            self.user = user
            self.deadline = deadline
            self.execute = execute
            self.reply = reply
        }

        /// The budget of one attempt.
        func budget(stoppedBy cancellation: ReadCancellation?) -> ReadBudget {
            WriteQueue.budget(until: deadline, stoppedBy: cancellation)
        }
    }

    /// A deletion from the history, done step by step.
    final class Deletion: Sendable {
        private struct Progress {
            /// The last transaction to delete; nil before the first step.
            var last: Int64?
            var count: Int64 = 0
        }

        let user: UInt32
        /// When it ends with an error if it is not done. What was deleted until then stays deleted.
        let deadline: NIODeadline
        let reply: @Sendable (Result<Int64, LarderError>) -> Void
        private let deletion: HistoryDeletion
        private let progress = Mutex(Progress())

        init(
            _ deletion: HistoryDeletion, for user: UInt32, deadline: NIODeadline,
            reply: @escaping @Sendable (Result<Int64, LarderError>) -> Void
        ) {
            self.deletion = deletion
            self.user = user
            self.deadline = deadline
            self.reply = reply
        }

        func reject(_ error: LarderError) {
            let count = progress.withLock { $0.count }
            guard count > 0 else { return reply(.failure(error)) }
            reply(
                .failure(
                    LarderError(
                        error.code,
                        count == 1
                            ? "1 transaction was deleted before the deletion was ended"
                            : "\(count) transactions were deleted before the deletion was ended",
                        hint: "repeat the request to delete the others")))
        }

        /// Executes the next step on the writer's thread.
        ///
        /// - Returns: the number of transactions that all steps have deleted; nil if this was not
        ///   the last step.
        func step(of writer: any StoreWriter, rowsMax: Int) -> Result<Int64?, LarderError> {
            progress.withLock { progress in
                let last: Int64
                switch progress.last.map({ .success($0) }) ?? writer.lastTransaction(of: deletion) {
                case .success(let number): last = number
                case .failure(let error): return .failure(error)
                }
                progress.last = last
                switch writer.deleteHistory(upTo: last, rowsMax: rowsMax) {
                case .success(let step):
                    progress.count += step.deletedCount
                    return .success(step.isLast ? progress.count : nil)
                case .failure(let error): return .failure(error)
                }
            }
        }
    }

    /// A round trip through the queue.
    final class Probe: Sendable {
        let user: UInt32
        let deadline: NIODeadline
        /// Called on the writer's thread after the writes that were waiting, or on any thread with
        /// the error that ended the wait.
        let reply: @Sendable (LarderError?) -> Void

        init(
            for user: UInt32, deadline: NIODeadline,
            reply: @escaping @Sendable (LarderError?) -> Void
        ) {
            self.user = user
            self.deadline = deadline
            self.reply = reply
        }
    }
}
