import LarderModel
import LarderObjects

/// Opens the store of a configuration.
enum StoreOpening {
    static func open(
        _ configuration: ModelConfiguration, _ schema: Schema,
        _ migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws -> any ObjectStore {
        let stored = try schema.larderSchema()
        do throws(LarderError) {
            if configuration.isStoredInMemoryOnly { return try EngineStore(stored) }
            throw LarderError(.unsupported, "files are not supported yet")
        } catch {
            throw SwiftDataError.loadIssueModelContainer.explained(
                "\(configuration.url.path): \(error.description)")
        }
    }
}
