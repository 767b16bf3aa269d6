import LarderModel
import LarderQuery
import LarderSQL

/// The migration of a store's tables from one schema to another, in one transaction.
enum Migration {
    /// Migrates the store of a connection that is open for writing.
    ///
    /// - Parameter isStage: See ``plan(from:to:isStage:)``.
    /// - Throws: `migrationRefused` with every reason, `cancelled`, or `SQLError`; the store is
    ///   then as it was.
    static func run(
        on connection: Connection, _ catalog: Catalog, from old: Schema, to new: Schema,
        isStage: Bool = false, watch: MigrationWatch
    ) throws {
        let plan = try plan(from: old, to: new, isStage: isStage)
        try connection.execute("BEGIN EXCLUSIVE")
        do {
            connection.setBudget(ReadBudget(cancellation: watch.cancellation))
            try MigrationRun(plan, catalog, on: connection, progress: watch.progress).run()
            try watch.check()
            // The commit is not stopped.
            connection.setBudget(nil)
            watch.progress(MigrationProgress(step: "commits"))
            try connection.execute("COMMIT")
        } catch {
            connection.setBudget(nil)
            if !connection.autocommit { try? connection.execute("ROLLBACK") }
            // Whatever a stopped statement reports.
            try watch.check()
            throw error
        }
        // The log has every page of the tables that were rewritten.
        try? connection.checkpoint(.truncate)
    }

    /// - Parameter isStage: Whether it is a stage of a plan, which may lead to an earlier version.
    /// - Throws: `migrationRefused` with every reason why a schema does not continue another.
    static func plan(
        from old: Schema, to new: Schema, isStage: Bool = false
    ) throws(LarderError) -> MigrationPlan {
        let mapping = SchemaMapping(from: old, to: new, permitsEarlierVersion: isStage)
        guard mapping.problems.isEmpty else {
            throw LarderError(
                .migrationRefused,
                "the new schema does not follow from the store's without help",
                hint: "change the schema as the reasons say, or migrate in several stages",
                problems: mapping.problems.map(\.description))
        }
        return try MigrationPlan(mapping)
    }
}
