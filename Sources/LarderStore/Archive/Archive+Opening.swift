import Dispatch
import FoundationEssentials
import LarderModel
import LarderSQL

extension Archive {
    /// Starts the archive of a store that has been opened, before anything is checkpointed.
    ///
    /// - Throws: `storeInUse` if another process uses the folder, `foreignIdentifier` if it has the
    ///   archive of another store, and errors of the folder.
    static func open(
        _ options: ArchiveOptions, store: OpenedStore, path: String, limits: Limits = Limits(),
        report: @escaping @Sendable (ArchiveEvent) -> Void
    ) throws(LarderError) -> Archive {
        let folder = ArchiveFolder(path: options.folder)
        _ = try folder.entries()
        let lock = try RawFile(locking: folder.path(of: ArchiveFolder.lockName))
        guard lock.lock() else {
            throw LarderError(
                .storeInUse, "another process archives to \(options.folder)",
                hint: "give each store a folder of its own (--archive)")
        }
        let archive = Archive(options, limits: limits, report: report)
        let connection = store.connection
        let identity: UInt64?
        let tail: HistoryTail
        let database: Connection
        do throws(SQLError) {
            identity = try connection.integer(Catalog.readArchive).map(UInt64.init(bitPattern:))
            let root = try connection.integer(Layout.rootOfTransactions) ?? 0
            let pageBytes = try connection.integer("PRAGMA page_size") ?? 0
            tail = HistoryTail(
                rootPage: UInt32(clamping: root), pageBytes: Int(pageBytes))
            database = try StoreConnection.open(path)
            database.waitForLocks()
            database.disableCheckpointOnClose()
        } catch {
            throw error.larderError
        }
        let start = try ArchiveStart(
            folder, store: store.identifier, epoch: store.historyEpoch,
            catalogIdentity: identity, path: path, logPath: connection.logPath)
        let worker = Confined(
            worker: try ArchiveWorker(
                archive, options, start, store: store.identifier, epoch: store.historyEpoch,
                logPath: connection.logPath, tail: tail, database: database, lock: lock))
        if start.continuation == nil, !start.entries.isEmpty {
            report(
                ArchiveEvent(
                    .information, "archive: a new generation is necessary, because \(start.reason)")
            )
        }
        DispatchQueue(label: "larder archive", qos: .utility).async { worker.worker.run() }
        return archive
    }

    /// Sendable unchecked: only the archive's thread uses the worker after it was started.
    private struct Confined: @unchecked Sendable {
        let worker: ArchiveWorker
    }
}
