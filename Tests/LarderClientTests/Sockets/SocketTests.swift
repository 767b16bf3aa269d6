import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Sockets")
struct SocketTests {
    private func failure(connectingTo path: String) -> LarderError? {
        do throws(LarderError) {
            var options = StoreClient.Options()
            options.connectTimeout = .milliseconds(30)
            _ = try StoreClient.connect(to: path, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test("the error for a path without a socket has the path and mentions larderd")
    func missing() throws {
        let socketPath = TemporarySocketPath()
        let error = failure(connectingTo: socketPath.path)
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains(socketPath.path) == true)
        #expect(error?.hint?.contains("larderd") == true)
        #expect(failure(connectingTo: socketPath.path + "/deeper")?.code == .connectionFailed)
    }

    @Test("the error for a stale socket has its path")
    func stale() throws {
        let socketPath = TemporarySocketPath()
        close(try socketPath.listen(backlog: 1))
        let error = failure(connectingTo: socketPath.path)
        #expect(error?.code == .connectionFailed)
        #expect(error?.message == "no server listens at \(socketPath.path)")
    }

    @Test("a path that is too long for a socket address is refused with its length")
    func tooLong() {
        let path = "/tmp/" + String(repeating: "x", count: UnixSocketAddress.pathBytesMax - 4)
        let error = failure(connectingTo: path)
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains("108 bytes") == true)
        let longest = failure(connectingTo: String(path.dropLast()))
        #expect(longest?.message.contains("there is no socket") == true)
    }

    @Test("an empty path, and one with a zero byte, are refused")
    func malformed() {
        #expect(failure(connectingTo: "")?.message == "the socket path is empty")
        #expect(
            failure(connectingTo: "/tmp/a\0b")?.message == "the socket path contains a zero byte")
    }

    @Test("connecting to a server that accepts no connections times out")
    func fullBacklog() throws {
        let socketPath = TemporarySocketPath()
        let listener = try socketPath.listen(backlog: 0)
        defer { close(listener) }
        // A backlog of 0 has room for one connection.
        let first = try connected(socketPath.path)
        #expect(
            failure(connectingTo: socketPath.path)?.message.contains(
                "did not accept the connection") == true)
        first.shutDown()
    }

    @Test("connecting waits while the backlog of the server is full")
    func waitsForBacklog() async throws {
        let socketPath = TemporarySocketPath()
        let listener = try socketPath.listen(backlog: 0)
        defer { close(listener) }
        let first = try connected(socketPath.path)
        async let second: Void = inThread { try connected(socketPath.path).shutDown() }
        let accepted = accept(listener, nil, nil)
        await second
        close(accepted)
        first.shutDown()
    }

    @Test("sending to a full socket returns at once")
    func full() throws {
        let (socket, peer) = try pair(requestTimeout: .seconds(900))
        defer { close(peer) }
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        guard case .sent(let count) = socket.send(bytes, from: 0) else {
            Issue.record("nothing was sent")
            return
        }
        #expect(count < bytes.count)
        #expect(socket.send(bytes, from: count) == .full)
        #expect(!socket.waitUntilWritable(until: .after(.milliseconds(10))))
    }

    @Test("a deadline ends the wait for a reply, in recv and in poll", arguments: [10, 100])
    func deadline(requestMilliseconds: Int) throws {
        let timeout = Duration.milliseconds(requestMilliseconds)
        let (socket, peer) = try pair(requestTimeout: timeout)
        defer { close(peer) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let deadline = MonotonicInstant.after(timeout)
        #expect(socket.receive(into: &bytes, until: deadline) == .timedOut)
        #expect(deadline.isPast)
    }

    @Test("sending to a closed peer raises no signal")
    func brokenPipe() throws {
        let (socket, peer) = try pair(requestTimeout: .seconds(900))
        close(peer)
        #expect(socket.send([1], from: 0) == .failed(.serverClosed))
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(socket.receive(into: &bytes, until: .after(.seconds(900))) == .ended)
    }

    private func connected(_ path: String) throws -> Socket {
        try Socket.connect(to: path, until: .after(.seconds(900)), requestTimeout: .seconds(900))
    }

    private func pair(requestTimeout: Duration) throws -> (Socket, Int32) {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        return (Socket(descriptor: pair[0], requestTimeout: requestTimeout), pair[1])
    }
}
