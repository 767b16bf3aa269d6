import Glibc
import LarderClient
import LarderModel
import LarderPrograms
import LarderServer
import LarderStore
import Logging

/// A server in this process for a store file, for `--store`.
///
/// It runs the same code as `larderd`. The client connects through a socket pair, which no other
/// process can reach. The server owns the store file until `stop`.
struct InProcessServer {
    private let server: Server

    /// Opens the store file, or creates it if a schema is given.
    init(storePath: String, schemaPath: String?) throws(LarderError) {
        let schema = try schemaPath.map { (path) throws(LarderError) in
            try SchemaDocument.read(InputFile(path))
        }
        let store = try Store.open(path: storePath, schema: schema)
        if let warning = store.warning { StandardError.write("warning: \(warning)\n") }
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
                .storageFailed, "cannot create a socket pair: \(SystemError(code: errno).text)")
        }
        try server.serve(connectedSocket: ends[0])
        return try StoreClient.adopt(connectedSocket: ends[1], options: options)
    }

    /// Shuts the server down gracefully, including the final checkpoint of the store.
    func stop() { server.stopAndWait() }
}
