import NIOCore

/// Sends the replies of several connections after all sockets that were ready have been read: a
/// client with several connections, or several clients on one processor, are then woken once.
///
/// Sendable unchecked: there is one per event loop, used on that loop alone, which is asserted in
/// debug builds.
final class FlushQueue: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var connections: [ConnectionHandler] = []

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Flushes a connection at the end of what the event loop does now.
    func append(_ connection: ConnectionHandler) {
        eventLoop.assertInEventLoop()
        connections.append(connection)
        guard connections.count == 1 else { return }
        eventLoop.execute { self.flushAll() }
    }

    private func flushAll() {
        // A flushed connection may take more requests and be appended again at once.
        let count = connections.count
        for index in 0..<count { connections[index].flush() }
        connections.removeSubrange(..<count)
        if !connections.isEmpty { eventLoop.execute { self.flushAll() } }
    }
}
