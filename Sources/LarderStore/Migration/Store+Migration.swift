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
}
