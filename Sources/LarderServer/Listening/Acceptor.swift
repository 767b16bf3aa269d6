import CLinux
import Dispatch
import Glibc
import LarderModel
internal import Logging
import Synchronization

/// Accepts the connections of a listening socket, on a thread of its own.
///
/// A listening channel of SwiftNIO would give its connections to the event loops in turn.
/// Connections that stay would then crowd on some of the loops after others have closed.
///
/// When the process has no more descriptors or memory, the acceptor pauses. Clients wait in the
/// kernel's queue meanwhile.
final class Acceptor: Sendable {
    private static let backlog: Int32 = 1_024
    private static let pauseMilliseconds: Int32 = 100
    /// The connections that are accepted before the acceptor looks whether it is to end.
    private static let acceptedAtOnce = 256

    private let descriptor: Int32
    /// An event that ends the wait for connections.
    private let wakeUp: Int32
    private let logger: Logger
    private let accepted: @Sendable (Int32) -> Void
    /// Called when the acceptor has ended; nil while it accepts.
    private let whenEnded = Mutex<(@Sendable () -> Void)?>(nil)

    /// Listens, and accepts connections until ``close(_:)``.
    ///
    /// - Parameters:
    ///   - descriptor: A bound Unix socket. The acceptor takes ownership of it, also if it throws.
    ///   - accepted: Takes ownership of the socket of a connection. It does not block.
    init(
        _ descriptor: Int32, logger: Logger, accepted: @escaping @Sendable (Int32) -> Void
    ) throws(SystemError) {
        let wakeUp = larder_event()
        guard wakeUp >= 0, listen(descriptor, Self.backlog) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else {
            let error = SystemError(code: errno)
            if wakeUp >= 0 { Glibc.close(wakeUp) }
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.wakeUp = wakeUp
        self.logger = logger
        self.accepted = accepted
        DispatchQueue(label: "larder.accept").async { self.run() }
    }

    /// Stops accepting and closes the listening socket. It must be called once.
    ///
    /// - Parameter ended: Called when no connection will be accepted any more.
    func close(_ ended: @escaping @Sendable () -> Void) {
        whenEnded.withLock { $0 = ended }
        var count: UInt64 = 1
        _ = write(wakeUp, &count, MemoryLayout<UInt64>.size)
    }

    private func run() {
        var isShort = false
        while wait(pausing: isShort) {
            isShort = !acceptAll(after: isShort)
        }
        Glibc.close(descriptor)
        Glibc.close(wakeUp)
        whenEnded.withLock { $0.take() }?()
    }

    /// Waits for connections, or for the time of a pause.
    ///
    /// - Returns: false if the acceptor is to end.
    private func wait(pausing: Bool) -> Bool {
        var events = [
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let count = nfds_t(pausing ? 1 : 2)
        while poll(&events, count, pausing ? Self.pauseMilliseconds : -1) < 0, errno == EINTR {}
        return events[0].revents == 0
    }

    /// Accepts the connections that wait.
    ///
    /// - Parameter shortage: Whether the last attempt failed, which has been reported then.
    /// - Returns: false if descriptors or memory ran out.
    private func acceptAll(after shortage: Bool) -> Bool {
        var isReported = shortage
        for _ in 0..<Self.acceptedAtOnce {
            let socket = larder_accept(descriptor)
            if socket >= 0 {
                isReported = false
                accepted(socket)
                continue
            }
            switch errno {
            case EAGAIN: return true
            // The client has closed it already.
            case ECONNABORTED, EINTR, EPROTO: continue
            default:
                report(SystemError(code: errno), isReported: isReported)
                return false
            }
        }
        return true
    }

    private func report(_ error: SystemError, isReported: Bool) {
        logger.log(
            level: isReported ? .debug : .warning,
            "cannot accept connections now: \(error.text)")
    }
}
