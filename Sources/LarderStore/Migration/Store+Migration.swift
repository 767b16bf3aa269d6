public import LarderModel

extension Store {
    /// What a migration of this store to a schema would do. Nothing is changed.
    ///
    /// - Throws: `migrationRefused` with every reason that does not depend on the objects,
    ///   `malformedSchema` for a schema that cannot be stored, or a failure of the storage.
    public func migrationSummary(to schema: Schema) throws(LarderError) -> MigrationSummary {
        try SchemaStorability.check(schema)
        let plan = try Migration.plan(from: storeDescription.schema, to: schema)
        let connection = try openReadConnection()
        do throws(SQLiteError) {
            return try plan.summary(of: connection)
        } catch {
            throw error.larderError
        }
    }

    /// The same without a store, so without the numbers of rows.
    public static func migrationSummary(
        from old: Schema, to new: Schema
    ) throws(LarderError) -> MigrationSummary {
        try SchemaStorability.check(new)
        let plan = try Migration.plan(from: old, to: new)
        do throws(SQLiteError) {
            return try plan.summary(of: nil)
        } catch {
            throw error.larderError
        }
    }

    public func prepareToReopen() throws(LarderError) {
        guard archive == nil else {
            throw LarderError(
                .unsupported, "a store that is archived is not migrated while it is served",
                hint: "stop the server, and start it with the new schema and --migrate")
        }
        let holder = LockHolder(connection: try openReadConnection())
        lockHolder.withLock { $0 = holder }
    }

    public func reopened(
        migratingTo schema: Schema?, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        var options = options
        options.migrates = schema != nil
        options.assignsNewIdentifier = false
        let opened = try OpenedStore.open(
            path: path, claimed: file, schema: schema ?? storeDescription.schema, options: options,
            synchronous: memory == nil ? options.synchronous.setting : .off, progress: progress)
        lockHolder.withLock { $0 = nil }
        return Store(opened, path: path, options: self.options, memory: memory)
    }
}
