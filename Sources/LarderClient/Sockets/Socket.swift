import Glibc
import LarderModel

/// One connected Unix stream socket. It knows bytes and deadlines, and nothing of frames.
///
/// The descriptor is closed when nobody holds the socket any more, so that no thread can find
/// another file under its number; ``shutDown()`` ends the connection before that.
final class Socket: Sendable {
    enum Sending: Hashable {
        case sent(Int)
        /// The peer reads too slowly; nothing was taken.
        case full
        case failed(LarderError)
    }

    enum Receiving: Hashable {
        case received(Int)
        case timedOut
        /// The peer has closed.
        case ended
        case failed(LarderError)
    }

    let descriptor: Int32
    /// How long a plain `recv` waits. Deadlines closer than this are kept with `poll`.
    private let receiveWait: Duration?

    /// Below this a `recv` with a time limit of its own saves nothing.
    private static let receiveWaitMin = Duration.milliseconds(20)

    /// Takes the descriptor over.
    ///
    /// - Parameter requestTimeout: how far away deadlines usually are.
    init(descriptor: Int32, requestTimeout: Duration) {
        self.descriptor = descriptor
        let wait = requestTimeout.waiting / 2
        let isLimited =
            wait >= Socket.receiveWaitMin
            && Socket.limitTime(of: SO_RCVTIMEO, on: descriptor, to: wait)
        receiveWait = isLimited ? wait : nil
    }

    deinit { close(descriptor) }

    /// Sends what the peer takes at once of the bytes from `start`; never waits.
    func send(_ bytes: [UInt8], from start: Int) -> Sending {
        precondition(start >= 0 && start < bytes.count, "there must be something to send")
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: start), $0.count - start,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return .sent(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .full
            default: return .failed(Socket.lost(SystemError(code: errno)))
            }
        }
    }

    /// Waits until the peer takes more.
    ///
    /// - Returns: false if the deadline came first.
    func waitUntilWritable(until deadline: Moment) -> Bool {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        while !deadline.isPast {
            if poll(&descriptors, 1, deadline.remainingMilliseconds) > 0 { return true }
        }
        return false
    }

    /// Receives what is there, waiting for it until the deadline. The array's content is replaced
    /// from its front and its length is not changed.
    func receive(
        into bytes: inout [UInt8], until deadline: Moment
    ) -> Receiving {
        if let receiveWait, deadline.remaining >= receiveWait {
            let received = receive(into: &bytes, flags: 0)
            if received != .timedOut { return received }
        }
        while true {
            let received = receive(into: &bytes, flags: Int32(MSG_DONTWAIT))
            guard received == .timedOut, !deadline.isPast else { return received }
            var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            poll(&descriptors, 1, deadline.remainingMilliseconds)
        }
    }

    /// Receives what is there without waiting for it.
    func receiveWithoutWaiting(into bytes: inout [UInt8]) -> Receiving {
        receive(into: &bytes, flags: Int32(MSG_DONTWAIT))
    }

    /// Ends the connection in both directions; whoever receives is woken.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func receive(into bytes: inout [UInt8], flags: Int32) -> Receiving {
        let descriptor = descriptor
        while true {
            let count = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress, $0.count, flags)
            }
            if count > 0 { return .received(count) }
            if count == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .timedOut
            case ECONNRESET: return .ended
            default: return .failed(Socket.lost(SystemError(code: errno)))
            }
        }
    }

    /// Sets how long a call that blocks may do so; zero or less is made the shortest there is.
    static func limitTime(of option: Int32, on descriptor: Int32, to duration: Duration) -> Bool {
        let (seconds, nanoseconds) = max(duration, .milliseconds(1)).wholeSecondsAndNanoseconds
        var limit = timeval(tv_sec: seconds, tv_usec: nanoseconds / 1_000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        return setsockopt(descriptor, SOL_SOCKET, option, &limit, size) == 0
    }

    private static func lost(_ error: SystemError) -> LarderError {
        if error.code == EPIPE || error.code == ECONNRESET { return .serverClosed }
        return LarderError(.connectionFailed, "the connection broke: \(error.text)")
    }
}

extension LarderError {
    static var serverClosed: LarderError {
        LarderError(.connectionFailed, "the server closed the connection")
    }
}
