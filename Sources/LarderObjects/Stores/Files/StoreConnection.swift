internal import LarderClient
internal import LarderModel

/// Connects a client to a store with a schema, and migrates the store if it has another one.
struct StoreConnection {
    private let connector: Connector
    private let schema: Schema
    private let options: StoreFileOptions

    /// A migration takes as long as the store is large.
    private static let migrationTimeMax = Duration.seconds(3_600)

    init(_ connector: Connector, _ schema: Schema, _ options: StoreFileOptions) {
        self.connector = connector
        self.schema = schema
        self.options = options
    }

    func client() throws -> StoreClient {
        if leadsBack { try migrate(fromStagesOnly: true) }
        do throws(LarderError) {
            return try StoreClient.connect(by: connector, options: clientOptions)
        } catch {
            guard error.code == .schemaMismatch, !options.client.isReadOnly else { throw error }
        }
        try migrate()
        return try StoreClient.connect(by: connector, options: clientOptions)
    }

    /// - Parameter fromStagesOnly: Whether a store with whose schema no stage begins is left alone.
    private func migrate(fromStagesOnly: Bool = false) throws {
        var anySchema = clientOptions
        anySchema.schemaFingerprint = ""
        anySchema.requestTimeout = Self.migrationTimeMax
        let client = try StoreClient.connect(by: connector, options: anySchema)
        defer { client.close() }
        if let migration = options.migration {
            if fromStagesOnly, try !isBeginning(client.schema(), of: migration) { return }
            try client.migrate(by: migration)
            return
        }
        // Computed defaults do not make it one of stages, which may lead back.
        if try schema.isEarlier(than: client.schema()) {
            try client.migrate(to: schema)
            return
        }
        let stages = try options.computedDefaults.stages(from: client.schema(), to: schema) {
            try client.count($0.name) == 0
        }
        if stages.contains(where: \.isCustom) {
            try client.migrate(by: StagedMigration(stages))
        } else {
            try client.migrate(to: schema)
        }
    }

    /// Whether the stages lead to an earlier version. A store of the later one may accept clients
    /// of the earlier one as it is, but the stages say how it becomes one of that version.
    var leadsBack: Bool {
        guard let migration = options.migration, !options.client.isReadOnly else { return false }
        return migration.stages.last?.to.fingerprint == schema.fingerprint
            && migration.stages.contains(where: \.leadsToEarlierVersion)
    }

    private func isBeginning(_ current: Schema, of migration: StagedMigration) -> Bool {
        migration.stages.contains { $0.from.fingerprint == current.fingerprint }
    }

    private var clientOptions: StoreClient.Options {
        var options = StoreClient.Options()
        options.clientName = self.options.client.name
        options.schemaFingerprint = schema.fingerprint
        options.connectTimeout = self.options.waitTimeMax
        options.reconnectWait = self.options.waitTimeMax
        return options
    }
}
