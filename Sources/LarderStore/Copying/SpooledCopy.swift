import FoundationEssentials
import Glibc
import LarderFiles
import LarderModel
import LarderQuery
import LarderSQL

/// A copy of a store in a file without a name.
///
/// No other process can open the file, and it disappears with the object or the process. It is
/// never synced, because its reader stores it elsewhere.
final class SpooledCopy: StoreCopy {
    private let store: Store
    private let connection: Connection
    private let descriptor: Int32
    /// nil after the last step.
    private var pages: PageCopy?
    private var pageByteCount = 0
    private var copiedByteCount = 0

    /// - Parameter source: The connection that commits, or any if there is no writer.
    init(of source: Connection, _ store: Store, in folder: String) throws(LarderError) {
        let path = "\(folder)/.larder-backup-\(UUID().uuidString)"
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        // SQLite can open a file by its path only.
        defer { unlink(path) }
        do throws(SQLError) {
            let connection = try StoreConnection.open(path)
            try StoreConnection.configureCopy(connection)
            pages = try PageCopy(from: source, to: connection)
            pageByteCount = Int(try source.integer("PRAGMA page_size") ?? 0)
            copiedByteCount =
                Int(try source.integer("PRAGMA page_count") ?? 0) * pageByteCount
            self.connection = connection
        } catch {
            close(descriptor)
            throw Self.translated(error)
        }
        self.descriptor = descriptor
        self.store = store
    }

    deinit { close(descriptor) }

    // MARK: Copying

    /// SQLite copies so many pages between two looks at the clock.
    private static let pagesPerLook = 16

    var byteCount: Int { copiedByteCount }

    var bytesLeft: Int {
        guard let pages else { return 0 }
        return pages.pageCount == 0 ? copiedByteCount : pages.pagesLeft * pageByteCount
    }

    func step(timeMax: Duration) throws(LarderError) -> Bool {
        guard let pages else { return true }
        let end = ContinuousClock.now + timeMax
        do throws(SQLError) {
            repeat {
                guard !pages.isAbandoned else { throw SQLError(.other, Self.abandoned.message) }
                let isLast = try pages.step(pages: Self.pagesPerLook)
                copiedByteCount = pages.pageCount * pageByteCount
                guard isLast else { continue }
                pages.finish()
                self.pages = nil
                return true
            } while ContinuousClock.now < end
            return false
        } catch {
            throw pages.isAbandoned ? Self.abandoned : Self.translated(error)
        }
    }

    func cancel() {
        pages?.finish()
        pages = nil
    }

    // MARK: The complete copy

    func verify(budget: ReadBudget) throws(LarderError) -> Int64 {
        precondition(pages == nil, "the copy is complete")
        try removeLogMode()
        do throws(ReadFailure) {
            let reader = try reader()
            let report = try reader.check(budget: budget, wholeFile: true)
            guard report.findings.isEmpty else {
                throw .failed(
                    LarderError(
                        .storageFailed, "the store is damaged, and a backup of it would be too",
                        hint: "restore an earlier backup, or copy the store's file",
                        problems: report.findings.map(\.description)))
            }
            return try reader.lastTransaction()
        } catch {
            throw error.larderError
        }
    }

    private func reader() throws(ReadFailure) -> Reader {
        do throws(LarderError) {
            do throws(SQLError) { try StoreConnection.configureReader(connection) } catch {
                throw error.larderError
            }
            return try Reader(store, on: connection)
        } catch {
            throw .failed(error)
        }
    }

    /// Makes the copy one file that is complete without a log. SQLite would create a log next to it
    /// otherwise, where this file has no name.
    private func removeLogMode() throws(LarderError) {
        let bytes = try read(DatabaseHeader.byteCount, at: 0)
        guard let header = DatabaseHeader(bytes) else {
            throw LarderError(.storageFailed, "the copy of the store has no header")
        }
        let changed = header.withoutLog
        let count = changed.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == changed.count else { throw Self.failure(errno) }
        connection.releaseMemory()
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(errno) }
        copiedByteCount = Int(status.st_size)
    }

    func read(_ count: Int, at offset: Int) throws(LarderError) -> [UInt8] {
        try NewFile.read(count, at: offset, of: descriptor, "the copy of the store")
    }

    // MARK: Errors

    private static let noSpace = LarderError(
        .storageFull, "there is no disk space for a copy of the store",
        hint: "free disk space where the store is")

    private static let abandoned = LarderError(
        .unavailable, "the storage of the store failed while the backup was made",
        hint: "make the backup again")

    private static func translated(_ error: SQLError) -> LarderError {
        let translated = error.larderError
        return translated.code == .storageFull ? noSpace : translated
    }

    private static func failure(_ reason: Int32) -> LarderError {
        if [ENOSPC, EDQUOT, EFBIG].contains(reason) { return noSpace }
        return LarderError(
            .storageFailed,
            "a copy of the store cannot be written (\(SystemError(code: reason).text))")
    }
}

extension Writer {
    func makeCopy(in folder: String) -> Result<any StoreCopy, LarderError> {
        guard let connection = statements?.connection else { return .failure(.writerClosed) }
        do throws(LarderError) {
            return .success(try SpooledCopy(of: connection, store, in: folder))
        } catch {
            return .failure(error)
        }
    }

    /// Undoes the transaction of a change that failed. If the store is being copied, the change has
    /// a savepoint, which is rolled back, and the transaction is committed without any change: a
    /// rollback would make the copy begin again, and clients whose saves fail could keep it from
    /// ever being completed.
    func undoFailedChange() {
        guard let statements, !statements.connection.autocommit else { return }
        guard statements.connection.isBeingCopied else { return rollBack() }
        do throws(SQLError) {
            try statements.statement(Texts.rollBackSet).run()
            try statements.statement(Texts.releaseSet).run()
            try statements.statement(Texts.commit).run()
        } catch {
            rollBack()
        }
    }
}
