import NIOCore

/// Counts the consecutive requests of one connection on an event loop, to recognize a connection
/// that has the loop to itself.
///
/// Sendable unchecked: there is one per event loop, used on that loop alone, which is asserted in
/// debug builds.
final class LoopOccupancy: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var connection: ObjectIdentifier?
    private(set) var consecutiveRequests = 0

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// A connection has received a request.
    func noteRequest(of connection: ConnectionHandler) {
        eventLoop.assertInEventLoop()
        let identity = ObjectIdentifier(connection)
        if self.connection != identity {
            self.connection = identity
            consecutiveRequests = 0
        }
        consecutiveRequests += 1
    }
}
