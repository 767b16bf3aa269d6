import LarderModel
internal import LarderWire
import Synchronization

/// A migration that a client makes: it waits for the migrations of others, and performs the stages
/// that are left in a session of the server.
///
/// The connection on which the session began stays open as long as the session. If it ends, the
/// server abandons the session.
final class MigrationRun: Sendable {
    private enum State {
        case waiting
        case open(Connection, UInt64)
        case cancelled
    }

    private let session: Session
    private let state = Mutex(State.waiting)

    init(_ session: Session) { self.session = session }

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
        guard let path = session.path else {
            throw LarderError(
                .unsupported, "a client over a connected socket cannot migrate in stages",
                hint: "connect to the path of the server's socket")
        }
        defer {
            cancel()
            session.forgetSchema()
        }
        let stages = try waitingForOthers { () throws(LarderError) in
            try migration.remaining(from: currentSchema(path))
        }
        guard let first = stages.first else { return [] }
        if stages.count == 1, !first.isCustom, backup == nil {
            return try [
                waitingForOthers { () throws(LarderError) in
                    try session.perform(.migrate(to: first.to))
                }
            ]
        }
        var options = anySchema
        options.migrationSession = try waitingForOthers { () throws(LarderError) in
            try beginSession()
        }
        let client = try StoreClient.connect(to: path, options: options)
        defer { client.close() }
        return try perform(migration, client, backup)
    }

    /// The options of a client that has the current schema, whatever it is.
    private var anySchema: StoreClient.Options {
        var options = session.options
        options.schemaVersion = ""
        options.schemaFingerprint = ""
        return options
    }

    private func currentSchema(_ path: String) throws(LarderError) -> Schema {
        guard session.options.expectsSchema else {
            session.forgetSchema()
            return try session.schema()
        }
        let client = try StoreClient.connect(to: path, options: anySchema)
        defer { client.close() }
        return try client.schema()
    }

    private func perform(
        _ migration: StagedMigration, _ client: StoreClient, _ backup: String?
    ) throws -> [MigrationSummary] {
        // Another client may have migrated the store before the session began.
        let stages = try migration.remaining(from: client.schema())
        if stages.isEmpty { return [] }
        if let backup { _ = try client.backup(to: backup) }
        var summaries: [MigrationSummary] = []
        for stage in stages {
            try stage.willMigrate?(client)
            summaries.append(try client.session.perform(.migrate(to: stage.to)))
            client.session.forgetSchema()
            try stage.didMigrate?(client)
        }
        try commit(client, stages)
        return summaries
    }

    /// - Returns: the key of the session.
    private func beginSession() throws(LarderError) -> String {
        var attempt = session.attempt(isWrite: false)
        var failed: Connection?
        while true {
            let connection = try session.connection(replacing: failed, for: attempt)
            let id = try connection.send(.migrate(.begin), .session, until: nil)
            let isWanted = state.withLock { state in
                if case .cancelled = state { return false }
                state = .open(connection, id)
                return true
            }
            guard isWanted else {
                connection.cancel(id)
                throw LarderError(.cancelled, "the call was cancelled")
            }
            let outcome = connection.outcome(of: id, until: attempt.deadline)
            if let reply = try attempt.resolve(outcome, now: .now) {
                guard case .migrationBegun(let key) = reply else { throw .unexpectedReply }
                return key
            }
            failed = connection
        }
    }

    private func commit(_ client: StoreClient, _ stages: [MigrationStage]) throws(LarderError) {
        do throws(LarderError) {
            try client.session.perform(.commitMigration)
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
            defer { state = .cancelled }
            return state
        }
        if case .open(let connection, let id) = previous { connection.cancel(id) }
    }
}
