import LarderModel
import LarderQuery
import NIOCore
import NIOPosix
import Synchronization

/// The migrations of the store that one set of a server's parts serves.
///
/// A migration ends all connections except the one that requested it, closes the writer and the
/// readers, and opens the store again with the new schema. Clients that connect meanwhile get
/// UNAVAILABLE with the step that is being done, and come back by themselves; then they have the
/// new schema, or the former one if it was only added to (``ViewServices``), or are refused
/// because they were built for another one. If the migration fails, the store is served as before.
///
/// One migration runs at a time. A client that requests another one at that time gets UNAVAILABLE,
/// and finds the store migrated when it asks again.
final class Migrations: Sendable {
    private let backend: any StoreBackend
    /// The session whose working copy is served; nil if the store is.
    let session: MigrationSession?
    let rights: MigrationRights
    let turns: MigrationTurns
    /// Nil after the end of the server.
    private let server: @Sendable () -> Server?
    private let isRunning = Mutex(false)

    init(
        backend: any StoreBackend, session: MigrationSession?, rights: MigrationRights,
        turns: MigrationTurns, server: @escaping @Sendable () -> Server?
    ) {
        self.backend = backend
        self.session = session
        self.rights = rights
        self.turns = turns
        self.server = server
    }

    /// The schema that the store has, which clients of a former schema do not see.
    var schema: Schema { backend.storeDescription.schema }

    /// Migrates the store, or the working copy of the session.
    ///
    /// - Parameter done: Called in any case, on any thread.
    func migrate(to schema: Schema, _ work: Server.MigrationWork, _ done: @escaping Server.Done) {
        perform(stoppedBy: work.cancellation, done) {
            [session] server, done throws(LarderError) in
            server.migrate(to: schema, session, work, done)
        }
    }

    /// Begins a session. The connection that requested it stays as long as the session is open.
    ///
    /// - Parameters:
    ///   - hasBegun: Called when the working copy is served, on any thread.
    ///   - whenEnded: Called once, with the reason if the session was not committed, or could not
    ///     be begun.
    func begin(
        _ work: Server.MigrationWork,
        hasBegun: @escaping @Sendable (MigrationSession) -> Void,
        whenEnded: @escaping Server.Done
    ) -> MigrationSession {
        let session = MigrationSession(
            stoppedBy: work.cancellation, eventLoop: work.requester.eventLoop,
            abandon: { [server] session, reason in server()?.abandon(session, reason) },
            whenEnded: whenEnded)
        let done: Server.Done = { error in
            if let error { session.finished(error) } else { hasBegun(session) }
        }
        guard self.session == nil else {
            done(Self.underWay)
            return session
        }
        perform(stoppedBy: work.cancellation, done) { server, done throws(LarderError) in
            server.begin(session, work, done)
        }
        return session
    }

    /// Stores the working copy of the session. The end of the session does not stop that.
    func commit(_ work: Server.MigrationWork, _ done: @escaping Server.Done) {
        perform(stoppedBy: ReadCancellation(), done) {
            [session] server, done throws(LarderError) in
            guard let session else {
                throw LarderError(
                    .unsupported, "there is no migration session to commit",
                    hint: "commit on a connection that has the key of a session")
            }
            server.commit(session, work, done)
        }
    }

    /// Starts an exchange of the server's parts, on a thread that may block, because a connection
    /// to the store is opened first.
    private func perform(
        stoppedBy cancellation: ReadCancellation, _ done: @escaping Server.Done,
        _ body: @escaping @Sendable (Server, @escaping Server.Done) throws(LarderError) -> Void
    ) {
        NIOSingletons.posixBlockingThreadPool.submit { [self] _ in
            start(stoppedBy: cancellation, done, body)
        }
    }

    private func start(
        stoppedBy cancellation: ReadCancellation, _ done: @escaping Server.Done,
        _ body: (Server, @escaping Server.Done) throws(LarderError) -> Void
    ) {
        do throws(LarderError) {
            guard let server = server() else { throw ConnectionState.stopping }
            try begin()
            do throws(LarderError) {
                if cancellation.isCancelled { throw MigrationSession.cancelled }
                try session?.beginWork(stoppedBy: cancellation)
                do throws(LarderError) {
                    try backend.prepareToReopen()
                    try body(server, done)
                } catch {
                    session?.workEnded()
                    throw error
                }
            } catch {
                isRunning.withLock { $0 = false }
                throw error
            }
        } catch {
            done(error)
        }
    }

    private func begin() throws(LarderError) {
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { throw Self.underWay }
    }

    static let underWay = LarderError(
        .unavailable, "the store is being migrated", hint: "try again when that has ended")
}
