import Glibc
import LarderClient
import LarderModel
import LarderServer
import LarderStore
import Logging

/// A server of this process's own, for a store's file: the code that `larderd` runs, spoken to
/// through a pair of sockets that nobody else can reach. It owns the file while it lives.
struct PrivateServer {
    private let server: Server

    /// Opens the file; creates it if a schema is given.
    init(storePath: String, schemaPath: String?) throws(LarderError) {
        let schema = try schemaPath.map { (path) throws(LarderError) in
            try SchemaDocument.read(InputFile(path))
        }
        let store = try Store.open(path: storePath, schema: schema)
        var options = Server.Options(name: "larder")
        options.eventLoopCount = 1
        options.spoolFolder = store.folder
        server = try Server(
            backend: store, options: options,
            logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() })
    }

    func connect(_ options: StoreClient.Options) throws(LarderError) -> StoreClient {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw LarderError(
                .storageFailed, "no pair of sockets can be made: \(SystemError(code: errno).text)")
        }
        try server.serve(connectedSocket: ends[0])
        return try StoreClient.adopt(connectedSocket: ends[1], options: options)
    }

    /// Ends in order, with the store's final checkpoint.
    func stop() { server.stopAndWait() }
}
