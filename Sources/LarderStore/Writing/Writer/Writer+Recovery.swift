import LarderModel
import LarderSQL

extension Writer {
    /// Whether the store can be written.
    enum StorageState {
        case working
        /// A write failed. The storage has to pass a trial before the next write.
        case failed(SQLError)
        /// This process cannot repair the failure.
        case unusable(LarderError)
    }

    /// Records a failure of the storage, which affects all later writes.
    func recordFailure(_ error: SQLError) {
        if error.condition == .outOfMemory {
            statements?.removeAll()
            statements?.connection.releaseMemory()
        }
        switch error.condition {
        case .corrupt, .notADatabase: storage = .unusable(error.larderError)
        default: storage = .failed(error)
        }
    }

    /// The error of any write now; nil if the store can be written. After a failure it tries the
    /// storage first, so the store recovers once there is space, or the device works again.
    func writeError() -> LarderError? {
        DatabaseMemory.useReserve()
        if store.options.isReadOnly {
            return LarderError(.readOnly, "the store was opened for reading only")
        }
        switch storage {
        case .working: return nil
        case .unusable(let failure): return notWritable(failure)
        case .failed(let failure):
            do throws(SQLError) {
                // After an I/O error, a connection may have pages in memory that never reached the
                // disk.
                if failure.condition == .inputOutput { try reopen() }
                try tryStorage()
                storage = .working
                return nil
            } catch {
                rollBack()
                recordFailure(error)
                return notWritable(error.larderError)
            }
        }
    }

    private func notWritable(_ failure: LarderError) -> LarderError {
        LarderError(
            failure.code, "the store takes no writes until its storage works: \(failure.message)",
            hint: failure.hint)
    }

    /// Opens a new connection before the old one is closed, so that the process keeps its lock.
    private func reopen() throws(SQLError) {
        rollBack()
        log.closeCheckpointer()
        let connection = try store.reopenWriterConnection()
        statements?.connection.copyWatch.isReplaced = true
        try use(connection)
    }

    /// Commits a transaction that changes nothing, but has to reach the disk.
    private func tryStorage() throws(SQLError) {
        guard let connection = statements?.connection else { return }
        rollBack()
        try store.checkFiles()
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(Catalog.probeText)
        try connection.execute("COMMIT")
    }
}
