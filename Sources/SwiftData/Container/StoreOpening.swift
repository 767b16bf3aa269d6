internal import LarderClient
internal import LarderModel
internal import LarderObjects

/// Opens the store of a configuration.
enum StoreOpening {
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the reason, or the error of a
    ///   custom stage of the migration plan.
    static func open(
        _ configuration: ModelConfiguration, _ schema: Schema,
        _ migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws -> any ObjectStore {
        do {
            if let migrationPlan { try PlannedMigration.check(migrationPlan) }
            let stored = try schema.larderSchema()
            if configuration.isStoredInMemoryOnly {
                return try EngineStore(stored, isReadOnly: !configuration.allowsSave)
            }
            var options = StoreFileOptions()
            options.client.isReadOnly = !configuration.allowsSave
            options.client.name = StorePath.programName
            options.migration = try migrationPlan.flatMap(PlannedMigration.stages)
            options.computedDefaults = schema.computedDefaults
            if configuration.allowsSave {
                try StorePath.createFolder(of: configuration.url.path)
            }
            return try StoreFile.open(
                path: configuration.url.path, schema: stored, options: options)
        } catch let error as LarderError {
            throw failure(configuration, error.description)
        }
    }

    /// Opens a store that others write.
    static func openCustom<Configuration: DataStoreConfiguration>(
        _ configuration: Configuration, _ schema: Schema
    ) throws -> any ObjectStore {
        var configuration = configuration
        configuration.schema = schema
        let store = try Configuration.Store(configuration, migrationPlan: nil)
        return try CustomStore(store, schema)
    }

    private static func failure(
        _ configuration: ModelConfiguration, _ reason: String
    ) -> SwiftDataError {
        let place = configuration.isStoredInMemoryOnly ? "in memory" : configuration.url.path
        return SwiftDataError.loadIssueModelContainer.explained("\(place): \(reason)")
    }
}
