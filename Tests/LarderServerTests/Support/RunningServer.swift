import Glibc
import LarderModel
import LarderServer
import Logging
import Testing

/// A server on a fake store, reached over socket pairs.
struct RunningServer {
    let store: FakeStore
    let server: Server

    init(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        limits adjust: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        store = try FakeStore(options)
        var serverOptions = Server.Options(name: "test")
        adjust(&serverOptions.limits)
        if let eventLoops { serverOptions.eventLoopCount = eventLoops }
        server = try Server(
            backend: store, options: serverOptions,
            logger: .silent)
    }

    var schemaText: String { store.storeDescription.schema.canonicalText }

    /// A connection that has not shaken hands.
    func connect() throws -> Peer {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        try server.serve(connectedSocket: ends[1])
        return Peer(ends[0])
    }

    func ready() throws -> Peer {
        let peer = try connect()
        try peer.shakeHands()
        return peer
    }

    /// Runs a test body and stops the server whatever comes of it.
    static func run(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        limits: (inout ServerLimits) -> Void = { _ in },
        _ body: (RunningServer) throws -> Void
    ) async throws {
        let running = try RunningServer(options, eventLoops: eventLoops, limits: limits)
        let outcome = Result { try body(running) }
        await running.server.stop()
        try outcome.get()
    }
}
