public import LarderModel

extension Store {
    /// What a migration of this store to a schema would do. Nothing is changed.
    ///
    /// - Throws: `migrationRefused` with every reason that does not depend on the objects,
    ///   `malformedSchema` for a schema that cannot be stored, or a failure of the storage.
    public func migrationSummary(to schema: Schema) throws(LarderError) -> MigrationSummary {
        let reader = try Reader(self)
        do throws(ReadFailure) {
            return try reader.migrationSummary(to: schema, budget: ReadBudget())
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
        _ change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        var options = options
        options.assignsNewIdentifier = false
        var schema = storeDescription.schema
        switch change {
        case .none: break
        case .migration(let new):
            options.migrates = true
            schema = new
        case .contents(let copy):
            progress(MigrationProgress(step: "stores the result"))
            try takeContents(of: copy)
            schema = copy.storeDescription.schema
        }
        let opened = try OpenedStore.open(
            path: path, claimed: file, schema: schema, options: options,
            synchronous: synchronous, progress: progress)
        lockHolder.withLock { $0 = nil }
        return Store(
            opened, path: path, options: self.options, memory: memory, workingFile: workingFile)
    }

    /// The setting of the writer.
    var synchronous: StoreConnection.Synchronous {
        memory == nil && workingFile == nil ? options.synchronous.setting : .off
    }
}

extension Reader {
    func migrationSummary(
        to schema: Schema, budget: ReadBudget
    ) throws(ReadFailure) -> MigrationSummary {
        let plan: MigrationPlan
        do throws(LarderError) {
            try SchemaStorability.check(schema)
            plan = try Migration.plan(from: session.layout.schema, to: schema)
        } catch {
            throw .failed(error)
        }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        do throws(SQLiteError) {
            return try plan.summary(of: session.connection)
        } catch {
            throw session.failure(error)
        }
    }
}
