import ArgumentParser
import LarderModel
import LarderPrograms
import LarderStore

struct SchemaDiffCommand: ParsableCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print how a migration would change one schema into another.",
        discussion: """
            EXAMPLES:
              larder schema diff school-1.json school-2.json

            Prints the changes, the steps of the migration, and whether clients that were built \
            for the old schema can go on. What cannot be inferred is an error with every reason. \
            `larder migrate --dry-run` prints the same for a store, with numbers of rows.
            """)

    @Argument(
        help: ArgumentHelp("Schema file; - for standard input.", valueName: "old"),
        completion: .file(extensions: ["json"]))
    var old: String

    @Argument(
        help: ArgumentHelp("Schema file that continues it.", valueName: "new"),
        completion: .file(extensions: ["json"]))
    var new: String

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: OutputFormat?

    func run() throws {
        let summary = try Store.migrationSummary(
            from: SchemaDocument.read(InputFile(old)), to: SchemaDocument.read(InputFile(new)))
        var writer = (output ?? .standardOutputDefault).makeWriter()
        try writer.write(all: summary.rows, names: MigrationSummary.columns)
    }
}
