import NIOCore

/// Who has requests on an event loop, and when their answers leave.
///
/// Of one connection that has the loop to itself they leave at once. Of several they leave when all
/// that has come to the loop has been read: a client of many connections, or several on one
/// processor, is then woken once for all of them, and not again for each.
///
/// Sendable unchecked: one an event loop, touched there alone, which is checked in debug builds.
final class LoopTurns: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var connection: ObjectIdentifier?
    /// How many requests have come from one connection, one behind the other.
    private(set) var count = 0
    private var unflushed: [ConnectionHandler] = []

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

    /// Flushes a connection at the end of what the loop does now.
    func flushAtEnd(_ connection: ConnectionHandler) {
        eventLoop.assertInEventLoop()
        unflushed.append(connection)
        guard unflushed.count == 1 else { return }
        eventLoop.execute { self.flushAll() }
    }

    private func flushAll() {
        // A connection whose socket takes more answers reads on, and may be back at once.
        let count = unflushed.count
        for place in 0..<count { unflushed[place].flush() }
        unflushed.removeSubrange(..<count)
        if !unflushed.isEmpty { eventLoop.execute { self.flushAll() } }
    }
}
