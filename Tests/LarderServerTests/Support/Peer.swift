import Glibc
import LarderModel
import LarderWire
import TestSupport

@testable import LarderServer

/// The client's end of a connection, with blocking calls. It can send any bytes.
final class Peer {
    /// Nothing happened in time. Time limits of tests are for failures only, and ten times longer
    /// than a busy machine needs.
    struct TimedOut: Error, CustomStringConvertible {
        let description: String

        init(waitingFor event: String) { description = "no \(event) within \(Peer.secondsMax) s" }
    }

    static let secondsMax = 300

    let descriptor: Int32
    private let codec = WireCodec()
    private var splitter = FrameSplitter(frameBytesMax: Limits.frameBytesMax)
    private var nextID: UInt64 = 1
    private var isOpen = true

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // A test that waits for a missing reply fails instead of hanging.
        var time = timeval(tv_sec: Self.secondsMax, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
    }

    /// Connects as a client does.
    convenience init(connectingTo path: String) throws {
        let descriptor = try UnixSocket.make(SOCK_STREAM)
        try UnixSocketAddress(path: path).connect(descriptor)
        _ = fcntl(descriptor, F_SETFL, 0)
        self.init(descriptor)
    }

    deinit { close() }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
    }

    /// Sends no more bytes, but still receives.
    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TimedOut(waitingFor: "room to send") }
            sent += count
        }
    }

    /// Sends bytes together with a descriptor.
    func send(_ bytes: [UInt8], passing passed: Int32) throws {
        var bytes = bytes
        var control = ControlMessage(descriptor: passed)
        let count = bytes.withUnsafeMutableBytes { bytes in
            withUnsafeMutableBytes(of: &control) { control in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(descriptor, &message, 0)
                }
            }
        }
        guard count == bytes.count else { throw TimedOut(waitingFor: "room to send") }
    }

    /// The kernel's `struct cmsghdr` with one descriptor.
    private struct ControlMessage {
        var length = 16 + MemoryLayout<Int32>.size
        var level = Int32(SOL_SOCKET)
        var type = Int32(1)  // SCM_RIGHTS
        var descriptor: Int32
        var padding: Int32 = 0
    }

    /// Sends requests in one call.
    func send(_ envelopes: [RequestEnvelope]) throws {
        var bytes: [UInt8] = []
        for envelope in envelopes { try codec.encode(envelope, into: &bytes) }
        try send(bytes)
    }

    @discardableResult
    func send(
        _ request: Request, timeoutMilliseconds: UInt32 = 0, in snapshot: UInt64 = 0,
        trace: String = ""
    ) throws -> UInt64 {
        let id = nextID
        nextID += 1
        try send([
            RequestEnvelope(
                id: id, timeoutMilliseconds: timeoutMilliseconds, snapshot: snapshot,
                trace: trace, request: request)
        ])
        return id
    }

    /// The next reply; nil if the server has closed the connection.
    func receive() throws -> ReplyEnvelope? {
        while true {
            let reply = try splitter.withNextFrame { frame throws(LarderError) in
                do throws(WireFailure) {
                    return try codec.decodeReply(frame)
                } catch {
                    throw error.error
                }
            }
            if let reply { return reply }
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &piece, piece.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
            guard count > 0 else { throw TimedOut(waitingFor: "reply of the server") }
            splitter.append(piece.span.bytes.extracting(first: count))
        }
    }

    func call(
        _ request: Request, timeoutMilliseconds: UInt32 = 0, in snapshot: UInt64 = 0
    ) throws -> Reply? {
        try send(request, timeoutMilliseconds: timeoutMilliseconds, in: snapshot)
        return try receive()?.reply
    }

    /// The reply to a migration after those with its progress.
    func result(of migration: Request) throws -> Reply? {
        try send(migration)
        return try resultOfMigration()
    }

    func resultOfMigration() throws -> Reply? {
        while let reply = try receive()?.reply {
            if case .migrationProgress = reply { continue }
            return reply
        }
        return nil
    }

    /// A metric of `stats`.
    func metric(_ name: String) throws -> Int64? {
        guard case .statistics(let metrics)? = try call(.statistics),
            case .int(let number)? = metrics.first(where: { $0.name == name })?.value
        else { return nil }
        return number
    }

    /// Returns when a metric of `stats` has this value: the server may update it after its reply.
    func wait(until name: String, is number: Int64) throws {
        guard try eventually({ try metric(name) == number }) else {
            let last = try metric(name).map { "\($0)" } ?? "none"
            throw TimedOut(waitingFor: "\(name) of \(number) in stats, which has \(last),")
        }
    }

    func wait(until name: String, isAtLeast number: Int64) throws {
        guard try eventually({ try metric(name) ?? 0 >= number }) else {
            throw TimedOut(waitingFor: "\(name) of \(number) or more in stats")
        }
    }

    @discardableResult
    func shakeHands() throws -> Reply? {
        try call(.hello(Hello(clientName: "test")))
    }

    /// The codes of the errors until the connection is closed.
    func receiveUntilClosed() throws -> [ErrorCode] {
        var codes: [ErrorCode] = []
        while let reply = try receive() {
            if case .failed(let error) = reply.reply { codes.append(error.code) }
        }
        return codes
    }
}

extension Request {
    /// A query with this predicate for the fake store.
    static func fetch(_ text: String, credit: UInt32 = 0) throws -> Request {
        let query = Query.fetch(Fetch("Item", where: .format(text)))
        return .query(try QueryRequest(query, credit: credit))
    }

    static func insert(_ number: Int64) -> Request {
        let identifier = PersistentIdentifier(temporary: "a", entityName: "Item")
        return .save(ChangeSet([.insert(identifier, values: ["number": .int(number)])]))
    }
}

extension Reply {
    var errorCode: ErrorCode? {
        if case .failed(let error) = self { error.code } else { nil }
    }

    var rowCount: Int? {
        if case .batches(let batches, _) = self {
            batches.reduce(0) { $0 + $1.rowCount }
        } else {
            nil
        }
    }

    var hasMore: Bool {
        if case .batches(_, let more) = self { more } else { false }
    }
}
