import LarderSQL

/// The write-ahead log of a store, as its writer maintains it: when its pages go to the file, when
/// it starts from its beginning, and how long its file is. See docs/storage.md.
///
/// Pages go to the file in the background; the writer lets the log start from its beginning. It is
/// used on the writer's thread. `WriterLog+Archive.swift` continues the archive.
final class WriterLog {
    private enum Pages {
        /// The log grows by this many pages between two checkpoints: 4 MiB.
        static let betweenCheckpoints = 1_000
        /// A longer log has to restart from its beginning, which readers may prevent: 32 MiB.
        static let untilRestart = 8_000
        /// The writer copies the last pages itself if they are no more than these: 256 KiB.
        static let copiedByWriterMax = 64
        /// After so many checkpoints in a row, the writer commits faster than they copy. The log
        /// grows until the next ones.
        static let checkpointsInRowMax = 4
        /// A log with more pages is truncated as soon as no reader needs it, however many of them
        /// the writer has to copy: 64 MiB.
        static let untilTruncation = 16_000
        /// A log with fewer pages is as long as they are: a few commits do not need more.
        static let untilLengthening = 8
        /// The file of a longer log gets room for as many pages as it has, and this many at least.
        static let addedMin = 64
    }

    let store: Store
    let checkpointer = Checkpointer()
    /// The length of the log when the last checkpoint began, and the number of those that have
    /// begun each when the one before it ended.
    private var begunPageCount = 0
    private var checkpointsInRow = 0
    /// The number of pages for which the log's file is long enough, as far as it was lengthened.
    private var room = 0
    private(set) var needsReadersToEnd = false
    /// Whether the catalog names an archive that will not have the next commit.
    var isArchiveOutdated = false

    init(_ store: Store) { self.store = store }

    /// Ends the checkpoint in the background, before the writer's connection is closed.
    func closeCheckpointer() { checkpointer.close() }

    /// The writer has another connection, whose log is as long as its pages.
    func connectionWasReplaced() { room = 0 }

    /// The log starts from its beginning.
    func wasRestarted() {
        begunPageCount = 0
        room = 0
    }

    func needsMaintenance(_ connection: Connection) -> Bool {
        let pageCount = connection.logPageCount
        // After a complete checkpoint the log starts from its beginning.
        if pageCount < begunPageCount { begunPageCount = 0 }
        return checkpointer.hasOutcome || isFull(pageCount)
            || isCheckpointDue(pageCount)
                && (!checkpointer.isRunning || waitsForCheckpointer(pageCount))
    }

    /// Whether the writer waits for the checkpoint in the background instead of leaving the work to
    /// a later commit. An archive has no commit until its next generation begins, and this commit
    /// may be the last one for long.
    private func waitsForCheckpointer(_ pageCount: Int) -> Bool {
        pageCount >= Pages.untilTruncation || needsGeneration
    }

    private var needsGeneration: Bool { store.archive?.needsGeneration ?? false }

    private func isCheckpointDue(_ pageCount: Int) -> Bool {
        if needsGeneration { return true }
        let interval = store.archive?.limits.pagesBetweenCheckpoints ?? Pages.betweenCheckpoints
        return pageCount - begunPageCount >= interval
    }

    /// Whether the next commit would make the log's file longer, and not start from its beginning.
    /// It does not matter if commits are not synced, as in a store in memory.
    private func isFull(_ pageCount: Int) -> Bool {
        store.synchronous == .full && pageCount >= max(room, Pages.untilLengthening)
            && pageCount < Pages.betweenCheckpoints
    }

    /// Lengthens the log's file if the next commit would, unless space is short: then zeros in the
    /// log would take it from the file.
    func lengthen(_ connection: Connection) {
        let pageCount = connection.logPageCount
        guard isFull(pageCount), DiskReserve(in: store.folder) == nil else { return }
        room = pageCount + max(pageCount, Pages.addedMin)
        // The next commit reports it if there is no space.
        try? connection.lengthenLog(toPages: room)
    }

    /// Takes the result of the checkpoint in the background, and begins or completes the next one
    /// if it is due.
    func checkpoint(_ connection: Connection) throws(SQLError) {
        let pageCount = connection.logPageCount
        do throws(SQLError) {
            if waitsForCheckpointer(pageCount) { checkpointer.wait() }
            let hasEnded = try checkpointer.takeOutcome()
            let isDue = needsReadersToEnd || isCheckpointDue(pageCount)
            guard !checkpointer.isRunning, isDue || hasEnded, try prepareArchive(connection)
            else { return }
            needsReadersToEnd = false
            try checkpoint(connection, pageCount, isDue: isDue)
        } catch {
            // A busy log means that a reader still needs it.
            guard error.condition == .busy else { throw error }
            needsReadersToEnd = true
        }
    }

    /// Begins a checkpoint in the background, as often as the last one has left many pages, which
    /// were committed meanwhile. Then the writer copies the last pages itself, so that the next
    /// commit can start the log from its beginning.
    ///
    /// - Parameter isDue: Whether this is the first checkpoint in a row.
    private func checkpoint(
        _ connection: Connection, _ pageCount: Int, isDue: Bool
    ) throws(SQLError) {
        let copied = try connection.copiedPageCount()
        let isLong = pageCount >= Pages.untilRestart
        if pageCount >= Pages.untilTruncation {
            try restartLog(connection, .truncate)
        } else if pageCount - copied <= Pages.copiedByWriterMax {
            begunPageCount = pageCount
            // A reader that began before still reads the log. If the log is short, the next commit
            // finds out.
            if isLong {
                try restartLog(connection, .restart)
            } else {
                try connection.checkpoint(.passive)
                noteCheckpoint()
            }
        } else if !isDue, begunPageCount - copied > Pages.copiedByWriterMax {
            // Readers need the pages of earlier commits.
            needsReadersToEnd = isLong
        } else if isDue || isLong || checkpointsInRow < Pages.checkpointsInRowMax {
            checkpointsInRow = isDue ? 1 : checkpointsInRow + 1
            begunPageCount = pageCount
            try beginCheckpoint(connection)
        }
    }

    private func beginCheckpoint(_ connection: Connection) throws(SQLError) {
        do throws(SQLError) { try checkpointer.open(store) } catch {
            // Without descriptors or memory for a connection, the writer copies the pages itself.
            try connection.checkpoint(.passive)
            return noteCheckpoint()
        }
        try checkpointer.begin()
        noteCheckpoint()
    }

    private func noteCheckpoint() { store.checkpointCount.add(1, ordering: .relaxed) }

    private func restartLog(
        _ connection: Connection, _ kind: Connection.Checkpoint
    ) throws(SQLError) {
        try connection.checkpoint(kind)
        noteCheckpoint()
        wasRestarted()
        // The transactions that made the log so long filled the page cache.
        connection.releaseMemory()
    }
}
