import LarderModel
import LarderSQL

// The maintenance of the log, which the writer performs between groups of writes.
extension Writer {
    var needsMaintenance: Bool {
        guard case .working = storage, !store.options.isReadOnly,
            let connection = statements?.connection
        else { return false }
        return log.needsMaintenance(connection)
    }

    var needsReadersToEnd: Bool { log.needsReadersToEnd }

    var logByteCount: Int { store.logByteCount }

    func performMaintenance() {
        guard needsMaintenance || needsReadersToEnd, let connection = statements?.connection
        else { return }
        DatabaseMemory.useReserve()
        log.lengthen(connection)
        progress.advance()
        defer { progress.advance() }
        do throws(SQLError) { try log.checkpoint(connection) } catch { recordFailure(error) }
    }
}
