import FoundationEssentials
import Glibc
import LarderModel

/// Collects what the server is doing, for the request `activity`.
///
/// The counters of a connection belong to its event loop, so the collector visits one event loop
/// after the other. It needs no reader and not the writer, so that it works on a busy server.
final class ActivityCollector: Sendable {
    private let registry: ConnectionRegistry
    private let slowReads: SlowReads
    /// Everything but the time.
    private let load: @Sendable (_ time: Date) -> ServerLoad

    init(
        registry: ConnectionRegistry, slowReads: SlowReads,
        load: @escaping @Sendable (_ time: Date) -> ServerLoad
    ) {
        self.registry = registry
        self.slowReads = slowReads
        self.load = load
    }

    /// - Parameters:
    ///   - user: Who has sent the request.
    ///   - ownOnly: Whether the user sees nothing of other users.
    ///   - done: Called on any event loop.
    func collect(
        for user: UInt32, ownOnly: Bool, _ done: @escaping @Sendable (ServerActivity) -> Void
    ) {
        let loops = Dictionary(grouping: registry.open) { ObjectIdentifier($0.port.eventLoop) }
        collect(Array(loops.values)[...], []) { [self] connections in
            // Root and the server's own user see the queries of all users.
            let seesAll = !ownOnly && (user == 0 || user == geteuid())
            let seen = connections.filter { !ownOnly || $0.0.source.userIdentifier == user }
                .sorted { $0.0.id < $1.0.id }
            let slow = slowReads.list(for: seesAll ? nil : user)
            done(
                ServerActivity(
                    load: load(Date()), connections: seen.map(\.0),
                    slowReads: slow.filter { !ownOnly || $0.source.userIdentifier == user },
                    running: seen.flatMap(\.1).map { running in
                        var running = running
                        let isOwn = running.source.userIdentifier == user
                        if !seesAll, !isOwn { (running.query, running.trace) = (nil, "") }
                        return running
                    }))
        }
    }

    private typealias Connection = (ConnectionActivity, [RunningRequest])

    private func collect(
        _ loops: ArraySlice<[ConnectionRegistry.OpenConnection]>,
        _ connections: [Connection],
        _ done: @escaping @Sendable ([Connection]) -> Void
    ) {
        guard let loop = loops.first, let eventLoop = loop.first?.port.eventLoop else {
            return done(connections)
        }
        eventLoop.execute { [self] in
            var connections = connections
            for connection in loop {
                connection.port.executeHere { handler in
                    if let activity = handler.activity(of: connection.number) {
                        connections.append((activity, handler.running(of: connection.number)))
                    }
                }
            }
            collect(loops.dropFirst(), connections, done)
        }
    }
}
