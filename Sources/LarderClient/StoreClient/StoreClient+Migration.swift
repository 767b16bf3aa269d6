public import LarderModel

extension StoreClient {
    /// Changes the store to a schema that continues its own, in one transaction, or says what that
    /// would do.
    ///
    /// The server ends all other connections first; their clients come back when the migration has
    /// ended. If the store has the schema already, nothing happens. `requestTimeout` limits the
    /// whole time, so a client that migrates a large store needs a long one; the migration
    /// continues if it expires.
    ///
    /// - Parameter dryRun: Whether nothing is changed.
    /// - Returns: the changes and steps; none if the store has the schema already.
    /// - Throws: `migrationRefused` with every reason, and the store is as it was; `unsupported`
    ///   for a store that is archived; `readOnly`; `unavailable` while another migration runs.
    @discardableResult
    public func migrate(
        to schema: Schema, dryRun: Bool = false
    ) throws(LarderError) -> MigrationSummary {
        try session.perform(.migrate(to: schema, dryRun: dryRun))
    }

    /// The asynchronous form of ``migrate(to:dryRun:)-(Schema,Bool)``.
    @discardableResult
    public func migrate(
        to schema: Schema, dryRun: Bool = false
    ) async throws(LarderError) -> MigrationSummary {
        try await session.perform(.migrate(to: schema, dryRun: dryRun))
    }
}
