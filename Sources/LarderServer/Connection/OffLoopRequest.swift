import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// A request with one reply that another thread performs, such as a long read. Its work outlives it
/// until that has stopped.
final class OffLoopRequest: OpenRequest {
    let requestID: UInt64
    let cancellation = ReadCancellation()
    private unowned let connection: ConnectionHandler

    init(requestID: UInt64, connection: ConnectionHandler) {
        self.requestID = requestID
        self.connection = connection
    }

    private static let cancelled = LarderError(
        .cancelled, "the request was cancelled by its client")

    func cancel() { fail(Self.cancelled) }

    func fail(_ error: LarderError) {
        cancellation.cancel()
        connection.streamEnded(requestID, .reply(.failed(error)))
    }

    func abandon() { cancellation.cancel() }

    /// Gives other threads access to a request.
    struct Port: Sendable {
        let connection: ConnectionPort
        private let request: NIOLoopBound<OffLoopRequest>

        init(_ request: OffLoopRequest, _ connection: ConnectionPort) {
            self.connection = connection
            self.request = NIOLoopBound(request, eventLoop: connection.eventLoop)
        }

        /// Calls back on the event loop, unless the request has ended before its result. The
        /// closure ends it, or replaces it.
        func end(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
            connection.execute { [request] handler in
                let request = request.value
                if handler.requests[request.requestID] === request { body(handler) }
            }
        }
    }
}
