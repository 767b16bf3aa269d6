public import LarderModel
public import TestSupport

/// A random schema, and a change set that inserts random objects with links between them.
public struct RandomContent {
    public let schema: Schema
    public let changes: ChangeSet

    public init(_ random: inout SeededGenerator) throws {
        schema = try RandomSchema.schema(&random)
        changes = FuzzedStore.insertion(of: RandomObjects.objects(of: schema, &random), schema)
    }
}
