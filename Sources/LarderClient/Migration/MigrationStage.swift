public import LarderModel

/// One step of a ``StagedMigration``: from one schema to the next.
public struct MigrationStage: Sendable {
    /// The code of a custom stage. It reads and writes by the client that it gets, on its thread.
    public typealias Action = @Sendable (_ client: StoreClient) throws -> Void

    public let from: Schema
    public let to: Schema
    /// Called before the store is migrated; the store has the schema ``from``.
    public let willMigrate: Action?
    /// Called after it; the store has the schema ``to``.
    public let didMigrate: Action?

    /// A stage that only changes the schema.
    public static func lightweight(from: Schema, to: Schema) -> MigrationStage {
        MigrationStage(from: from, to: to, willMigrate: nil, didMigrate: nil)
    }

    /// A stage with code that prepares the objects for the new schema, or completes them.
    public static func custom(
        from: Schema, to: Schema, willMigrate: Action? = nil, didMigrate: Action? = nil
    ) -> MigrationStage {
        MigrationStage(from: from, to: to, willMigrate: willMigrate, didMigrate: didMigrate)
    }

    /// Whether the stage has code.
    public var isCustom: Bool { willMigrate != nil || didMigrate != nil }

    /// Whether the stage goes back to a schema of an earlier version, which is a part of a plan
    /// only.
    package var leadsToEarlierVersion: Bool { to.isEarlier(than: from) }
}
