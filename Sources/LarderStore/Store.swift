import FoundationEssentials
public import LarderModel
import Synchronization

/// A store in one SQLite file that this process owns.
///
/// It holds what is fixed while the store is open: where the file is, its schema, how objects are
/// laid out in tables. Connections belong to those who use them: one to the writer, one to each
/// reader. Whoever holds a connection holds the store too, since the claim on the file ends with
/// it.
public final class Store: StoreBackend {
    public let storeDescription: StoreDescription
    let layout: Layout
    let path: String
    let options: StoreOptions

    private let file: OpenFile
    /// The folder of a store in memory; nil for a store on disk.
    private let memory: MemoryFolder?
    /// The connection that opened the file, until the writer takes it. It keeps the process's lock.
    private let writerConnection: Mutex<Connection?>
    let marks = ChangeMarks()

    init(
        _ opened: sending OpenedStore, path: String, options: StoreOptions, memory: MemoryFolder?
    ) {
        let schema = opened.schema
        storeDescription = StoreDescription(
            identifier: opened.identifier, schema: schema, fingerprint: schema.fingerprint,
            isReadOnly: options.isReadOnly)
        layout = Layout(schema)
        file = opened.file
        self.path = path
        self.options = options
        self.memory = memory
        writerConnection = Mutex(opened.connection)
    }

    /// Opens the store in a file, or creates it there if the file is missing or empty.
    ///
    /// - Parameter schema: What the store holds; nil takes the schema that an existing store has.
    /// - Throws: `notAStore`, `storeTooNew`, `schemaMismatch` with every difference, `storeInUse`
    ///   naming the process that holds the file, `malformedSchema` for a pattern that does not
    ///   compile, or a failure of the storage.
    public static func open(
        path: String, schema: Schema?, options: StoreOptions = StoreOptions()
    ) throws(LarderError) -> Store {
        let opened = try OpenedStore.open(
            path: path, schema: schema, isReadOnly: options.isReadOnly,
            synchronous: options.synchronous.rawValue)
        return Store(opened, path: path, options: options, memory: nil)
    }

    /// Creates a store that lives in memory and ends with the process.
    public static func inMemory(schema: Schema) throws(LarderError) -> Store {
        let memory = try MemoryFolder()
        let opened = try OpenedStore.open(
            path: memory.storePath, schema: schema, isReadOnly: false, synchronous: "off")
        return Store(opened, path: memory.storePath, options: StoreOptions(), memory: memory)
    }

    public func makeWriter() throws(LarderError) -> any StoreWriter {
        guard let connection = writerConnection.withLock({ $0.take() }) else {
            preconditionFailure("a store has one writer")
        }
        return try Writer(self, connection)
    }

    /// The folder of the store's file. Other data of the server that needs disk space may go there.
    public var folder: String { OpenFile.folder(of: path) }

    public func isCurrent(_ mark: ObjectMark) -> Bool { marks.isCurrent(mark) }

    /// A connection that reads and never writes, with the functions that tables need. It leaves the
    /// log alone: the writer's connection alone checkpoints.
    func openReadConnection() throws(LarderError) -> Connection {
        do throws(SQLiteError) {
            let connection = try StoreConnection.open(path, createIfMissing: false)
            connection.disableCheckpointOnClose()
            try StoreConnection.configureReader(connection)
            return connection
        } catch {
            throw error.larderError
        }
    }

    /// A fresh connection for the writer, whose own has failed.
    func reopenWriterConnection() throws(SQLiteError) -> Connection {
        let connection = try StoreConnection.open(
            path, createIfMissing: false, synchronous: synchronousWord)
        try StoreConnection.configureWriter(connection, synchronous: synchronousWord)
        return connection
    }

    private var synchronousWord: String { memory == nil ? options.synchronous.rawValue : "off" }
}
