import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Synchronization
import Testing

@testable import LarderClient

/// A server that does what a test says: each connection is handed to the test's script, in a
/// thread of its own, with its number from 1.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (Peer, Int) throws -> Void

    let place: SocketPlace
    private let listener: Int32
    private let script: Script
    private let state = Mutex(State())

    private struct State {
        var connectionCount = 0
        var isStopped = false
        var peers: [Peer] = []
    }

    /// - Parameter place: where to listen; by default a place of its own.
    init(at place: SocketPlace? = nil, _ script: @escaping Script) throws {
        self.place = place ?? SocketPlace()
        self.script = script
        listener = try self.place.listen(backlog: 64)
        try ServiceThread.start { self.acceptConnections() }
    }

    var path: String { place.path }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Accepts no more connections and ends those that there are.
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
        close(listener)
    }

    private func serve(_ peer: Peer, _ number: Int) {
        do {
            try ServiceThread.start { [self] in
                do {
                    try script(peer, number)
                } catch is Peer.Gone {
                    // What the client makes of it is the test's to judge.
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
/// Protected by that: only the script's thread reads and writes; others only close.
final class Peer: @unchecked Sendable {
    private let descriptor: Int32
    private let codec = WireCodec()
    private var splitter = FrameSplitter(frameBytesMax: Limits.frameBytesMax)
    private var piece = [UInt8](repeating: 0, count: 64 << 10)

    init(descriptor: Int32) {
        self.descriptor = descriptor
        // A test that goes wrong ends, rather than waiting for ever.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    }

    deinit { Glibc.close(descriptor) }

    /// Takes the handshake and answers it.
    @discardableResult
    func greet(_ welcome: Welcome = .sample) throws -> Hello {
        let envelope = try introduction()
        guard case .hello(let hello) = envelope.request else { throw Unexpected(envelope) }
        try answer(envelope.id, .welcome(welcome))
        return hello
    }

    /// The first request.
    ///
    /// - Throws: ``Gone`` when the connection ends before, as when the client closes, or the test
    ///   stops the server, while a connection is being made.
    func introduction() throws -> RequestEnvelope {
        guard let envelope = receive() else { throw Gone() }
        return envelope
    }

    /// The next request; nil once the client has gone.
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

    func answer(_ id: UInt64, _ reply: Reply) throws {
        send(try Peer.frame(id, reply))
    }

    static func frame(_ id: UInt64, _ reply: Reply) throws -> [UInt8] {
        var frame: [UInt8] = []
        try WireCodec().encode(ReplyEnvelope(id: id, reply: reply), into: &frame)
        return frame
    }

    /// Sends all the bytes; a client that has gone is no error.
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

    /// Ends the connection; the descriptor itself goes with the peer.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The connection ended before the client introduced itself.
    struct Gone: Error {}

    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ envelope: RequestEnvelope) { description = "unexpected request: \(envelope)" }
    }
}
