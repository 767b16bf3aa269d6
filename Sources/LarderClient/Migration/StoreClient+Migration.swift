public import LarderModel

extension StoreClient {
    /// The key of the migration session to which this client belongs; empty for none. Another
    /// program that gets it can take part (``Options/migrationSession``).
    public var migrationSession: String { session.options.migrationSession }

    /// Changes the store to a schema that continues its own, in one transaction, or says what that
    /// would do.
    ///
    /// The server ends all other connections first; their clients come back when the migration has
    /// ended. If the store has the schema already, nothing happens. `requestTimeout` limits the
    /// whole time, so a client that migrates a large store needs a long one; the migration
    /// continues if it expires. While another client migrates the store, the call waits.
    ///
    /// - Parameters:
    ///   - dryRun: Whether nothing is changed.
    ///   - progress: Called before each step of the server.
    /// - Returns: the changes and steps; none if the store has the schema already.
    /// - Throws: `migrationRefused` with every reason, and the store is as it was; `readOnly`;
    ///   `unavailable` if the migration of another client takes longer than `requestTimeout`, or
    ///   the archive of the store fails.
    @discardableResult
    public func migrate(
        to schema: Schema, dryRun: Bool = false,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws(LarderError) -> MigrationSummary {
        let run = MigrationRun(session, progress: progress)
        return try run.waitingForOthers { () throws(LarderError) in
            if dryRun { return try session.perform(.planMigration(to: schema)) }
            return try run.migrate(to: schema, over: session)
        }
    }

    /// The asynchronous form. It waits on a thread of its own.
    ///
    /// - Throws: what the blocking form throws.
    @discardableResult
    public func migrate(
        to schema: Schema, dryRun: Bool = false,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws(LarderError) -> MigrationSummary {
        try await BackgroundThread.run {
            Result { () throws(LarderError) in
                try self.migrate(to: schema, dryRun: dryRun, progress: progress)
            }
        }
    }

    /// Performs the stages of a migration that the store has not performed yet. Either all of them
    /// take effect, or the store stays as it was: if a stage fails or throws, if this process or
    /// the server ends, and if the connection is lost.
    ///
    /// Stages with code, and several stages, are performed in a session of the server. Its first
    /// client gets a working copy of the store, which its stages change by the usual calls of the
    /// client that they get; every other client gets `unavailable` until the session has ended. The
    /// server needs disk space for the copy and for the result. `requestTimeout` limits each
    /// request; a migration that takes longer needs a long one. While another client migrates the
    /// store, the call waits. Blocking.
    ///
    /// - Parameters:
    ///   - backup: Where a backup of the store as it was is made first, as by
    ///     `backup(to:)`; nil for none.
    ///   - progress: Called before each step of the server.
    /// - Returns: what each stage has changed; empty if the store has the last schema already.
    /// - Throws: what a stage throws; `migrationRefused` if no stage begins with the schema of the
    ///   store, or an object does not fit a schema; `unsupported` for a client over a connected
    ///   socket; `timeout` if the session takes longer than the server permits; `storageFull`; the
    ///   errors of `backup(to:)`.
    @discardableResult
    public func migrate(
        by migration: StagedMigration, keepingBackupAt backup: String? = nil,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws -> [MigrationSummary] {
        try MigrationRun(session, progress: progress).perform(migration, keepingBackupAt: backup)
    }

    /// The asynchronous form, which runs the stages on a thread of its own.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    @discardableResult
    public func migrate(
        by migration: StagedMigration, keepingBackupAt backup: String? = nil,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws -> [MigrationSummary] {
        let run = MigrationRun(session, progress: progress)
        return try await withTaskCancellationHandler {
            try await BackgroundThread.run {
                .success(Result { try run.perform(migration, keepingBackupAt: backup) })
            }.get()
        } onCancel: {
            run.cancel()
        }
    }
}
