import LarderModel

extension FakeStore {
    func migrationSummary(to schema: Schema) throws(LarderError) -> MigrationSummary {
        MigrationSummary(
            changes: [SchemaChange("Item: changed")],
            steps: [MigrationSummary.Step("rewrites Item", rowCount: 1, isRewriting: true)],
            isAdditive: false, byteCount: 0)
    }

    func prepareToReopen() throws(LarderError) {
        guard case .unsupported = options.migration else { return }
        throw LarderError(.unsupported, "this store cannot be migrated")
    }

    func reopened(
        migratingTo schema: Schema?, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        var gate: Gate?
        switch options.migration {
        case .unsupported: throw LarderError(.unsupported, "this store cannot be migrated")
        case .succeeds(let blocking): gate = blocking
        case .isRefused where schema != nil:
            throw LarderError(.migrationRefused, "an object does not fit")
        case .isRefused: break
        case .loses: throw LarderError(.storageFailed, "the store cannot be opened")
        }
        if schema != nil {
            progress(MigrationProgress(step: "rewrites Item"))
            gate?.pass()
        }
        do {
            var options = options
            options.migration = .unsupported
            return try FakeStore(options, schema: schema)
        } catch {
            throw LarderError(.storageFailed, "no fake store: \(error)")
        }
    }
}
