extension Writer {
    private enum Pages {
        /// The log grows by this many pages between two checkpoints: 4 MiB.
        static let betweenCheckpoints = 1_000
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
