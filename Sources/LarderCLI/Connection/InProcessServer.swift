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
/// process can reach; only the programs of a migration's stages connect to a socket in a private
/// folder. The server owns the store file until `stop`.
struct InProcessServer {
    private let server: Server

    /// Opens the store file, or creates it if a schema is given.
    init(storePath: String, schemaPath: String?) throws(LarderError) {
        let schema = try schemaPath.map { (path) throws(LarderError) in
            try SchemaDocument.read(InputFile(path))
        }
        try self.init(storePath: storePath, schema: schema)
    }

    /// - Parameters:
    ///   - warns: Whether a warning about the file is printed.
    ///   - limits: Others than the usual ones, if this process is the only client.
    init(
        storePath: String, schema: Schema?, listeningSockets: [ListeningSocket] = [],
        warns: Bool = true, limits: ServerLimits = ServerLimits(eventLoopCount: 1)
    ) throws(LarderError) {
        // Other programs do not find this server, but do not open the file either.
        let ownerFile = try OwnerFile.claimIfPossible(storePath, isAnnounced: false)
        let store = try Store.open(path: storePath, schema: schema)
        if warns, let warning = store.warning { StandardError.write("warning: \(warning)\n") }
        var options = Server.Options(name: "larder")
        options.limits = limits
        // A program that has opened the file may have stored them.
        options.limits.acceptObjects(ofBytes: Limits.objectBytesMax)
        // There are no other users to protect, and --timeout limits each request.
        options.limits.readTimeMax = .seconds(86_400)
        options.limits.checkTimeMax = .seconds(86_400)
        options.spoolFolder = store.folder
        options.ownerFile = ownerFile
        server = try Server(
            backend: store, listeningSockets: listeningSockets, options: options,
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

    // MARK: With a socket

    /// Serves a store file at a socket in a folder of its own while the closure runs.
    static func serve<Result>(
        _ storePath: String, _ body: (_ socket: String) throws -> Result
    ) throws -> Result {
        let folder = try TemporaryFolder.make(for: "a socket")
        let path = "\(folder)/socket"
        defer {
            unlink("\(path).lock")
            rmdir(folder)
        }
        let server = try InProcessServer(
            storePath: storePath, schema: nil, listeningSockets: [ListeningSocket(path: path)]
        ).server
        defer { server.stopAndWait() }
        try server.listen()
        return try body(path)
    }
}
