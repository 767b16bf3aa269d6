import LarderModel
import NIOCore

// What waits in the queue.
extension WriteQueue {
    enum Item: Sendable {
        case save(Save)
        case insert(Insert)
        case probe(@Sendable () -> Void)

        var isExpired: Bool {
            switch self {
            case .save(let save): save.deadline <= .now()
            case .insert(let insert): insert.deadline <= .now
            case .probe: false
            }
        }

        var isShortSave: Bool { if case .save(let save) = self { save.isShort } else { false } }

        var frameBytes: Int { if case .save(let save) = self { save.frameBytes } else { 0 } }
    }

    final class Save: Sendable {
        let changes: ReceivedChangeSet
        let frameBytes: Int
        let deadline: NIODeadline
        let isShort: Bool
        /// Where it came from, and is answered.
        let eventLoop: any EventLoop
        let answer: @Sendable (Outcome) -> Void

        init(
            _ changes: ReceivedChangeSet, frameBytes: Int, deadline: NIODeadline,
            on eventLoop: any EventLoop, answer: @escaping @Sendable (Outcome) -> Void
        ) {
            self.changes = changes
            self.frameBytes = frameBytes
            self.deadline = deadline
            self.eventLoop = eventLoop
            self.answer = answer
            isShort = WriteQueue.isShort(changes, frameBytes: frameBytes)
        }
    }

    private static let shortBytesMax = 4 << 10

    /// Whether its frame says how long a save takes, and that is not long: few objects, by name.
    static func isShort(_ changes: ReceivedChangeSet, frameBytes: Int) -> Bool {
        frameBytes <= shortBytesMax
            && !changes.changeSet.changes.contains(where: \.isByPredicate)
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
}
