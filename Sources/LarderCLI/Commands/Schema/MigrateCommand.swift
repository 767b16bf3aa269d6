import ArgumentParser
import FoundationEssentials
import Glibc
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

            The store becomes one of the new schema in one transaction, or stays as it is. A name \
            continues the same name of the old schema, or its "originalName". What cannot be \
            inferred is refused with every reason, and so are objects that the new schema does not \
            permit. --dry-run prints what would be done, and changes nothing.

            A server ends all other connections first. Their clients come back by themselves when \
            the migration has ended; meanwhile they get UNAVAILABLE. Give the server the new \
            schema for its next start (larderd --schema), or none.
            """)

    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard options.connection.schema != nil else {
            throw ValidationError("migrate requires --schema FILE")
        }
    }

    func run() throws {
        guard let file = options.connection.schema else { return }
        let schema = try SchemaDocument.read(InputFile(file))
        if let path = options.connection.store { return try migrateFile(path, to: schema) }
        var connection = options.connection
        connection.schema = nil
        // A migration takes as long as it takes.
        connection.timeout = connection.timeout ?? TimeLimit(duration: Self.timeMax)
        try StoreSession.with(connection) { session in
            let summary = try session.client.migrate(to: schema, dryRun: dryRun)
            if dryRun { return try print(summary) }
            let server = session.client.server
            try printStore(
                server.storeIdentifier, version: schema.version, fingerprint: schema.fingerprint)
        }
    }

    private static let timeMax = Duration.seconds(86_400)

    private func migrateFile(_ path: String, to schema: Schema) throws {
        // Opened without a schema, a missing file is not created.
        if dryRun || access(path, F_OK) != 0 {
            let store = try Store.open(
                path: path, schema: nil, options: StoreOptions(isReadOnly: true))
            return try print(store.migrationSummary(to: schema))
        }
        let showsProgress = isatty(STDERR_FILENO) == 1
        let store = try Store.open(
            path: path, schema: schema, options: StoreOptions(migrates: true),
            progress: { progress in
                if showsProgress { StandardError.write("\(progress.step)\n") }
            })
        let description = store.storeDescription
        try printStore(
            description.identifier, version: description.schema.version,
            fingerprint: description.fingerprint)
    }

    private func print(_ summary: MigrationSummary) throws {
        var writer = options.format.makeWriter()
        try writer.write(all: summary.rows, names: MigrationSummary.columns)
    }

    private func printStore(_ identifier: UUID, version: String, fingerprint: String) throws {
        var writer = options.format.makeWriter()
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
