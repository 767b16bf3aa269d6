import NIOCore

/// Counts how many requests of an event loop came from one connection, one behind the other.
///
/// Sendable unchecked: one an event loop, touched there alone, which is checked in debug builds.
final class LoopTurns: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var connection: ObjectIdentifier?
    private(set) var count = 0

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// A connection has a request.
    func note(_ connection: ConnectionHandler) {
        eventLoop.assertInEventLoop()
        let identity = ObjectIdentifier(connection)
        if self.connection != identity {
            self.connection = identity
            count = 0
        }
        count += 1
    }
}
