import LarderModel
internal import LarderWire

/// A migration that a client makes: it waits for the migrations of others, and performs the stages
/// that are left in a session of the server.
///
/// The connection on which the session began stays open as long as the session. If it ends, the
/// server abandons the session. Messages on it tell the server that the client is alive while the
/// code of a stage computes.
final class MigrationRun: Sendable {
    private enum State {
        case waiting
        case open(Connection, UInt64)
        case cancelled
    }

    private let session: Session
    private let progress: @Sendable (MigrationProgress) -> Void
    private let state = Monitor(State.waiting)
    private let changed = Condition()

    /// - Parameter progress: Called before each step of the server.
    init(_ session: Session, progress: @escaping @Sendable (MigrationProgress) -> Void) {
        self.session = session
        self.progress = progress
    }

    // MARK: Waiting

    /// Calls the closure again as long as another client migrates the store, for at most the time
    /// of a request.
    func waitingForOthers<Result>(
        _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        let deadline = MonotonicInstant.after(session.options.requestTimeout)
        var backoff = Backoff()
        while true {
            do throws(LarderError) {
                return try body()
            } catch {
                let pauseEnd = MonotonicInstant.now.advanced(by: backoff.next())
                guard error.code == .unavailable, pauseEnd < deadline, !isCancelled else {
                    throw error
                }
                _ = session.monitor.wait(for: session.changed, until: pauseEnd) {
                    $0.isClosed ? true : nil
                }
            }
        }
    }

    private var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    // MARK: Stages

    /// Performs the stages that the store has not performed yet.
    ///
    /// - Parameter backup: Where a backup of the store as it was is made; nil for none.
    /// - Returns: what each stage has changed.
    func perform(
        _ migration: StagedMigration, keepingBackupAt backup: String?
    ) throws -> [MigrationSummary] {
        guard let connector = session.connector else {
            throw LarderError(
                .unsupported, "a client over a connected socket cannot migrate in stages",
                hint: "connect to the path of the server's socket")
        }
        defer {
            cancel()
            session.forgetSchema()
        }
        let stages = try waitingForOthers { () throws(LarderError) in
            try migration.remaining(from: currentSchema(connector))
        }
        guard let first = stages.first else { return [] }
        if stages.count == 1, !first.isCustom, !first.leadsToEarlierVersion, backup == nil {
            return try [
                waitingForOthers { () throws(LarderError) in
                    try migrate(to: first.to, over: session)
                }
            ]
        }
        var options = anySchema
        options.migrationSession = try waitingForOthers { () throws(LarderError) in
            try beginSession()
        }
        return try perform(migration, backup, connector, options)
    }

    /// The options of a client that has the current schema, whatever it is.
    private var anySchema: StoreClient.Options {
        var options = session.options
        options.schemaVersion = ""
        options.schemaFingerprint = ""
        return options
    }

    private func currentSchema(_ connector: Connector) throws(LarderError) -> Schema {
        guard session.options.expectsSchema else {
            session.forgetSchema()
            return try session.schema()
        }
        let client = try StoreClient.connect(by: connector, options: anySchema)
        defer { client.close() }
        return try client.schema()
    }

    /// Performs the stages in a session. Each schema has a client of its own, because the server
    /// ends the connections of the former one.
    private func perform(
        _ migration: StagedMigration, _ backup: String?, _ connector: Connector,
        _ options: StoreClient.Options
    ) throws -> [MigrationSummary] {
        var client = try StoreClient.connect(by: connector, options: options)
        defer { client.close() }
        // Another client may have migrated the store before the session began.
        let stages = try migration.remaining(from: client.schema())
        if stages.isEmpty { return [] }
        if let backup { _ = try client.backup(to: backup) }
        var summaries: [MigrationSummary] = []
        for stage in stages {
            try stage.willMigrate?(client)
            summaries.append(try migrate(to: stage.to, over: client.session))
            client.close()
            client = try StoreClient.connect(by: connector, options: options)
            try stage.didMigrate?(client)
        }
        try commit(client, stages)
        return summaries
    }

    /// - Returns: the key of the session.
    private func beginSession() throws(LarderError) -> String {
        let reply = try reply(to: .begin, over: session) { connection, id throws(LarderError) in
            let isWanted = state.withLock { state in
                if case .cancelled = state { return false }
                state = .open(connection, id)
                return true
            }
            guard !isWanted else { return }
            connection.cancel(id)
            throw LarderError(.cancelled, "the call was cancelled")
        }
        guard case .migrationBegun(let key) = reply else { throw .unexpectedReply }
        // The thread keeps neither the run nor its session, with which a program's own server ends.
        try BackgroundThread.start { [state, changed] in Self.keepAlive(state, changed) }
        return key
    }

    /// The server ends a session whose client sends nothing for 30 s, or less by its options.
    private static let aliveInterval = Duration.milliseconds(300)

    /// Sends messages that have no reply as long as the session is open.
    private static func keepAlive(_ state: Monitor<State>, _ changed: Condition) {
        var isOver = false
        while !isOver, sendCredit(state) {
            isOver =
                state.wait(for: changed, until: .after(aliveInterval)) { state -> Bool? in
                    if case .open = state { nil } else { true }
                } ?? false
        }
    }

    /// - Returns: false if the session is not open.
    private static func sendCredit(_ state: Monitor<State>) -> Bool {
        guard case .open(let connection, let id) = state.withLock({ $0 }) else { return false }
        // After an error the connection has ended, and the next call reports why.
        try? connection.sendWithoutReply(.credit(requestID: id, batches: 1))
        return true
    }

    /// Migrates the store, or the working copy if the session has one.
    func migrate(to schema: Schema, over session: Session) throws(LarderError) -> MigrationSummary {
        let reply = try reply(to: .migrate(to: schema.canonicalText), over: session)
        session.forgetSchema()
        guard case .migrated(let summary) = reply else { throw .unexpectedReply }
        return summary
    }

    /// Sends a request until it has a reply, and reports the steps until then. It may be sent
    /// twice: the second request finds the work of the first done.
    private func reply(
        to request: MigrateRequest, over session: Session,
        sent: (Connection, UInt64) throws(LarderError) -> Void = { _, _ in }
    ) throws(LarderError) -> Reply {
        var attempt = session.attempt(isWrite: request == .commit)
        var failed: Connection?
        while true {
            let connection = try session.connection(replacing: failed, for: attempt)
            let timeout = request == .begin ? nil : attempt.deadline
            let id = try connection.send(.migrate(request), .session, until: timeout)
            try sent(connection, id)
            while true {
                let outcome = connection.outcome(of: id, until: attempt.deadline)
                guard let reply = try attempt.resolve(outcome, now: .now) else { break }
                guard case .migrationProgress(let step) = reply else { return reply }
                progress(MigrationProgress(step: step))
            }
            failed = connection
        }
    }

    private func commit(_ client: StoreClient, _ stages: [MigrationStage]) throws(LarderError) {
        do throws(LarderError) {
            guard case .migrated = try reply(to: .commit, over: client.session) else {
                throw .unexpectedReply
            }
        } catch {
            // The schema of the store tells whether the lost reply was that of a commit.
            guard error.code == .indeterminate,
                let schema = try? waitingForOthers({ () throws(LarderError) in
                    try session.schema()
                }), schema.fingerprint == stages.last?.to.fingerprint
            else { throw error }
        }
    }

    /// Ends the session. What was not committed is discarded.
    func cancel() {
        let previous = state.withLock { state in
            defer {
                state = .cancelled
                changed.signal()
            }
            return state
        }
        if case .open(let connection, let id) = previous { connection.cancel(id) }
    }
}
