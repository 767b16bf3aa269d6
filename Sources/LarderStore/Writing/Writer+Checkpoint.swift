import CSQLite

extension Writer {
    private enum Pages {
        /// The log grows by this much between two checkpoints: 4 MiB.
        static let betweenCheckpoints = 1_000
        /// A log longer than this is emptied as soon as no reader needs it: 64 MiB.
        static let untilTruncation = 16_000
    }

    var needsMaintenance: Bool {
        guard case .sound = health, !store.options.isReadOnly,
            let pageCount = statements?.connection.logPageCount
        else { return false }
        // After a complete checkpoint the log begins again from its start.
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
            // Readers in the way are no failure.
            if error.code != SQLITE_BUSY { noteFailure(error) }
        }
    }
}
