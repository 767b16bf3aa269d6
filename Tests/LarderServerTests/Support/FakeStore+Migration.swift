import LarderModel
import LarderQuery

extension FakeStore {
    func prepareToReopen() throws(LarderError) {
        guard case .unsupported = options.migration else { return }
        throw LarderError(.unsupported, "this store cannot be migrated")
    }

    func makeWorkingCopy(
        stoppedBy cancellation: ReadCancellation
    ) throws(LarderError) -> any StoreBackend {
        if case .isFull = options.migration {
            throw LarderError(.storageFull, "there is no room for a copy")
        }
        if case .isEndless = options.migration { throw run(until: cancellation) }
        return try made(schema: storeDescription.schema, migration: options.migration)
    }

    func reopened(
        _ change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        if case .loses = options.migration {
            throw LarderError(.storageFailed, "the store cannot be opened")
        }
        switch change {
        case .none: return try made(schema: storeDescription.schema, migration: options.migration)
        case .contents(let copy, _):
            return try made(schema: copy.storeDescription.schema, migration: .unsupported)
        case .migration(let schema, let cancellation):
            switch options.migration {
            case .unsupported:
                throw LarderError(.unsupported, "this store cannot be migrated")
            case .isRefused:
                throw LarderError(.migrationRefused, "an object does not fit")
            case .succeeds(let gate):
                progress(MigrationProgress(step: "rewrites Item"))
                gate?.pass()
            case .isEndless:
                progress(MigrationProgress(step: "rewrites Item"))
                throw run(until: cancellation)
            case .loses, .isFull: break
            }
            return try made(schema: schema, migration: options.migration)
        }
    }

    private func made(
        schema: Schema, migration: Migration
    ) throws(LarderError) -> FakeStore {
        do {
            var options = options
            options.migration = migration
            return try FakeStore(options, schema: schema)
        } catch {
            throw LarderError(.storageFailed, "no fake store: \(error)")
        }
    }
}
