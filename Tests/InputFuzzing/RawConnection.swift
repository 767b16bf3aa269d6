import Glibc
import LarderModel
import LarderServer
import LarderWire

/// The client's end of a connection to a server in the process. It can send any bytes.
final class RawConnection {
    private let descriptor: Int32
    private let codec = WireCodec()
    private var splitter = FrameSplitter(frameBytesMax: Limits.frameBytesMax)
    private var lastID: UInt64 = 0
    /// The ids of requests that were sent.
    private(set) var sentIDs: [UInt64] = []
    private(set) var isClosed = false
    private(set) var sentCount = 0
    /// The replies to the requests of ``open(_:in:)`` that have not been taken.
    private var kept: [UInt64: [Reply]] = [:]

    /// The time for a reply, and for the server to take a message. It is far beyond what a server
    /// on a busy machine needs.
    private static let secondsMax = 120

    /// The server has neither replied in time nor closed the connection.
    struct NoReply: Error {}

    /// - Parameter user: The user of the peer; nil for that of the process.
    init(to server: Server, as user: UInt32? = nil) throws(LarderError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw LarderError(.resourceExhausted, "cannot create a socket pair")
        }
        descriptor = ends[1]
        var time = timeval(tv_sec: Self.secondsMax, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
        try server.serve(
            connectedSocket: ends[0], as: user.map { PeerCredentials(user: $0) })
    }

    deinit { close(descriptor) }

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Sends a request, or other bytes in its stead.
    func send(
        _ envelope: RequestEnvelope, changedBy change: ([UInt8]) -> [UInt8] = { $0 }
    ) throws {
        var frame: [UInt8] = []
        try codec.encode(envelope, into: &frame)
        send(change(frame))
        sentIDs.append(envelope.id)
        if sentIDs.count > 24 { sentIDs.removeFirst() }
    }

    private func send(_ bytes: [UInt8]) {
        sentCount += 1
        var sent = 0
        while sent < bytes.count, !isClosed {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else { isClosed = true }
        }
    }

    /// The replies that have arrived.
    ///
    /// - Throws: the failure of a reply that cannot be decoded.
    func received() throws -> [ReplyEnvelope] {
        var replies: [ReplyEnvelope] = []
        while try read(waits: false) {
            while let reply = try nextReply() { replies.append(reply) }
        }
        return replies
    }

    /// The reply to a request; those to others are dropped. nil if the server closes.
    func reply(to request: Request) throws -> Reply? {
        let id = nextID()
        try send(RequestEnvelope(id: id, request: request))
        repeat {
            while let envelope = try nextReply() {
                if envelope.id == id { return envelope.reply }
            }
        } while try read(waits: true)
        return nil
    }

    // MARK: Requests with several replies

    /// Sends a request whose replies are kept until ``next(_:waits:)`` takes them.
    ///
    /// - Parameter snapshot: The id of the snapshot in which to read; 0 for none.
    /// - Returns: the request's id.
    func open(_ request: Request, in snapshot: UInt64 = 0) throws -> UInt64 {
        let id = nextID()
        kept[id] = []
        try send(RequestEnvelope(id: id, snapshot: snapshot, request: request))
        return id
    }

    /// The next reply to such a request; nil if the server closes, or has not sent any.
    ///
    /// - Parameter waits: Whether to wait for a reply.
    func next(_ id: UInt64, waits: Bool = true) throws -> Reply? {
        repeat {
            while let envelope = try nextReply() { kept[envelope.id]?.append(envelope.reply) }
            if let first = kept[id]?.first {
                kept[id]?.removeFirst()
                return first
            }
        } while try read(waits: waits)
        return nil
    }

    /// Ends a stream, whose later replies are dropped.
    func cancel(_ id: UInt64) throws {
        kept[id] = nil
        try send(RequestEnvelope(id: nextID(), request: .cancel(requestID: id)))
    }

    /// Drops the later replies to a request.
    func forget(_ id: UInt64) { kept[id] = nil }

    private func nextReply() throws -> ReplyEnvelope? {
        let decoded = try splitter.withNextFrame { content in
            Result { () throws(WireFailure) in try codec.decodeReply(content) }
        }
        return try decoded?.get()
    }

    /// - Returns: whether bytes have arrived.
    private func read(waits: Bool) throws(NoReply) -> Bool {
        guard !isClosed else { return false }
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &piece, piece.count, waits ? 0 : Int32(MSG_DONTWAIT))
        if count > 0 {
            splitter.append(piece.span.bytes.extracting(first: count))
            return true
        }
        if count < 0, errno == EAGAIN {
            if waits { throw NoReply() }
        } else {
            isClosed = true
        }
        return false
    }
}
