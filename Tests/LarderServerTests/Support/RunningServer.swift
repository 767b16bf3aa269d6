import Glibc
import LarderModel
import LarderServer
import Logging
import Testing

/// A server with a fake store, whose connections are socket pairs.
struct RunningServer {
    let store: FakeStore
    let server: Server

    init(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        spoolFolder: String = "/tmp", limits adjust: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        store = try FakeStore(options)
        var serverOptions = Server.Options(name: "test")
        serverOptions.spoolFolder = spoolFolder
        adjust(&serverOptions.limits)
        if let eventLoops { serverOptions.eventLoopCount = eventLoops }
        server = try Server(
            backend: store, options: serverOptions, logger: .silent)
    }

    var schemaText: String { store.storeDescription.schema.canonicalText }

    /// A connection without a handshake.
    func connect() throws -> Peer {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        try server.serve(connectedSocket: ends[1])
        return Peer(ends[0])
    }

    /// A connection with a handshake.
    func ready() throws -> Peer {
        let peer = try connect()
        try peer.shakeHands()
        return peer
    }

    /// Runs a test body, and stops the server in any case.
    static func run(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        spoolFolder: String = "/tmp", limits: (inout ServerLimits) -> Void = { _ in },
        _ body: (RunningServer) throws -> Void
    ) async throws {
        let running = try RunningServer(
            options, eventLoops: eventLoops, spoolFolder: spoolFolder, limits: limits)
        let outcome = Result { try body(running) }
        await running.server.stop()
        try outcome.get()
    }
}
