import LarderModel
import NIOCore
import Synchronization

/// A migration in several stages, which one client makes on a working copy of the store.
///
/// As long as the session is open, the server serves the working copy, and only to connections that
/// have its key. It ends when the client commits, and is abandoned if the connection that began it
/// ends, if its time is over, and if the server stops: the store is then as it was.
final class MigrationSession: Sendable {
    private enum Phase {
        /// The parts of the server are being exchanged. The session is abandoned afterwards if
        /// there is a reason by then, unless it has been committed.
        case working(abandonment: LarderError?)
        case open
        case ended
    }

    private struct State {
        var phase = Phase.working(abandonment: nil)
        /// Served the store before the session, and has the connection that began it.
        var original: ServerCore?
    }

    let key: String
    private let state = Mutex(State())
    private let abandon: @Sendable (MigrationSession, LarderError) -> Void
    private let whenEnded: @Sendable (LarderError?) -> Void
    private let promise: EventLoopPromise<Void>

    /// - Parameters:
    ///   - abandon: Called at most once, to serve the store as it was.
    ///   - whenEnded: Called once, with the reason if the session was not committed.
    init(
        eventLoop: any EventLoop,
        abandon: @escaping @Sendable (MigrationSession, LarderError) -> Void,
        whenEnded: @escaping @Sendable (LarderError?) -> Void
    ) {
        promise = eventLoop.makePromise()
        var generator = SystemRandomNumberGenerator()
        key = [generator.next(), generator.next()].map { String($0, radix: 36) }.joined()
        self.abandon = abandon
        self.whenEnded = whenEnded
    }

    var original: ServerCore? { state.withLock { $0.original } }

    /// Succeeds when the session has ended, and the connection that began it has the reply.
    var ended: EventLoopFuture<Void> { promise.futureResult }

    /// The working copy is served from now on.
    func opened(by original: ServerCore) {
        state.withLock { $0.original = original }
        workEnded()
    }

    /// A stage or the commit begins.
    ///
    /// - Throws: `unavailable` while another one runs; `cancelled` if the session has ended.
    func beginWork() throws(LarderError) {
        let failure = state.withLock { state -> LarderError? in
            switch state.phase {
            case .working: return Migrations.underWay
            case .ended: return Self.hasEnded
            case .open:
                state.phase = .working(abandonment: nil)
                return nil
            }
        }
        if let failure { throw failure }
    }

    /// The stage has ended, and the working copy is served again.
    func workEnded() {
        let reason = state.withLock { state -> LarderError? in
            guard case .working(let abandonment) = state.phase else { return nil }
            state.phase = abandonment == nil ? .open : .ended
            return abandonment
        }
        if let reason { abandon(self, reason) }
    }

    /// Ends the session without its result, as soon as no stage runs.
    func end(_ reason: LarderError) {
        let isOpen = state.withLock { state in
            switch state.phase {
            case .ended: return false
            case .working(let abandonment):
                state.phase = .working(abandonment: abandonment ?? reason)
                return false
            case .open:
                state.phase = .ended
                return true
            }
        }
        if isOpen { abandon(self, reason) }
    }

    /// The store is served again, or the session could not be begun.
    ///
    /// - Parameter failure: nil if the session was committed.
    func finished(_ failure: LarderError?) {
        let original = state.withLock { state in
            state.phase = .ended
            return state.original
        }
        whenEnded(failure)
        guard let original else { return promise.succeed() }
        original.whenDrained { [promise] in promise.succeed() }
    }

    /// For a connection with the key of a session that has ended.
    static let hasEnded = LarderError(
        .cancelled, "the migration of this connection has ended",
        hint: "connect without a migration session, and look at the schema of the store")

    static let timeOver = LarderError(
        .timeout, "the migration took longer than it may; nothing was changed",
        hint: "allow it more time")

    static let cancelled = LarderError(
        .cancelled, "the migration was cancelled; nothing was changed")

    /// For all connections without the key of a session that is open.
    static let exclusive = LarderError(
        .unavailable, "the store is being migrated (another client performs a stage)",
        hint: "wait until the migration has ended, and try again")
}
