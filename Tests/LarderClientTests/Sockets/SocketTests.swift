import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Sockets by their paths")
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

    @Test("a path without a socket is named, with the question whether larderd runs")
    func missing() throws {
        let place = SocketPlace()
        let error = failure(connectingTo: place.path)
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains(place.path) == true)
        #expect(error?.hint?.contains("larderd") == true)
        #expect(failure(connectingTo: place.path + "/deeper")?.code == .connectionFailed)
    }

    @Test("a socket that nobody listens on any more is named")
    func stale() throws {
        let place = SocketPlace()
        close(try place.listen(backlog: 1))
        let error = failure(connectingTo: place.path)
        #expect(error?.code == .connectionFailed)
        #expect(error?.message == "nothing listens at \(place.path)")
    }

    @Test("a path longer than a socket's address holds is refused, and its length named")
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
        #expect(failure(connectingTo: "/tmp/a\0b")?.message == "the socket path contains a zero byte")
    }

    @Test("a server that accepts nobody is given up after the time to connect")
    func fullBacklog() throws {
        let place = SocketPlace()
        let listener = try place.listen(backlog: 0)
        defer { close(listener) }
        // A backlog of none still holds one connection.
        let first = try connected(place.path)
        #expect(
            failure(connectingTo: place.path)?.message.contains("accepts no connection") == true)
        first.shutDown()
    }

    @Test("a full backlog is waited for")
    func waitsForBacklog() async throws {
        let place = SocketPlace()
        let listener = try place.listen(backlog: 0)
        defer { close(listener) }
        let first = try connected(place.path)
        async let second: Void = inThread { try connected(place.path).shutDown() }
        let accepted = accept(listener, nil, nil)
        await second
        close(accepted)
        first.shutDown()
    }

    @Test("what the peer does not take at once is reported, not waited for")
    func full() throws {
        let (socket, peer) = try pair(requestTimeout: .seconds(60))
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

    @Test("a deadline ends waiting, however it is kept", arguments: [10, 100])
    func deadline(requestMilliseconds: Int) throws {
        let timeout = Duration.milliseconds(requestMilliseconds)
        let (socket, peer) = try pair(requestTimeout: timeout)
        defer { close(peer) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let deadline = Moment.after(timeout)
        #expect(socket.receive(into: &bytes, until: deadline) == .timedOut)
        #expect(deadline.isPast)
    }

    @Test("a peer that has gone raises no signal")
    func brokenPipe() throws {
        let (socket, peer) = try pair(requestTimeout: .seconds(60))
        close(peer)
        #expect(socket.send([1], from: 0) == .failed(.serverClosed))
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(socket.receive(into: &bytes, until: .after(.seconds(60))) == .ended)
    }

    private func connected(_ path: String) throws -> Socket {
        try Socket.connect(to: path, until: .after(.seconds(60)), requestTimeout: .seconds(60))
    }

    private func pair(requestTimeout: Duration) throws -> (Socket, Int32) {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        return (Socket(descriptor: pair[0], requestTimeout: requestTimeout), pair[1])
    }
}
