import LarderModel
import LarderWire
import NIOCore

/// Gives other threads access to an observer, by work on its event loop.
struct ObserverPort: Sendable {
    let identity: ObjectIdentifier
    let eventLoop: any EventLoop
    private let observer: NIOLoopBound<Observer>

    /// It must be called on the event loop of the observer.
    init(_ observer: Observer, eventLoop: any EventLoop) {
        identity = ObjectIdentifier(observer)
        self.eventLoop = eventLoop
        self.observer = NIOLoopBound(observer, eventLoop: eventLoop)
    }

    func sendWhole(_ replies: [Reply], _ version: UInt64) {
        eventLoop.execute { observer.value.sendWhole(replies, version) }
    }

    func fail(_ error: LarderError) {
        eventLoop.execute { observer.value.fail(error) }
    }

    /// Tells observers that there are changes.
    static func notify(_ observers: [ObserverPort]) {
        let loops = Dictionary(grouping: observers) { ObjectIdentifier($0.eventLoop) }
        for ports in loops.values {
            let eventLoop = ports[0].eventLoop
            eventLoop.execute { notify(ports[...], on: eventLoop) }
        }
    }

    /// The observers that get a change before others on the event loop run.
    private static let observersAtOnce = 64

    private static func notify(_ ports: ArraySlice<ObserverPort>, on eventLoop: any EventLoop) {
        for port in ports.prefix(observersAtOnce) { port.observer.value.resume() }
        let rest = ports.dropFirst(observersAtOnce)
        guard !rest.isEmpty else { return }
        // Later, so that the sockets of the event loop are read first.
        eventLoop.scheduleTask(in: .microseconds(5)) { notify(rest, on: eventLoop) }
    }
}

/// The reply to a request to observe a query: the whole result, and then each change.
///
/// It belongs to its connection's event loop. It sends a reply only while the socket is writable
/// and the client has credit left.
final class Observer: OpenRequest {
    private enum Phase {
        /// It waits for the whole result.
        case joining
        case following
        case ended
    }

    let requestID: UInt64
    /// The memory that the request takes.
    let bytes: Int
    private let key: LiveQuery.Key
    private let services: ConnectionServices
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var query: LiveQuery?
    private var phase = Phase.joining
    /// The part of a whole result that has not been sent.
    private var unsent: ArraySlice<Reply> = []
    private var unsentBytes = 0
    private var version: UInt64 = 0
    /// The number of replies that the client still accepts; nil is unlimited.
    private var credit: UInt32?

    /// - Parameter bytes: The memory that the request takes.
    init(
        requestID: UInt64, _ request: ObserveRequest, bytes: Int, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.bytes = bytes
        self.connection = connection
        self.eventLoop = eventLoop
        services = connection.services
        credit = request.query.credit == 0 ? nil : request.query.credit
        var query = request.query
        query.credit = 0
        key = LiveQuery.Key(
            user: connection.user, view: ObjectIdentifier(services.view), query: query,
            intervalMilliseconds: request.intervalMilliseconds, isSectioned: request.isSectioned,
            frameBytesMax: Self.frameBytesMax(of: connection))
    }

    /// A client that accepts longer frames gets those that a long object needs.
    private static func frameBytesMax(of connection: ConnectionHandler) -> Int {
        let bytesMax = connection.replyFrameBytesMax
        return bytesMax > Limits.frameBytesMax
            ? bytesMax : connection.services.limits.frameBytesMax
    }

    func start() {
        query = services.liveQueries.join(
            ObserverPort(self, eventLoop: eventLoop), key, services.view)
    }

    // MARK: The client

    func grant(_ replies: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingClamped(replies)
        resume()
    }

    func cancel() { fail(LarderError(.cancelled, "the request was cancelled by its client")) }

    func inputEnded() { cancel() }

    func connectionDrains(_ reason: LarderError) { fail(reason) }

    func abandon() {
        if case .ended = phase { return }
        phase = .ended
        releaseUnsent()
        services.registry.followerEnded(of: connection.user)
        if let query { services.liveQueries.leave(ObjectIdentifier(self), query) }
    }

    func fail(_ error: LarderError) {
        if case .ended = phase { return }
        abandon()
        connection.streamEnded(requestID, .reply(.failed(error)))
    }

    // MARK: Results

    func sendWhole(_ replies: [Reply], _ version: UInt64) {
        if case .ended = phase { return }
        releaseUnsent()
        let byteCount = replies.reduce(0) { count, reply in
            if case .encodedObserved(let bytes) = reply { count + bytes.count } else { count }
        }
        if let refusal = connection.quota.addRequest(byteCount) { return fail(refusal) }
        unsentBytes = byteCount
        unsent = replies[...]
        self.version = version
        phase = .following
        resume()
    }

    private func releaseUnsent() {
        unsent = []
        connection.requestEnded(unsentBytes)
        unsentBytes = 0
    }

    /// Sends what there is, as long as the client is ready. Called when one of the two may have
    /// changed.
    func resume() {
        while case .following = phase, connection.isWritable, credit != 0 {
            if let reply = unsent.popFirst() {
                if unsent.isEmpty { releaseUnsent() }
                send(reply)
                continue
            }
            switch query?.next(after: version) ?? .nothing {
            case .nothing: return
            case .tooOld:
                phase = .joining
                query?.join(ObserverPort(self, eventLoop: eventLoop))
            case .reply(let reply):
                version += 1
                send(reply)
            }
        }
    }

    private func send(_ reply: Reply) {
        if let credit, credit > 0 { self.credit = credit - 1 }
        connection.send(requestID, .reply(reply))
    }
}
