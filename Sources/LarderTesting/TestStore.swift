public import FoundationEssentials
public import LarderClient
import LarderQuery

/// A store for tests, with its server in this process and a client connected to it.
///
///     let store = try TestStore(schema)
///     let ann = try store.client.insert("Student", ["name": "Ann"])
///
/// It runs the code of `larderd`, and its client is like any other. The store is removed when the
/// object and its clients are released.
public final class TestStore: Sendable {
    /// Where the store is kept.
    public enum Location: Sendable {
        /// In the memory file system. A commit does not wait for a disk.
        case memory
        /// In a new folder under the system's folder for temporary files, synced as by `larderd`.
        case temporaryFolder
    }

    /// How a test store is made, and what is the same in every run of a test.
    public struct Options: Sendable {
        public var location = Location.memory
        /// The identifier of the store, which is part of its objects' identifiers: with one, equal
        /// tests make equal URIs. Keys are always the same: they begin at 1. nil is a random one.
        public var identifier: UUID?
        /// The clock of the history and of `now()`; nil is the system's.
        public var clock: TestClock?
        /// The options of ``TestStore/client``.
        public var client = StoreClient.Options()

        public init() {}
    }

    /// The client of most tests.
    public let client: StoreClient
    private let server: TestServer

    /// - Throws: `malformedSchema` for a pattern or an expression of the schema that is not valid;
    ///   `storageFailed`, `storageFull`, `resourceExhausted`.
    public init(_ schema: Schema, _ options: Options = Options()) throws(LarderError) {
        server = try TestServer(schema, options)
        client = try server.connect(options.client)
    }

    /// A store for the schema of a schema file's text.
    ///
    /// - Throws: `malformedSchema` with all problems, and as the other initializer does.
    public convenience init(
        schemaFile text: String, _ options: Options = Options()
    ) throws(LarderError) {
        let schema: Schema
        do throws(SchemaError) {
            schema = try SchemaFile.schema(parsing: text)
        } catch {
            throw error.larderError
        }
        try self.init(schema, options)
    }

    /// Another connection to the store, as of another process.
    ///
    /// - Throws: `unavailable` while the store is stopped, `schemaMismatch`.
    public func connect(
        _ options: StoreClient.Options = StoreClient.Options()
    ) throws(LarderError) -> StoreClient {
        try server.connect(options)
    }

    /// Stops the server gracefully. Its clients lose their connections and cannot reconnect;
    /// ``connect(_:)`` makes new ones after ``start()``.
    ///
    /// - Throws: `unsupported` for a store in memory, which would be lost.
    public func stop() throws(LarderError) {
        guard path != nil else {
            throw LarderError(
                .unsupported, "a store in memory cannot be stopped and started",
                hint: "use the location temporaryFolder")
        }
        server.stop()
    }

    /// Starts a server on the store again after ``stop()``.
    ///
    /// - Throws: as opening a store does.
    public func start() throws(LarderError) { try server.start() }

    /// The path of the store's file; nil for a store in memory.
    public var path: String? { server.path }
}
