import LarderModel
import LarderWire
import NIOCore

/// A read with one reply that a reader of the pool performs. Its job outlives it until the
/// statement has stopped.
final class PoolRead: OpenRequest {
    let requestID: UInt64
    let cancellation = ReadCancellation()
    private unowned let connection: ConnectionHandler

    init(requestID: UInt64, connection: ConnectionHandler) {
        self.requestID = requestID
        self.connection = connection
    }

    private static let cancelled = LarderError(
        .cancelled, "the read was cancelled by its client")

    func cancel() { fail(Self.cancelled) }

    func fail(_ error: LarderError) {
        cancellation.cancel()
        connection.streamEnded(requestID, .reply(.failed(error)))
    }

    func abandon() { cancellation.cancel() }

    /// Gives the threads of the pool access to a read.
    struct Port: Sendable {
        let connection: ConnectionPort
        private let read: NIOLoopBound<PoolRead>

        init(_ read: PoolRead, _ connection: ConnectionPort) {
            self.connection = connection
            self.read = NIOLoopBound(read, eventLoop: connection.eventLoop)
        }

        /// Calls back on the event loop, unless the read has ended before its result. The closure
        /// ends it.
        func end(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
            connection.execute { [read] handler in
                let read = read.value
                if handler.requests[read.requestID] === read { body(handler) }
            }
        }
    }
}
