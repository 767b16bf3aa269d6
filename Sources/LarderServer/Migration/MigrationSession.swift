import LarderModel
import LarderQuery
import NIOCore
import Synchronization

/// A migration in several stages, which one client makes on a working copy of the store.
///
/// As long as the session is open, the server serves the working copy, and only to connections that
/// have its key. It ends when the client commits, and is abandoned if the connection that began it
/// ends, if its client sends nothing for some time, if its time is over, and if the server stops:
/// the store is then as it was.
final class MigrationSession: Sendable {
    private enum Phase {
        /// The parts of the server are being exchanged. The session is abandoned afterwards if
        /// there is a reason by then, unless it has been committed.
        case working(stoppedBy: ReadCancellation, abandonment: LarderError?)
        case open
        case ended
    }

    private struct State {
        var phase: Phase
        /// Served the store before the session, and has the connection that began it.
        var original: ServerCore?
    }

    let key: String
    private let state: Mutex<State>
    private let abandon: @Sendable (MigrationSession, LarderError) -> Void
    private let whenEnded: @Sendable (LarderError?) -> Void
    private let promise: EventLoopPromise<Void>
    private let lastMessageNanoseconds = Atomic(NIODeadline.now().uptimeNanoseconds)

    /// - Parameters:
    ///   - cancellation: Stops the making of the working copy.
    ///   - abandon: Called at most once, to serve the store as it was.
    ///   - whenEnded: Called once, with the reason if the session was not committed.
    init(
        stoppedBy cancellation: ReadCancellation, eventLoop: any EventLoop,
        abandon: @escaping @Sendable (MigrationSession, LarderError) -> Void,
        whenEnded: @escaping @Sendable (LarderError?) -> Void
    ) {
        promise = eventLoop.makePromise()
        state = Mutex(State(phase: .working(stoppedBy: cancellation, abandonment: nil)))
        var generator = SystemRandomNumberGenerator()
        key = [generator.next(), generator.next()].map { String($0, radix: 36) }.joined()
        self.abandon = abandon
        self.whenEnded = whenEnded
    }

    /// When a connection of the session, or the one that began it, last received something, or a
    /// stage last ended.
    var lastMessage: NIODeadline {
        .uptimeNanoseconds(lastMessageNanoseconds.load(ordering: .relaxed))
    }

    func noteMessage() {
        lastMessageNanoseconds.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
    }

    /// Whether the client waits for the server to perform a stage.
    var isWorking: Bool {
        state.withLock { if case .working = $0.phase { true } else { false } }
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
    /// - Parameter cancellation: Stops it. The session does so if it ends before.
    /// - Throws: `unavailable` while another one runs; `cancelled` if the session has ended.
    func beginWork(stoppedBy cancellation: ReadCancellation) throws(LarderError) {
        let failure = state.withLock { state -> LarderError? in
            switch state.phase {
            case .working: return Migrations.underWay
            case .ended: return Self.hasEnded
            case .open:
                state.phase = .working(stoppedBy: cancellation, abandonment: nil)
                return nil
            }
        }
        if let failure { throw failure }
    }

    /// The stage has ended, and the working copy is served again.
    func workEnded() {
        noteMessage()
        let reason = state.withLock { state -> LarderError? in
            guard case .working(_, let abandonment) = state.phase else { return nil }
            state.phase = abandonment == nil ? .open : .ended
            return abandonment
        }
        if let reason { abandon(self, reason) }
    }

    /// Ends the session without its result. A stage that runs is stopped first.
    func end(_ reason: LarderError) {
        let (isOpen, work) = state.withLock { state -> (Bool, ReadCancellation?) in
            switch state.phase {
            case .ended: return (false, nil)
            case .working(let work, let abandonment):
                state.phase = .working(stoppedBy: work, abandonment: abandonment ?? reason)
                return (false, work)
            case .open:
                state.phase = .ended
                return (true, nil)
            }
        }
        work?.cancel()
        if isOpen { abandon(self, reason) }
    }

    /// The store is served again, or the session could not be begun.
    ///
    /// - Parameter failure: nil if the session was committed.
    func finished(_ failure: LarderError?) {
        let original = state.withLock { state in
            state.phase = .ended
            return state.original.take()
        }
        guard let original else {
            // Before the reply: after it, the server may stop, and its event loops with it.
            promise.succeed()
            return whenEnded(failure)
        }
        whenEnded(failure)
        original.whenDrained { [promise] in promise.succeed() }
    }

    /// For a connection with the key of a session that has ended.
    static let hasEnded = LarderError(
        .cancelled, "the migration of this connection has ended",
        hint: "connect without a migration session, and look at the schema of the store")

    static let timeOver = LarderError(
        .timeout, "the migration took longer than it may; nothing was changed",
        hint: "allow it more time")

    static let silent = LarderError(
        .timeout,
        "the migration was ended, because its client sent nothing for too long; nothing was "
            + "changed",
        hint: "send credit for the request that began it while stages compute, or start larderd "
            + "with a longer --migration-idle-timeout")

    static let cancelled = LarderError(
        .cancelled, "the migration was cancelled; nothing was changed")

    /// For all connections without the key of a session that is open.
    static let exclusive = LarderError(
        .unavailable, "the store is being migrated (another client performs a stage)",
        hint: "wait until the migration has ended, and try again")
}
