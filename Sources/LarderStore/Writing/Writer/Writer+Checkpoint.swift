extension Writer {
    private enum Pages {
        /// The log grows by this many pages between two checkpoints: 4 MiB.
        static let betweenCheckpoints = 1_000
        /// A longer log has to restart from its beginning, which readers may prevent: 32 MiB.
        static let untilRestart = 8_000
        /// A log with more pages is truncated as soon as no reader needs it: 64 MiB.
        static let untilTruncation = 16_000
        /// A log with fewer pages is as long as they are: a few commits do not need more.
        static let untilLengthening = 8
        /// The file of a longer log gets room for as many pages as it has, and this many at least.
        static let addedMin = 64
    }

    var needsMaintenance: Bool {
        guard case .working = storage, !store.options.isReadOnly,
            let pageCount = statements?.connection.logPageCount
        else { return false }
        // After a complete checkpoint the log starts from its beginning.
        if pageCount < checkpointedPageCount { checkpointedPageCount = 0 }
        return isCheckpointDue(pageCount) || isLogFull(pageCount)
    }

    private func isCheckpointDue(_ pageCount: Int) -> Bool {
        if let archive = store.archive, archive.needsGeneration { return true }
        let interval = store.archive?.limits.pagesBetweenCheckpoints ?? Pages.betweenCheckpoints
        return pageCount - checkpointedPageCount >= interval
    }

    /// Whether the next commit would make the log's file longer, and not start from its beginning.
    /// It does not matter if commits are not synced, as in a store in memory.
    private func isLogFull(_ pageCount: Int) -> Bool {
        store.synchronous == .full && pageCount >= max(logRoom, Pages.untilLengthening)
            && pageCount < Pages.betweenCheckpoints
    }

    var logByteCount: Int { store.logByteCount }

    func performMaintenance() {
        guard needsMaintenance || needsReadersToEnd, let connection = statements?.connection
        else { return }
        DatabaseMemory.useReserve()
        let pageCount = connection.logPageCount
        // Where space is short, zeros in the log would take it from the file.
        if isLogFull(pageCount), DiskReserve(in: store.folder) == nil {
            logRoom = pageCount + max(pageCount, Pages.addedMin)
            // The next commit reports it if there is no space.
            try? connection.lengthenLog(toPages: logRoom)
        }
        guard needsReadersToEnd || isCheckpointDue(pageCount) else { return }
        progress.advance()
        defer { progress.advance() }
        do throws(SQLiteError) {
            guard try prepareArchive(connection) else { return }
            checkpointedPageCount = pageCount
            needsReadersToEnd = false
            try connection.checkpoint(.passive)
            guard pageCount >= Pages.untilRestart else { return }
            // A reader that began before the checkpoint still reads the log. One that begins now
            // reads the file alone.
            try connection.checkpoint(pageCount >= Pages.untilTruncation ? .truncate : .restart)
            checkpointedPageCount = 0
            logRoom = 0
            // The transactions that made the log so long filled the page cache.
            connection.releaseMemory()
        } catch {
            // A busy log means that a reader still needs it.
            if error.condition == .busy { needsReadersToEnd = true } else { recordFailure(error) }
        }
    }
}
