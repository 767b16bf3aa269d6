import LarderModel
import LarderQuery
import NIOCore
import NIOPosix

/// Exchanging the parts that serve the store, for a migration.
extension Server {
    /// The store that is served after an exchange.
    private struct Served {
        let backend: any StoreBackend
        /// The session whose working copy this is; nil if it is the store.
        var session: MigrationSession?
        /// Why the exchange failed, if the former store or working copy is served again.
        var failure: LarderError?
    }

    /// The client that requested a migration, as the migration sees it.
    struct MigrationWork: Sendable {
        /// The connection that stays until it has its reply.
        let requester: ConnectionPort
        /// Stops the migration before it commits.
        let cancellation: ReadCancellation
        /// Called before each step.
        let progress: Progress
    }

    typealias Done = @Sendable (LarderError?) -> Void
    typealias Progress = @Sendable (MigrationProgress) -> Void

    /// Migrates the store, or the working copy of a session.
    func migrate(
        to schema: Schema, _ session: MigrationSession?, _ work: MigrationWork,
        _ done: @escaping Done
    ) {
        let title = "the store is being migrated to schema version \(schema.version)"
        exchange(title, leaving: work.requester, progress: work.progress) {
            core, progress throws(LarderError) in
            try Self.served(session, otherwise: core.backend, session) { () throws(LarderError) in
                try core.backend.reopened(
                    .migration(schema, stoppedBy: work.cancellation), progress: progress)
            }
        } done: { error in
            session?.workEnded()
            done(error)
        }
    }

    /// Makes the working copy of a session, and serves it.
    func begin(_ session: MigrationSession, _ work: MigrationWork, _ done: @escaping Done) {
        let original = core
        state.withLock { state in
            state.session = session
            state.migrationBegins(endingWith: session.ended)
        }
        exchange(
            "the store is being migrated", leaving: work.requester, requesterStays: true,
            progress: work.progress
        ) {
            core, progress throws(LarderError) in
            progress(MigrationProgress(step: "copies the store"))
            return try Self.served(session, otherwise: core.backend) { () throws(LarderError) in
                try core.backend.makeWorkingCopy(stoppedBy: work.cancellation)
            }
        } done: { [self] error in
            if error == nil {
                session.opened(by: original)
            } else {
                state.withLock { $0.session = nil }
            }
            done(error)
        }
    }

    /// Gives the store the contents of the working copy, and serves it.
    func commit(_ session: MigrationSession, _ work: MigrationWork, _ done: @escaping Done) {
        guard let original = session.original else { return done(MigrationSession.hasEnded) }
        exchange("the store is being migrated", leaving: work.requester, progress: work.progress) {
            core, progress throws(LarderError) in
            try Self.served(nil, otherwise: original.backend) { () throws(LarderError) in
                try original.backend.reopened(
                    .contents(of: core.backend, stoppedBy: work.cancellation), progress: progress)
            }
        } done: { [self] error in
            done(error)
            ended(session, error)
        }
    }

    /// Serves the store as it was before the session.
    func abandon(_ session: MigrationSession, _ reason: LarderError) {
        guard let original = session.original else { return }
        logger.notice("the migration is abandoned: \(reason.message)")
        exchange("the store was being migrated", leaving: nil) { _, _ throws(LarderError) in
            Served(backend: try original.backend.reopened(.none) { _ in })
        } done: { [self] error in
            ended(session, error ?? reason)
        }
    }

    /// The store that a closure opens for a session, or after an error the former one, unchanged.
    private static func served(
        _ session: MigrationSession?, otherwise former: any StoreBackend,
        _ formerSession: MigrationSession? = nil,
        _ open: () throws(LarderError) -> any StoreBackend
    ) throws(LarderError) -> Served {
        do throws(LarderError) {
            return Served(backend: try open(), session: session)
        } catch {
            return Served(
                backend: try former.reopened(.none) { _ in }, session: formerSession,
                failure: error)
        }
    }

    private func ended(_ session: MigrationSession, _ failure: LarderError?) {
        state.withLock { $0.session = nil }
        session.finished(failure)
    }

    /// Succeeds when no exchange runs and no session is open. Abandons the open one.
    func endMigrations(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let (session, migrations) = state.withLock { ($0.session, $0.migrations.take()) }
        session?.end(ConnectionState.stopping)
        guard let migrations else { return eventLoop.makeSucceededVoidFuture() }
        // The abandonment of a session is another exchange.
        return migrations.hop(to: eventLoop).flatMap { self.endMigrations(on: eventLoop) }
    }

    // MARK: The exchange

    /// Ends all connections but one, closes the writer and the readers, and serves what a closure
    /// opens then. A server that stops completes this first.
    ///
    /// - Parameters:
    ///   - title: A sentence for clients that connect meanwhile.
    ///   - requesterStays: Whether the one connection stays after this.
    ///   - progress: Called before each step, besides for the log and other clients.
    ///   - open: Called on a thread that may block.
    ///   - done: Called when it is served, or with the error if nothing is.
    private func exchange(
        _ title: String, leaving requester: ConnectionPort?, requesterStays: Bool = false,
        progress: @escaping Progress = { _ in },
        _ open: @escaping @Sendable (ServerCore, @escaping Progress) throws(LarderError) -> Served,
        done: @escaping Done
    ) {
        let eventLoop = group.next()
        let begun = state.withLock { state -> (core: ServerCore, ended: EventLoopPromise<Void>)? in
            // The changes of a session are undone also when the server stops.
            guard !state.isStopping || requester == nil, let core = state.core else { return nil }
            let ended = eventLoop.makePromise(of: Void.self)
            state.isMigrating = true
            state.migrationBegins(endingWith: ended.futureResult)
            return (core, ended)
        }
        guard let (core, ended) = begun else { return done(ConnectionState.stopping) }
        logger.notice("\(title)")
        let reason = Self.refusal(title, "waits for connections to end")
        core.suspend(refusing: reason, leaving: requester, on: eventLoop).whenComplete { _ in
            NIOSingletons.posixBlockingThreadPool.submit { [self] _ in
                let failure = serve(title, instead: core, progress, open)
                state.withLock { $0.isMigrating = false }
                done(failure)
                if requesterStays { return ended.succeed() }
                core.whenDrained { ended.succeed() }
            }
        }
    }

    private func serve(
        _ title: String, instead former: ServerCore, _ report: @escaping Progress,
        _ open: (ServerCore, @escaping Progress) throws(LarderError) -> Served
    ) -> LarderError? {
        let (logger, notification) = (logger, notification)
        var failure: LarderError?
        do throws(LarderError) {
            let served = try open(former) { progress in
                logger.notice("migration: \(progress.step)")
                notification.status("migrating the store: \(progress.step)")
                former.refuse(Self.refusal(title, progress.step))
                report(progress)
            }
            failure = served.failure
            let writer = try served.backend.makeWriter()
            let core = makeCore(served.backend, writer, served.session)
            state.withLock { $0.core = core }
        } catch {
            logger.critical("stopping: the store cannot be opened again: \(error.message)")
            requestStop()
            return failure ?? error
        }
        if let failure {
            logger.error("the migration failed, and nothing was changed: \(failure.message)")
        }
        announce()
        return failure
    }

    private static func refusal(_ title: String, _ step: String) -> LarderError {
        LarderError(
            .unavailable, "\(title) (\(step))",
            hint: "wait until the migration has ended, and try again")
    }
}
