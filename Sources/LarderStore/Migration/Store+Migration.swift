import LarderModel
import LarderQuery
import LarderSQL

extension Store {
    /// The steps of a migration of this store to a schema. Nothing is changed.
    ///
    /// - Throws: `migrationRefused` with every reason that does not depend on the objects,
    ///   `malformedSchema` for a schema that cannot be stored, or a failure of the storage.
    package func migrationSummary(to schema: Schema) throws(LarderError) -> MigrationSummary {
        let reader = try Reader(self)
        do throws(ReadFailure) {
            return try reader.migrationSummary(to: schema, budget: ReadBudget())
        } catch {
            throw error.larderError
        }
    }

    /// The steps without a store, so without the numbers of rows.
    ///
    /// - Parameter isStage: Whether it is a stage of a plan, which may lead to an earlier version.
    package static func migrationSummary(
        from old: Schema, to new: Schema, isStage: Bool = false
    ) throws(LarderError) -> MigrationSummary {
        try SchemaStorability.check(new)
        let plan = try Migration.plan(from: old, to: new, isStage: isStage)
        do throws(SQLError) {
            return try plan.summary(of: nil)
        } catch {
            throw error.larderError
        }
    }

    package func prepareToReopen() throws(LarderError) {
        // Without its folder, the archive could not be opened again.
        if let failure = archive?.state.withLock({ $0.failure }) {
            throw LarderError(
                .unavailable, "the archive of the store fails (\(failure.error.message))",
                hint: "migrate the store when its archive works again")
        }
        let holder = LockHolder(connection: try openReadConnection())
        lockHolder.withLock { $0 = holder }
    }

    package func reopened(
        _ change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        let opened: OpenedStore
        do throws(LarderError) {
            opened = try open(after: change, progress: progress)
        } catch {
            removeRolledBackPages()
            throw error
        }
        let archive = try archive.map { (archive) throws(LarderError) in
            try Archive.open(
                archive.options, store: opened, path: path, limits: archive.limits,
                report: archive.report)
        }
        lockHolder.withLock { $0 = nil }
        return Store(
            opened, path: path, options: self.options, memory: memory, archive: archive,
            workingFile: workingFile)
    }

    private func open(
        after change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> OpenedStore {
        var options = options
        options.assignsNewIdentifier = false
        var schema = storeDescription.schema
        var watch = MigrationWatch(progress: progress)
        switch change {
        case .none: break
        case .migration(let new, let cancellation):
            options.migrates = true
            // This one is wanted, also if the store had it before.
            options.ignoresPastSchemas = false
            schema = new
            watch.cancellation = cancellation
        case .contents(let copy, let cancellation):
            progress(MigrationProgress(step: "stores the result"))
            try takeContents(of: copy, stoppedBy: cancellation)
            schema = copy.storeDescription.schema
        }
        return try OpenedStore.open(
            path: path, claimed: file, schema: schema, options: options,
            synchronous: synchronous, watch: watch)
    }

    /// Empties the log, which has the pages of a change that failed: as many as the disk had space
    /// for, if it is full. Not if it has commits that are not archived.
    private func removeRolledBackPages() {
        if let archive, archive.state.withLock({ $0.closed }) == nil { return }
        try? reopenWriterConnection().checkpoint(.truncate)
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
            plan = try Migration.plan(
                from: session.layout.schema, to: schema,
                isStage: session.store.options.isWorkingCopy)
        } catch {
            throw .failed(error)
        }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        try session.beginSnapshot()
        defer { session.endSnapshot() }
        do throws(SQLError) {
            return try plan.summary(of: session.connection)
        } catch {
            throw session.failure(error)
        }
    }
}
