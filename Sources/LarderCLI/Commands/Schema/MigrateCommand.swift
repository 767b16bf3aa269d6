import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms
import LarderStore

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Change a store file to a new schema.",
        discussion: """
            EXAMPLES:
              larder migrate --store school.store --schema school-2.json --dry-run
              larder migrate --store school.store --schema school-2.json

            The store becomes one of the new schema in one transaction, or stays as it is. A name \
            continues the same name of the old schema, or its "originalName". What cannot be \
            inferred is refused with every reason, and so are objects that the new schema does not \
            permit. --dry-run prints what would be done, and changes nothing. No server may have \
            the file open.
            """)

    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        let connection = options.connection
        guard connection.store != nil, connection.schema != nil else {
            throw ValidationError("migrate requires --store FILE and --schema FILE")
        }
    }

    func run() throws {
        let connection = options.connection
        guard let path = connection.store, let file = connection.schema else { return }
        let schema = try SchemaDocument.read(InputFile(file))
        var writer = options.format.makeWriter()
        // Opened without a schema, a missing file is not created.
        if dryRun || access(path, F_OK) != 0 {
            let store = try Store.open(
                path: path, schema: nil, options: StoreOptions(isReadOnly: true))
            let summary = try store.migrationSummary(to: schema)
            return try writer.write(all: summary.rows, names: MigrationSummary.columns)
        }
        let showsProgress = isatty(STDERR_FILENO) == 1
        let store = try Store.open(
            path: path, schema: schema, options: StoreOptions(migrates: true)
        ) { progress in
            if showsProgress { StandardError.write("\(progress.step)\n") }
        }
        let description = store.storeDescription
        try writer.write(
            all: [
                [
                    .uuid(description.identifier), .string(description.schema.version),
                    .string(description.fingerprint),
                ]
            ], names: ["store", "schemaVersion", "schemaFingerprint"])
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
            let seconds =
                Double(expectedTime.components.seconds)
                + Double(expectedTime.components.attoseconds) / 1e18
            let text = seconds < 1 ? "less than a second" : "about \(Int(seconds.rounded(.up))) s"
            rows.append(["time", .string(text), nil])
        }
        if let byteCount {
            rows.append(["space", .string("about \(byteCount >> 20) MiB while it runs"), nil])
        }
        return rows
    }
}
