import LarderModel
import NIOCore

/// The items of the queue.
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
        let changes: SaveRequest
        let frameBytes: Int
        let deadline: NIODeadline
        let isShort: Bool
        /// The event loop on which `reply` is called.
        let eventLoop: any EventLoop
        let reply: @Sendable (Outcome) -> Void

        init(
            _ changes: SaveRequest, frameBytes: Int, deadline: NIODeadline,
            on eventLoop: any EventLoop, reply: @escaping @Sendable (Outcome) -> Void
        ) {
            self.changes = changes
            self.frameBytes = frameBytes
            self.deadline = deadline
            self.eventLoop = eventLoop
            self.reply = reply
            isShort = WriteQueue.isShort(changes, frameBytes: frameBytes)
        }
    }

    private static let shortBytesMax = 4 << 10

    /// Whether a save changes a few objects by identifier, so that its frame bounds its work.
    static func isShort(_ changes: SaveRequest, frameBytes: Int) -> Bool {
        frameBytes <= shortBytesMax && !changes.changeSet.runsQueries
    }

    /// Rows that are a transaction of their own.
    final class Insert: Sendable {
        let insertion: InsertionRequest
        /// The index of the first row in its stream.
        let firstRow: Int64
        /// Called on the writer's thread.
        let rows: @Sendable () -> any RowSource
        let deadline: ContinuousClock.Instant
        let reply: @Sendable (Result<InsertedRows, LarderError>) -> Void

        init(
            _ insertion: InsertionRequest, firstRow: Int64,
            rows: @escaping @Sendable () -> any RowSource, deadline: ContinuousClock.Instant,
            reply: @escaping @Sendable (Result<InsertedRows, LarderError>) -> Void
        ) {
            self.insertion = insertion
            self.firstRow = firstRow
            self.rows = rows
            self.deadline = deadline
            self.reply = reply
        }
    }
}
