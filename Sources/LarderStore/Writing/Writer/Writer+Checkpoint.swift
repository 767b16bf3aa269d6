extension Writer {
    private enum Pages {
        /// The log grows by this many pages between two checkpoints: 16 MiB. The writer waits for
        /// the disk during a checkpoint, so few large ones cost less than many small ones, which
        /// write the same pages again and again. Readers look up the first 4,062 pages of the log
        /// in one hash table.
        static let betweenCheckpoints = 4_000
        /// A log with more pages is truncated as soon as no reader needs it: 64 MiB.
        static let untilTruncation = 16_000
    }

    var needsMaintenance: Bool {
        guard case .working = storage, !store.options.isReadOnly,
            let pageCount = statements?.connection.logPageCount
        else { return false }
        // After a complete checkpoint the log starts from its beginning.
        if pageCount < checkpointedPageCount { checkpointedPageCount = 0 }
        return pageCount - checkpointedPageCount >= Pages.betweenCheckpoints
    }

    func performMaintenance() {
        guard needsMaintenance, let connection = statements?.connection else { return }
        let pageCount = connection.logPageCount
        do throws(SQLiteError) {
            checkpointedPageCount = pageCount
            try connection.checkpoint(.passive)
            guard pageCount >= Pages.untilTruncation else { return }
            try connection.checkpoint(.truncate)
            checkpointedPageCount = 0
        } catch {
            // A busy log means that a reader still needs it.
            if error.condition != .busy { recordFailure(error) }
        }
    }
}
