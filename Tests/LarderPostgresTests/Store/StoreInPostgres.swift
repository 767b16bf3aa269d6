#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderPostgres
import LarderQuery
import Synchronization

/// Stores in schemas of their own of the tests' database.
enum StoreInPostgres {
    private static let count = Atomic(0)

    /// A time that both stores of a comparison have.
    static let clock: @Sendable () -> Date = { Date(timeIntervalSinceReferenceDate: 800_000_000) }

    static func newSchemaName() -> String {
        "store_\(count.add(1, ordering: .relaxed).newValue)"
    }

    static func open(
        _ schema: Schema?, named name: String, clock: @escaping @Sendable () -> Date = { Date() }
    ) throws -> PostgresStore {
        try PostgresStore.open(
            PostgresServer.shared.get().address(), schema: schema,
            options: PostgresOptions(schemaName: name, clock: clock))
    }

    static func new(_ schema: Schema) throws -> PostgresStore {
        try open(schema, named: newSchemaName())
    }

    /// Runs a statement by other means than the store.
    static func change(_ text: String) throws {
        _ = try PostgresServer.connection().run(text)
    }

    /// Saves one change set.
    @discardableResult
    static func save(
        _ changes: [Change], in writer: any StoreWriter
    ) throws -> SaveResult {
        guard let outcome = writer.save([ChangeSet(changes)]).first else {
            throw LarderError(.storageFailed, "the writer gave no outcome")
        }
        return try outcome.get()
    }
}
#endif
