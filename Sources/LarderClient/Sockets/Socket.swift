import Glibc
import LarderModel

/// One connected Unix stream socket. It knows bytes and deadlines, and nothing of frames.
///
/// The descriptor is closed when the last reference to the socket is released, so that no thread
/// can use its number for another file. ``shutDown()`` ends the connection before that.
final class Socket: Sendable {
    enum Sending: Hashable {
        case sent(Int)
        /// The socket's buffer is full; no byte was sent.
        case full
        case failed(LarderError)
    }

    enum Receiving: Hashable {
        case received(Int)
        case timedOut
        /// The peer has closed the connection.
        case ended
        case failed(LarderError)
    }

    let descriptor: Int32
    /// The time limit of a blocking `recv`. Earlier deadlines need `poll`. nil always uses `poll`.
    private let receiveWait: Duration?

    /// With a shorter time limit, a blocking `recv` saves nothing.
    private static let receiveWaitMin = Duration.milliseconds(20)

    /// Takes ownership of the descriptor.
    ///
    /// - Parameter requestTimeout: The usual time until a deadline.
    init(descriptor: Int32, requestTimeout: Duration) {
        self.descriptor = descriptor
        let wait = requestTimeout.clampedToWait / 2
        let isLimited =
            wait >= Socket.receiveWaitMin
            && Socket.setTimeLimit(SO_RCVTIMEO, of: descriptor, to: wait)
        receiveWait = isLimited ? wait : nil
    }

    deinit { close(descriptor) }

    /// Sends as many of the bytes from `start` as the socket takes at once. Never waits.
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

    /// Waits until the socket takes more bytes.
    ///
    /// - Returns: false after the deadline.
    func waitUntilWritable(until deadline: MonotonicInstant) -> Bool {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        while !deadline.isPast {
            if poll(&descriptors, 1, deadline.remainingMilliseconds) > 0 { return true }
        }
        return false
    }

    /// Receives the available bytes, and waits for some until the deadline. They replace the first
    /// bytes of the array, whose length does not change.
    func receive(
        into bytes: inout [UInt8], until deadline: MonotonicInstant
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

    /// Receives the available bytes without waiting.
    func receiveWithoutWaiting(into bytes: inout [UInt8]) -> Receiving {
        receive(into: &bytes, flags: Int32(MSG_DONTWAIT))
    }

    /// Ends the connection in both directions and wakes a thread that receives.
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

    /// Limits the time that a system call on the socket blocks, to one millisecond at least.
    ///
    /// - Parameter option: `SO_RCVTIMEO` or `SO_SNDTIMEO`.
    /// - Returns: whether the limit was set.
    static func setTimeLimit(
        _ option: Int32, of descriptor: Int32, to duration: Duration
    ) -> Bool {
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
