import CSQLite
import LarderModel

extension Writer {
    /// Whether the storage can be trusted with a write.
    enum Health {
        case sound
        /// It failed; a trial has to succeed first.
        case suspect(SQLiteError)
        /// Nothing that this process can do helps.
        case lost(LarderError)
    }

    /// Remembers what a failure of the storage means for the writes to come.
    func noteFailure(_ error: SQLiteError) {
        switch error.code {
        case SQLITE_CORRUPT, SQLITE_NOTADB: health = .lost(error.larderError)
        default: health = .suspect(error)
        }
    }

    /// Why nothing can be written now; nil if it can. After a failure it first tries the storage,
    /// so that the store recovers by itself once there is room, or the device works again.
    func refusal() -> LarderError? {
        if store.options.isReadOnly {
            return LarderError(.readOnly, "the store was opened for reading only")
        }
        switch health {
        case .sound: return nil
        case .lost(let failure): return refused(failure)
        case .suspect(let failure):
            do throws(SQLiteError) {
                // A connection that met an I/O error may hold pages that never reached the disk.
                if failure.code == SQLITE_IOERR { try reopen() }
                try tryStorage()
                health = .sound
                return nil
            } catch {
                rollBack()
                noteFailure(error)
                return refused(error.larderError)
            }
        }
    }

    private func refused(_ failure: LarderError) -> LarderError {
        LarderError(
            failure.code, "the store takes no writes until its storage works: \(failure.message)",
            hint: failure.hint)
    }

    /// The new connection is open before the old one closes, so the process keeps its lock.
    private func reopen() throws(SQLiteError) {
        rollBack()
        try use(try store.reopenWriterConnection())
    }

    /// Commits a transaction that changes nothing, but has to reach the disk.
    private func tryStorage() throws(SQLiteError) {
        guard let connection = statements?.connection else { return }
        rollBack()
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(Catalog.probeText)
        try connection.execute("COMMIT")
    }
}
