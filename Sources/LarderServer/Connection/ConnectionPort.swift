import NIOCore

/// How other threads reach a connection: by work that its event loop does.
struct ConnectionPort: Sendable {
    let identity: ObjectIdentifier
    let eventLoop: any EventLoop
    private let handler: NIOLoopBound<ConnectionHandler>

    /// To be made on the event loop of the connection.
    init(_ handler: ConnectionHandler, eventLoop: any EventLoop) {
        self.identity = ObjectIdentifier(handler)
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    /// What ``execute(_:)`` does, for who is on the event loop already.
    func executeHere(_ body: (ConnectionHandler) -> Void) { body(handler.value) }

    func execute(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        eventLoop.execute { body(handler.value) }
    }
}
