import ArgumentParser
import FoundationEssentials
import Glibc
import LarderClient
import LarderModel
import LarderPrograms
import LarderStore

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Change a store to a new schema.",
        discussion: """
            EXAMPLES:
              larder migrate --schema school-2.json --dry-run
              larder migrate --schema school-2.json
              larder migrate --store school.store --schema school-2.json
              larder migrate --plan plan.json --keep-backup school-1.backup

            The store becomes one of the new schema in one transaction, or stays as it is. A name \
            continues the same name of the old schema, or its "originalName". What cannot be \
            inferred is refused with every reason, and so are objects that the new schema does not \
            permit. --dry-run prints what would be done, and changes nothing; if a change is more \
            than an addition, it migrates a copy in TMPDIR to check the objects.

            A server ends all other connections first. Their clients come back by themselves when \
            the migration has ended; meanwhile they get UNAVAILABLE. Give the server the new \
            schema for its next start (larderd --schema), or none.

            A plan leads a store through several schemas, from the one that it has to the last:

              {"stages": [
                {"from": "school-1.json", "to": "school-2.json"},
                {"from": "school-2.json", "to": "school-3.json",
                 "willMigrate": {"save": "duplicates.jsonl"},
                 "didMigrate": {"run": ["./split-names"]}}]}

            willMigrate is performed before the schema changes and didMigrate after it: a file \
            with the lines of `larder save`, or a program, which finds the store by LARDER_SOCKET \
            and LARDER_MIGRATION_SESSION, as larder itself does. Paths are relative to the plan. \
            All stages take effect, or none. --keep-backup makes a backup of the store as it was. \
            A plan says how the objects change, and removes what its schemas do not have.
            """)

    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false

    @Flag(
        help: """
            Remove the objects and values of entities and properties that the new schema does not \
            have. Without this flag, a terminal is asked, and anything else is refused.
            """)
    var drop = false

    @Option(
        help: ArgumentHelp("Plan with the stages of the migration.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var plan: String?

    @Option(
        help: ArgumentHelp("Make a backup of the store as it was.", valueName: "file"),
        completion: .file())
    var keepBackup: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard (connection.schema == nil) != (plan == nil) else {
            throw ValidationError("migrate requires --schema FILE or --plan FILE")
        }
        if dryRun, keepBackup != nil {
            throw ValidationError("--dry-run and --keep-backup cannot be combined")
        }
    }

    func run() throws {
        if plan != nil || keepBackup != nil { return try runStages() }
        guard let file = connection.schema else { return }
        let schema = try SchemaDocument.read(InputFile(file))
        if let path = connection.store { return try migrateFile(path, to: schema) }
        try StoreSession.with(serverConnection, waitsForMigrations: true) { session in
            if !dryRun { try confirmDrops(session.client, to: schema) }
            let summary = try session.client.migrate(
                to: schema, dryRun: dryRun, progress: Self.progress)
            if dryRun {
                try checkObjects(against: schema, summary) {
                    _ = try session.client.backup(showingProgressTo: $0)
                }
                return try print(summary.rows)
            }
            try printStore(session.client)
        }
    }

    /// The options for a server. A migration takes as long as it takes.
    private var serverConnection: ConnectionOptions {
        var connection = connection
        connection.schema = nil
        connection.timeout = connection.timeout ?? TimeLimit(duration: Self.timeMax)
        return connection
    }

    private static let timeMax = Duration.seconds(86_400)

    /// Prints each step on a terminal.
    private static let progress: @Sendable (MigrationProgress) -> Void = { progress in
        if isatty(STDERR_FILENO) == 1 { StandardError.write("\(progress.step)\n") }
    }

    // MARK: Stages

    private func runStages() throws {
        guard let path = connection.store else { return try runStages(serverConnection) }
        guard access(path, F_OK) == 0 else {
            throw LarderError(.storageFailed, "there is no file \(path)")
        }
        try InProcessServer.serve(path) { socket in
            var connection = serverConnection
            connection.store = nil
            connection.socket = socket
            try runStages(connection)
        }
    }

    private func runStages(_ connection: ConnectionOptions) throws {
        try StoreSession.with(connection, waitsForMigrations: true) { session in
            let client = session.client
            if let migration = try stages(client, connection.socketPath()) {
                if dryRun { return try print(rows(of: migration, client)) }
                try client.migrate(
                    by: migration, keepingBackupAt: keepBackup, progress: Self.progress)
            }
            try printStore(client)
        }
    }

    /// - Returns: nil if the store has the schema already.
    private func stages(_ client: StoreClient, _ socket: String) throws -> StagedMigration? {
        if let plan { return try MigrationPlanFile.read(plan, socket: socket) }
        guard let file = connection.schema else { return nil }
        let (old, new) = (try client.schema(), try SchemaDocument.read(InputFile(file)))
        if old.fingerprint == new.fingerprint { return nil }
        let stage = MigrationStage.lightweight(from: old, to: new)
        if !dryRun { try confirmDrops(client, to: new) }
        // Without a plan, it is refused with the server's reasons.
        if stage.leadsToEarlierVersion { try client.migrate(to: new, dryRun: true) }
        return try StagedMigration([stage])
    }

    /// The steps of each stage. Rows are counted for the first one, which begins with the objects
    /// as they are, unless it leads to an earlier version: a plan does so in its working copy only.
    private func rows(of migration: StagedMigration, _ client: StoreClient) throws -> [[Value]] {
        var rows: [[Value]] = []
        for (index, stage) in try migration.remaining(from: client.schema()).enumerated() {
            let title = "from version \(stage.from.version) to \(stage.to.version)"
            rows.append(["stage", .string(stage.isCustom ? "\(title), custom" : title), nil])
            rows +=
                index == 0 && !stage.leadsToEarlierVersion
                ? try client.migrate(to: stage.to, dryRun: true).rows
                : try Store.migrationSummary(
                    from: stage.from, to: stage.to, isStage: true
                ).rows
        }
        return rows
    }

    // MARK: Files

    private func migrateFile(_ path: String, to schema: Schema) throws {
        // Opened without a schema, a missing file is not created.
        if dryRun || access(path, F_OK) != 0 {
            let summary = try summary(of: path, to: schema)
            try checkObjects(against: schema, summary) { _ = try Store.restore(path, to: $0) }
            return try print(summary.rows)
        }
        if !drop {
            var connection = connection
            connection.schema = nil
            try StoreSession.with(connection) { try confirmDrops($0.client, to: schema) }
        }
        let store = try Store.open(
            path: path, schema: schema, options: StoreOptions(migrates: true),
            progress: Self.progress)
        let description = store.storeDescription
        try printStore(
            description.identifier, version: description.schema.version,
            fingerprint: description.fingerprint)
    }

    private func summary(of path: String, to schema: Schema) throws(LarderError) -> MigrationSummary
    {
        let store = try Store.open(path: path, schema: nil, options: StoreOptions(isReadOnly: true))
        return try store.migrationSummary(to: schema)
    }

    // MARK: Objects

    /// Asks before objects or values are removed.
    ///
    /// - Throws: `migrationRefused` if nobody can answer, and `cancelled`.
    private func confirmDrops(_ client: StoreClient, to schema: Schema) throws {
        guard !drop else { return }
        let dropped = try DroppedData(from: client.schema(), to: schema, client).descriptions
        guard !dropped.isEmpty else { return }
        // A migration that is refused in any case is refused before a question.
        _ = try client.migrate(to: schema, dryRun: true)
        guard Confirmation.isPossible else {
            throw LarderError(
                .migrationRefused, "the migration would remove objects or values",
                hint: "pass --drop to remove them; --keep-backup keeps a backup of the store",
                problems: dropped)
        }
        let list = dropped.joined(separator: ", ")
        guard Confirmation.isGiven("The migration removes \(list).") else {
            throw LarderError(
                .cancelled, "nothing was changed", hint: "answer y, or pass --drop")
        }
    }

    /// Migrates a copy of the store, which finds the objects that the new schema does not permit.
    ///
    /// - Parameter copyTo: Copies the store to a path.
    /// - Throws: `migrationRefused`, naming these objects.
    private func checkObjects(
        against schema: Schema, _ summary: MigrationSummary, copyTo: (_ path: String) throws -> Void
    ) throws {
        // An addition permits every object.
        if summary.isAdditive { return }
        let folder = try TemporaryFolder.make(for: "a copy of the store")
        let copy = "\(folder)/copy.store"
        defer { TemporaryFolder.remove(folder, with: copy) }
        try copyTo(copy)
        _ = try Store.open(
            path: copy, schema: schema, options: StoreOptions(migrates: true),
            progress: Self.progress)
    }

    private func print(_ rows: [[Value]]) throws {
        var writer = output.format.makeWriter()
        try writer.write(all: rows, names: MigrationSummary.columns)
    }

    private func printStore(_ client: StoreClient) throws {
        let schema = try client.schema()
        try printStore(
            client.server.storeIdentifier, version: schema.version, fingerprint: schema.fingerprint)
    }

    private func printStore(_ identifier: UUID, version: String, fingerprint: String) throws {
        var writer = output.format.makeWriter()
        try writer.write(
            all: [[.uuid(identifier), .string(version), .string(fingerprint)]],
            names: ["store", "schemaVersion", "schemaFingerprint"])
    }
}

extension MigrationSummary {
    static let columns = ["what", "description", "rows"]

    /// The summary as rows of a table: changes, steps, and what follows from them.
    var rows: [[Value]] {
        var rows: [[Value]] = changes.map { ["change", .string($0.description), nil] }
        rows += steps.map { step in
            ["step", .string(step.description), step.rowCount.map { .int($0) } ?? .null]
        }
        rows.append([
            "clients",
            isAdditive
                ? "built for the old schema can go on" : "built for the old schema are refused",
            nil,
        ])
        if let expectedTime {
            let (whole, rest) = expectedTime.components
            let seconds = rest > 0 ? whole + 1 : whole
            let text = whole < 1 ? "less than a second" : "about \(seconds) s"
            rows.append(["time", .string(text), nil])
        }
        if let byteCount {
            rows.append(["space", .string("about \(byteCount >> 20) MiB while it runs"), nil])
        }
        return rows
    }
}
