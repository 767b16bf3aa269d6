internal import FoundationEssentials
internal import Glibc
internal import LarderClient
internal import LarderModel
internal import LarderServer
internal import LarderStore
internal import Logging
internal import Synchronization

/// The server of a store file in this process: that of `larderd`, at a socket next to the file.
final class StoreOwner: Sendable {
    /// The inode of the file.
    let inode: UInt64?
    private let server: Server

    /// The loop that all owners of the process share, as long as there are any.
    private static let sharedLoops = Mutex(WeakLoops())

    private struct WeakLoops { weak var loops: EventLoops? }

    /// A server that stops waits this long for its clients, which then find the next one.
    private static let stopTimeMax = Duration.seconds(1)

    /// Opens the file, or creates it, and serves it.
    ///
    /// A store with another schema is served as it is, and migrated by its clients.
    ///
    /// - Throws: `storeInUse` if another process has the file; the errors of opening a store;
    ///   `connectionFailed` if there can be no socket.
    init(path: String, schema: Schema, options: StoreFileOptions) throws(LarderError) {
        let ownerFile = try OwnerFile(claiming: path)
        let store = try Self.open(path, schema, options)
        var serverOptions = Server.Options(name: "larder")
        serverOptions.eventLoops = Self.loops()
        serverOptions.spoolFolder = store.folder
        serverOptions.limits.stopTimeMax = Self.stopTimeMax
        // A program waits for its own long reads, and competes with all others of the machine.
        serverOptions.limits.readNiceness = 0
        serverOptions.limits.acceptObjects(ofBytes: Limits.objectBytesMax)
        // The disk space of a save until it is stored is the program's own.
        serverOptions.limits.spoolBytes = SharedLimit(.max, userShare: 1)
        serverOptions.ownerFile = ownerFile
        inode = OwnerFile.inode(at: path)
        server = try Server(
            backend: store,
            listeningSockets: [StorePath.listeningSocket(for: path, mode: options.socketMode)],
            options: serverOptions,
            logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() })
        do throws(LarderError) {
            try server.listen()
        } catch {
            server.stopAndWait()
            throw error
        }
    }

    private static func open(
        _ path: String, _ schema: Schema, _ options: StoreFileOptions
    ) throws(LarderError) -> Store {
        let storeOptions = StoreOptions(synchronous: options.synchronous)
        do throws(LarderError) {
            return try Store.open(path: path, schema: schema, options: storeOptions)
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return try Store.open(path: path, schema: nil, options: storeOptions)
        }
    }

    private static func loops() -> EventLoops {
        sharedLoops.withLock { shared in
            if let loops = shared.loops { return loops }
            let loops = EventLoops()
            shared.loops = loops
            return loops
        }
    }

    /// A socket that is connected to the server.
    func connect() throws(LarderError) -> Connector.ConnectedSocket {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw LarderError(
                .resourceExhausted,
                "cannot create a socket pair: \(SystemError(code: errno).text)")
        }
        do throws(LarderError) {
            try server.serve(connectedSocket: ends[0])
        } catch {
            Glibc.close(ends[1])
            throw error
        }
        return Connector.ConnectedSocket(ends[1])
    }

    /// Stops gracefully, and returns when the file is closed.
    func stop() { server.stopAndWait() }
}
