import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

/// A store in one SQLite file that this process owns.
///
/// It has what is fixed while the store is open: the file, its schema, and the layout of its
/// tables. Connections belong to their users: one to the writer, one to each reader. The owner of a
/// connection also holds the store, because the claim on the file ends with the store.
package final class Store: StoreBackend {
    package let storeDescription: StoreDescription
    let layout: Layout
    private let formerSchemas: FormerSchemas
    let path: String
    /// The folder of the store's file. Other data of the server that needs disk space may go there.
    package let folder: String
    let options: StoreOptions

    let file: OpenFile
    /// The write-ahead log, which exists as long as the writer's connection.
    private let log: WatchedFile
    /// A warning for the administrator about the file that was opened; nil if there is none.
    package let warning: String?
    /// The folder of a store in memory; nil for a store on disk.
    let memory: MemoryFolder?
    /// The file of a working copy, which is removed with the object; nil for any other store.
    let workingFile: WorkingFile?
    /// Keeps the process's lock while all other connections are closed, before a migration.
    let lockHolder = Mutex<LockHolder?>(nil)

    /// A connection that is never used, only closed.
    ///
    /// Sendable unchecked: nothing is done with it.
    struct LockHolder: @unchecked Sendable { let connection: Connection }
    /// The connection that opened the file, until the writer takes it. It holds the process's lock.
    private let writerConnection: Mutex<Connection?>
    let stamps = ChangeStamps()
    /// That of the prepared statements of all connections.
    let statementMemory = MemoryCounter()
    let formerValueCounters = FormerValues.Counters()
    /// The checkpoints of the log since the store was opened.
    let checkpointCount = Atomic(0)
    /// nil if the store is not archived.
    let archive: Archive?

    init(
        _ opened: sending OpenedStore, path: String, options: StoreOptions, memory: MemoryFolder?,
        archive: Archive? = nil, workingFile: WorkingFile? = nil
    ) {
        self.archive = archive
        self.workingFile = workingFile
        let schema = opened.schema
        storeDescription = StoreDescription(
            identifier: opened.identifier, schema: schema, fingerprint: schema.fingerprint,
            isReadOnly: options.isReadOnly, historyEpoch: opened.historyEpoch,
            earlierEpochs: opened.earlierEpochs)
        layout = Layout(schema, formerNames: opened.formerNames)
        formerSchemas = FormerSchemas(opened.formerSchemas)
        file = opened.file
        log = opened.log
        warning = opened.warning
        self.path = path
        folder = OpenFile.folder(of: path)
        self.options = options
        self.memory = memory
        writerConnection = Mutex(opened.connection)
    }

    /// Opens the store in a file, or creates it there if the file is missing or empty.
    ///
    /// - Parameters:
    ///   - schema: The schema of the store; nil uses the schema of an existing store.
    ///   - archive: How the changes are archived; nil if they are not. Not for a store that is
    ///     opened for reading only.
    ///   - progress: Called before each step of a migration.
    ///   - reportArchive: Called for what happens to the archive, on any thread.
    /// - Throws: `notAStore`, `storeTooNew`, `schemaMismatch` with every difference,
    ///   `migrationRefused` with every reason, `storeInUse` naming the process that holds the file,
    ///   `malformedSchema` for a pattern that does not compile, or a failure of the storage or of
    ///   the archive's folder.
    package static func open(
        path: String, schema: Schema?, options: StoreOptions = StoreOptions(),
        archive: ArchiveOptions? = nil,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        reportArchive: @escaping @Sendable (ArchiveEvent) -> Void = { _ in }
    ) throws(LarderError) -> Store {
        try open(
            path: path, schema: schema, options: options, archive: archive,
            archiveLimits: Archive.Limits(), progress: progress, reportArchive)
    }

    static func open(
        path: String, schema: Schema?, options: StoreOptions, archive: ArchiveOptions?,
        archiveLimits: Archive.Limits,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
        _ report: @escaping @Sendable (ArchiveEvent) -> Void
    ) throws(LarderError) -> Store {
        let opened = try OpenedStore.open(
            path: path, schema: schema, options: options,
            synchronous: options.synchronous.setting, watch: MigrationWatch(progress: progress))
        if !options.isReadOnly { removeAbandonedCopy(of: path) }
        let archive = try archive.map { (archive) throws(LarderError) in
            try Archive.open(
                archive, store: opened, path: path, limits: archiveLimits, report: report)
        }
        return Store(opened, path: path, options: options, memory: nil, archive: archive)
    }

    /// Creates a store in memory, which ends with the process.
    package static func inMemory(
        schema: Schema, options: StoreOptions = StoreOptions()
    ) throws(LarderError) -> Store {
        let memory = try MemoryFolder()
        let opened = try OpenedStore.open(
            path: memory.storePath, schema: schema, options: options, synchronous: .off)
        return Store(opened, path: memory.storePath, options: options, memory: memory)
    }

    package func formerView(version: String, fingerprint: String) -> (any StoreView)? {
        formerSchemas.view(version: version, fingerprint: fingerprint, of: self)
    }

    package func limitedView(
        _ rights: Rights, for former: (any StoreView)?
    ) throws(LarderError) -> any StoreView {
        try LimitedView(rights, of: self, for: former)
    }

    package func makeWriter() throws(LarderError) -> any StoreWriter {
        guard let connection = writerConnection.withLock({ $0.take() }) else {
            preconditionFailure("a store has one writer")
        }
        return try Writer(self, connection)
    }

    package func makeCopy(in folder: String) throws(LarderError) -> any StoreCopy {
        try SpooledCopy(of: openReadConnection(), self, in: folder)
    }

    /// The size of the write-ahead log on disk; 0 if there is none.
    package var logByteCount: Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    /// The size of the file on disk, without the log.
    var fileByteCount: Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    package func isCurrent(_ stamp: ObjectStamp) -> Bool { stamps.isCurrent(stamp) }

    /// A connection for reading, with the collation that the tables need. It never checkpoints.
    func openReadConnection() throws(LarderError) -> Connection {
        do throws(SQLError) {
            let connection = try openConnection()
            connection.disableCheckpointOnClose()
            try StoreConnection.configureReader(connection)
            connection.readBlocks()
            return connection
        } catch {
            throw error.larderError
        }
    }

    /// A connection of the checkpointer. The writer's connection is the last to close, because it
    /// removes the log.
    func openCheckpointConnection() throws(SQLError) -> Connection {
        let connection = try openConnection()
        connection.disableCheckpointOnClose()
        try StoreConnection.configureCheckpoints(connection, synchronous: synchronous)
        // A connection that has read nothing does not know the log.
        _ = try connection.integer("PRAGMA user_version")
        return connection
    }

    /// A new connection for the writer after its own has failed.
    func reopenWriterConnection() throws(SQLError) -> Connection {
        let connection = try openConnection()
        try StoreConnection.configureWriter(
            connection, synchronous: synchronous)
        return connection
    }

    /// SQLite opens the file by its path, where another file may be by now.
    private func openConnection() throws(SQLError) -> Connection {
        try file.watched.checkPath()
        let connection = try StoreConnection.open(path)
        connection.waitForLocks()
        connection.setObjectBytesMax(options.objectBytesMax)
        try file.check(connection)
        return connection
    }

    deinit {
        // Only if the writer was not closed.
        archive?.abandon()
    }

    /// Checks before a commit that it goes to files that will be found again.
    func checkFiles() throws(SQLError) {
        try file.watched.check()
        try log.check()
    }
}

extension StoreOptions.Synchronous {
    var setting: StoreConnection.Synchronous {
        switch self {
        case .full: .full
        case .normal: .normal
        }
    }
}
