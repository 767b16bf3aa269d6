extension Writer {
    private enum Pages {
        /// The log grows by this many pages between two checkpoints: 4 MiB.
        static let betweenCheckpoints = 1_000
        /// A longer log has to restart from its beginning, which readers may prevent: 32 MiB.
        static let untilRestart = 8_000
        /// A log with more pages is truncated as soon as no reader needs it: 64 MiB.
        static let untilTruncation = 16_000
    }

    var needsMaintenance: Bool {
        guard case .working = storage, !store.options.isReadOnly,
            let pageCount = statements?.connection.logPageCount
        else { return false }
        if let archive = store.archive, archive.needsGeneration { return true }
        // After a complete checkpoint the log starts from its beginning.
        if pageCount < checkpointedPageCount { checkpointedPageCount = 0 }
        let interval = store.archive?.limits.pagesBetweenCheckpoints ?? Pages.betweenCheckpoints
        return pageCount - checkpointedPageCount >= interval
    }

    var logByteCount: Int { store.logByteCount }

    func performMaintenance() {
        guard needsMaintenance || needsReadersToEnd, let connection = statements?.connection
        else { return }
        let pageCount = connection.logPageCount
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
            // The transactions that made the log so long filled the page cache.
            connection.releaseMemory()
        } catch {
            // A busy log means that a reader still needs it.
            if error.condition == .busy { needsReadersToEnd = true } else { recordFailure(error) }
        }
    }
}
