import LarderModel
import LarderWire
import NIOCore
import NIOPosix
import Synchronization

/// The migrations of the store that a server serves.
///
/// A migration ends all connections except the one that requested it, closes the writer and the
/// readers, and opens the store again with the new schema. Clients that connect meanwhile get
/// UNAVAILABLE with the step that is being done, and come back by themselves; then they have the
/// new schema, or the former one if it was only added to (``FormerServices``), or are refused
/// because they were built for another one. If the migration fails, the store is served as before.
///
/// One migration runs at a time. A client that requests another one at that time gets UNAVAILABLE,
/// and finds the store migrated when it asks again.
final class Migrations: Sendable {
    typealias Reply = @Sendable (Result<MigrationSummary, LarderError>) -> Void
    /// Ends the connections, then migrates the store, and calls back with the error if it failed.
    typealias Execute =
        @Sendable (_ schema: Schema, _ done: @escaping @Sendable (LarderError?) -> Void) -> Void

    private let backend: any StoreBackend
    private let execute: Execute
    private let isRunning = Mutex(false)

    init(backend: any StoreBackend, execute: @escaping Execute) {
        self.backend = backend
        self.execute = execute
    }

    /// - Parameters:
    ///   - text: The new schema, as a schema file.
    ///   - reply: Called in any case, on another thread.
    func request(_ text: String, dryRun: Bool, _ reply: @escaping Reply) {
        NIOSingletons.posixBlockingThreadPool.submit { [self] _ in
            do throws(LarderError) {
                let schema = try Self.schema(text)
                let description = backend.storeDescription
                let differences = SchemaDifference.differences(
                    from: description.schema, to: schema)
                if differences.isEmpty { return reply(.success(Self.nothing)) }
                let summary = try backend.migrationSummary(to: schema)
                if dryRun { return reply(.success(summary)) }
                try begin()
                try prepare()
                execute(schema) { error in reply(error.map { .failure($0) } ?? .success(summary)) }
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func begin() throws(LarderError) {
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { throw Self.underWay }
    }

    private func prepare() throws(LarderError) {
        do throws(LarderError) {
            try backend.prepareToReopen()
        } catch {
            isRunning.withLock { $0 = false }
            throw error
        }
    }

    private static let nothing = MigrationSummary(
        changes: [], steps: [], isAdditive: true, byteCount: 0)

    private static let underWay = LarderError(
        .unavailable, "the store is being migrated", hint: "try again when that has ended")

    private static func schema(_ text: String) throws(LarderError) -> Schema {
        do throws(SchemaError) {
            return try SchemaFile.schema(parsing: text)
        } catch {
            throw error.larderError
        }
    }
}
