import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Synchronization
import Testing

@testable import LarderClient

/// A server that runs a test's script for each connection, in a thread of its own, with the
/// connection's number from 1.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (Peer, Int) throws -> Void

    let socketPath: TemporarySocketPath
    private let listener: Int32
    private let script: Script
    private let state = Mutex(State())

    private struct State {
        var connectionCount = 0
        var isStopped = false
        var peers: [Peer] = []
    }

    /// - Parameter socketPath: The path to listen at; by default a new one.
    init(at socketPath: TemporarySocketPath? = nil, _ script: @escaping Script) throws {
        self.socketPath = socketPath ?? TemporarySocketPath()
        self.script = script
        listener = try self.socketPath.listen(backlog: 64)
        try BackgroundThread.start { self.acceptConnections() }
    }

    var path: String { socketPath.path }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Not closed before, because `stop` may be called again and must not shut down another
    /// socket that has received the same descriptor.
    deinit { close(listener) }

    /// Accepts no more connections and ends the open ones.
    func stop() {
        let peers = state.withLock { state in
            state.isStopped = true
            return state.peers
        }
        unlink(path)
        shutdown(listener, Int32(SHUT_RDWR))
        for peer in peers { peer.close() }
    }

    private func acceptConnections() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            let peer = Peer(descriptor: descriptor)
            let number = state.withLock { state -> Int? in
                guard !state.isStopped else { return nil }
                state.connectionCount += 1
                state.peers.append(peer)
                return state.connectionCount
            }
            guard let number else {
                peer.close()
                continue
            }
            serve(peer, number)
        }
    }

    private func serve(_ peer: Peer, _ number: Int) {
        do {
            try BackgroundThread.start { [self] in
                do {
                    try script(peer, number)
                } catch is Peer.Gone {
                    // The test checks the client's reaction.
                } catch {
                    Issue.record(error)
                }
                peer.close()
                state.withLock { $0.peers.removeAll { $0 === peer } }
            }
        } catch {
            Issue.record(error)
        }
    }
}

/// The server's end of a connection, for a script that runs in one thread.
///
/// Safe to share: only the script's thread reads and writes; other threads only close.
final class Peer: @unchecked Sendable {
    private let descriptor: Int32
    private let codec = WireCodec()
    private var splitter = FrameSplitter(frameBytesMax: Limits.frameBytesMax)
    private var piece = [UInt8](repeating: 0, count: 64 << 10)

    init(descriptor: Int32) {
        self.descriptor = descriptor
        // A test that fails must end.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    }

    deinit { Glibc.close(descriptor) }

    /// Receives the handshake and replies to it.
    @discardableResult
    func greet(_ welcome: Welcome = .sample) throws -> Hello {
        let envelope = try receiveFirst()
        guard case .hello(let hello) = envelope.request else { throw Unexpected(envelope) }
        try reply(envelope.id, .welcome(welcome))
        return hello
    }

    /// The first request.
    ///
    /// - Throws: ``Gone`` if the connection ends first, because the client closes it or the test
    ///   stops the server.
    func receiveFirst() throws -> RequestEnvelope {
        guard let envelope = receive() else { throw Gone() }
        return envelope
    }

    /// The next request; nil after the client has closed the connection.
    func receive() -> RequestEnvelope? {
        while true {
            let request = try? splitter.withNextFrame { frame in try? codec.decodeRequest(frame) }
            if let request { return request }
            let count = piece.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { return nil }
            splitter.append(piece.span.bytes.extracting(first: count))
        }
    }

    func reply(_ id: UInt64, _ reply: Reply) throws {
        send(try Peer.frame(id, reply))
    }

    static func frame(_ id: UInt64, _ reply: Reply) throws -> [UInt8] {
        var frame: [UInt8] = []
        try WireCodec().encode(ReplyEnvelope(id: id, reply: reply), into: &frame)
        return frame
    }

    /// Sends all bytes. A client that has closed the connection is not an error.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Ends the connection. The descriptor is closed when the peer is released.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The connection ended before the first request.
    struct Gone: Error {}

    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ envelope: RequestEnvelope) { description = "unexpected request: \(envelope)" }
    }
}
