import Glibc
import LarderModel
import Logging
import TestSupport
import Testing

@testable import LarderServer

/// A server with a fake store, whose connections are socket pairs.
struct RunningServer {
    let store: FakeStore
    let server: Server

    init(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        spoolFolder: String = "/tmp", rights: MigrationRights = MigrationRights(),
        logger: Logger = .silent, limits adjust: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        store = try FakeStore(options)
        var serverOptions = Server.Options(name: "test")
        serverOptions.spoolFolder = spoolFolder
        serverOptions.migrationRights = rights
        if let eventLoops { serverOptions.limits = ServerLimits(eventLoopCount: eventLoops) }
        adjust(&serverOptions.limits)
        server = try Server(
            backend: store, options: serverOptions, logger: logger)
    }

    var schemaText: String { store.storeDescription.schema.canonicalText }

    /// A connection without a handshake.
    ///
    /// - Parameter user: The user of the peer; nil for that of the test.
    func connect(as user: UInt32? = nil) throws -> Peer {
        try Self.connect(to: server, as: user)
    }

    static func connect(to server: Server, as user: UInt32? = nil) throws -> Peer {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        try server.serve(
            connectedSocket: ends[1], as: user.map { PeerCredentials(userIdentifier: $0) })
        return Peer(ends[0])
    }

    /// A connection with a handshake.
    func ready(as user: UInt32? = nil) throws -> Peer {
        let peer = try connect(as: user)
        try peer.shakeHands()
        return peer
    }

    struct NotReached: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns when a number in the records of the store has this value.
    func wait(
        until path: KeyPath<FakeStore.Records.State, Int> & Sendable, is number: Int
    ) throws {
        guard eventually({ store.records[path] == number }) else {
            throw NotReached(
                description: "\(path) is \(store.records[path]) after minutes, not \(number)")
        }
    }

    /// Runs a test body, and stops the server in any case.
    static func run(
        _ options: FakeStore.Options = FakeStore.Options(), eventLoops: Int? = nil,
        spoolFolder: String = "/tmp", logger: Logger = .silent,
        limits: (inout ServerLimits) -> Void = { _ in },
        _ body: (RunningServer) throws -> Void
    ) async throws {
        let running = try RunningServer(
            options, eventLoops: eventLoops, spoolFolder: spoolFolder, logger: logger,
            limits: limits)
        let outcome = Result { try body(running) }
        await running.server.stop()
        try outcome.get()
    }
}

/// The store of a server that has stopped.
struct FormerStore {
    private weak var store: FakeStore?

    init(_ running: RunningServer) { store = running.store }

    /// Waits until nothing keeps the store: a program may then open its file again.
    func expectRelease() {
        #expect(eventually { store == nil }, "the server has stopped and keeps its store")
    }
}
