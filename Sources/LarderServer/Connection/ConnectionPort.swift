import NIOCore

/// Gives other threads access to a connection, by work on its event loop.
struct ConnectionPort: Sendable {
    let identity: ObjectIdentifier
    let eventLoop: any EventLoop
    private let handler: NIOLoopBound<ConnectionHandler>

    /// It must be called on the event loop of the connection.
    init(_ handler: ConnectionHandler, eventLoop: any EventLoop) {
        self.identity = ObjectIdentifier(handler)
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    /// The form of ``execute(_:)`` for a caller on the event loop, which calls the body at once.
    func executeHere(_ body: (ConnectionHandler) -> Void) { body(handler.value) }

    func execute(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        eventLoop.execute { body(handler.value) }
    }
}
