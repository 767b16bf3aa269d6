import FoundationEssentials
import Glibc
import LarderClient
import LarderServer
import LarderStore
import Logging
import Synchronization

/// The server of a ``TestStore`` and the folder of its store. Both end with the object, which the
/// store and each client keep.
final class TestServer: Sendable {
    private let schema: Schema
    private let options: TestStore.Options
    /// The folder of a store on disk.
    private let folder: String?
    /// nil while it is stopped.
    private let running = Mutex<Server?>(nil)

    init(_ schema: Schema, _ options: TestStore.Options) throws(LarderError) {
        self.schema = schema
        self.options = options
        switch options.location {
        case .memory: folder = nil
        case .temporaryFolder: folder = try Self.makeFolder()
        }
        try start()
    }

    deinit {
        stop()
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The path of the store's file; nil for a store in memory.
    var path: String? { folder.map { "\($0)/test.store" } }

    func start() throws(LarderError) {
        try running.withLock { (running) throws(LarderError) in
            if running == nil { running = try makeServer() }
        }
    }

    func stop() { running.withLock { $0.take() }?.stopAndWait() }

    func connect(_ options: StoreClient.Options) throws(LarderError) -> StoreClient {
        let server = running.withLock { $0 }
        guard let server else {
            throw LarderError(.unavailable, "the store is stopped", hint: "start it with `start`")
        }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw LarderError(
                .resourceExhausted, "cannot create a socket pair: \(SystemError(code: errno).text)")
        }
        do throws(LarderError) {
            try server.serve(connectedSocket: ends[0])
        } catch {
            close(ends[1])
            throw error
        }
        return try StoreClient.adopt(connectedSocket: ends[1], options: options, keeping: self)
    }

    private func makeServer() throws(LarderError) -> Server {
        var storeOptions = StoreOptions()
        storeOptions.newIdentifier = options.identifier
        if let clock = options.clock { storeOptions.clock = { clock.now } }
        let store =
            if let path {
                try Store.open(path: path, schema: schema, options: storeOptions)
            } else {
                try Store.inMemory(schema: schema, options: storeOptions)
            }
        var serverOptions = Server.Options(name: "larder-testing")
        serverOptions.limits = ServerLimits(eventLoopCount: 1)
        return try Server(
            backend: store, options: serverOptions,
            logger: Logger(label: "larder-testing") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func makeFolder() throws(LarderError) -> String {
        let root = FileManager.default.temporaryDirectory.path
        var template = Array("\(root)/larder-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LarderError(
                .storageFailed,
                "cannot create a folder in \(root): \(SystemError(code: errno).text)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
