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
        do throws(LarderError) {
            return try StoreClient.connect(by: connector, options: clientOptions)
        } catch {
            guard error.code == .schemaMismatch, !options.client.isReadOnly else { throw error }
        }
        try migrate()
        return try StoreClient.connect(by: connector, options: clientOptions)
    }

    private func migrate() throws {
        var anySchema = clientOptions
        anySchema.schemaFingerprint = ""
        anySchema.requestTimeout = Self.migrationTimeMax
        let client = try StoreClient.connect(by: connector, options: anySchema)
        defer { client.close() }
        if let migration = options.migration {
            try client.migrate(by: migration)
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

    private var clientOptions: StoreClient.Options {
        var options = StoreClient.Options()
        options.clientName = self.options.client.name
        options.schemaFingerprint = schema.fingerprint
        options.connectTimeout = self.options.waitTimeMax
        options.reconnectWait = self.options.waitTimeMax
        return options
    }
}
