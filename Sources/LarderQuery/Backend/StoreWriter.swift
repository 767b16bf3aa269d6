import LarderModel
import Synchronization

/// Writes to a store.
package protocol StoreWriter: AnyObject {
    /// Advances while the writer works. It may be read from any thread.
    var progress: WriterProgress { get }

    /// Applies each set separately, commits all of them together, and returns one outcome per set,
    /// in order. A set that fails changes nothing; if the commit fails, every set fails. Each set
    /// that changes anything is one transaction of the history.
    ///
    /// - Parameter more: Called before the commit for sets that have arrived since and join it,
    ///   until it returns none. Their outcomes follow those of `sets`.
    func save(
        _ sets: [SaveRequest], more: () -> [SaveRequest]
    ) -> [Result<SaveResult, LarderError>]

    /// Applies a change set that is too long for memory as one transaction, and commits it before
    /// returning. It reads the changes twice, some of them at a time.
    ///
    /// - Parameter request: Its change set is empty; what it has besides changes comes from the
    ///   reader.
    func save(
        _ request: SaveRequest, reading changes: any ChangeSetReader
    ) -> Result<SaveResult, LarderError>

    /// Inserts all rows of a source, or none, as one transaction, and commits it before returning.
    /// It reads one batch at a time.
    ///
    /// - Parameter firstRow: The index of the source's first row in its stream. Errors report a row
    ///   by its index in the stream.
    func insert(
        _ insertion: InsertionRequest, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError>

    /// The number of the last transaction that a deletion from the history deletes.
    ///
    /// - Throws: as a result, `foreignToken` or `futureToken`.
    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError>

    /// Deletes the oldest transactions up to a number, in one commit: about `rowsMax` at most, with
    /// as many of their runs. It is to be repeated until the step is the last one.
    func deleteHistory(
        upTo number: Int64, rowsMax: Int
    ) -> Result<HistoryDeletionStep, LarderError>

    /// Begins a copy of the store in an unnamed file.
    ///
    /// - Parameter folder: Where the file takes its disk space.
    func makeCopy(in folder: String) -> Result<any StoreCopy, LarderError>

    /// Whether ``performMaintenance()`` has work to do. Cheap enough to be read after each commit.
    var needsMaintenance: Bool { get }

    /// Does the housekeeping that the store needs from time to time, such as a checkpoint of its
    /// log; nothing if none is due. It may take long, and never fails a write.
    func performMaintenance()

    /// Whether the last maintenance could not shorten a long log, because snapshots of readers need
    /// it. End the oldest ones, and then call ``performMaintenance()`` again.
    var needsReadersToEnd: Bool { get }

    /// The size of the log on disk in bytes.
    var logByteCount: Int { get }

    /// Does the final maintenance and ends the writer.
    func close()
}

extension StoreWriter {
    package func save(_ sets: [SaveRequest]) -> [Result<SaveResult, LarderError>] {
        save(sets, more: { [] })
    }

    /// Saves change sets of this process, which have no remote source.
    package func save(_ sets: [ChangeSet]) -> [Result<SaveResult, LarderError>] {
        save(sets.map { SaveRequest($0) })
    }
}

/// A counter that advances by at least one for some milliseconds of a writer's work, except while
/// it waits for the disk. So a writer that works can be told from one that hangs.
package final class WriterProgress: Sendable {
    private let counter = Atomic<Int>(0)

    package init() {}

    package func advance() { counter.add(1, ordering: .relaxed) }

    package var count: Int { counter.load(ordering: .relaxed) }
}

/// A part of a deletion from the history.
package struct HistoryDeletionStep: Hashable, Sendable {
    /// The number of transactions that were deleted.
    package var deletedCount: Int64
    /// Whether nothing is left to delete.
    package var isLast: Bool

    package init(deletedCount: Int64, isLast: Bool) {
        self.deletedCount = deletedCount
        self.isLast = isLast
    }
}

/// The rows of an insertion, batch by batch. It is used on one thread.
package protocol RowSource: AnyObject {
    /// The next rows; nil after the last.
    ///
    /// - Throws: the reason why no more rows follow and nothing may be stored.
    func next() throws(LarderError) -> Batch?
}

/// The changes of a change set, some of them at a time. It is used on one thread.
package protocol ChangeSetReader: AnyObject {
    /// Begins, or begins again, with the first changes.
    func rewind()

    /// The next changes, and those options of the set that come with them; nil after the last.
    ///
    /// - Throws: the reason why no more changes follow and nothing may be stored.
    func next() throws(LarderError) -> ChangeSet?

    /// The digest of what was read since the beginning; see ``SaveRequest/digest``.
    var digest: UInt64 { get }
}
