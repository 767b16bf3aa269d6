import ArgumentParser
import LarderModel
import LarderPrograms

struct ImportCommand: StoreCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case jsonl, csv
    }

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import objects from a file and print their number.",
        discussion: """
            EXAMPLES:
              larder import Article articles.jsonl
              larder import Article articles.csv
              larder import Article articles.csv --atomic
              zcat articles.jsonl.gz | larder import Article -

            The file contains JSON lines (one object per line, as export prints them), or CSV \
            whose header names the properties; an empty CSV field is nil. @id, @entity and \
            @version are ignored. Derived attributes are rejected.

            Relationships are URIs. Import the objects that others refer to first, and print \
            their URIs with fetch --select @id,…. To link objects of the same file, run save with \
            update lines afterwards.

            The file is committed in transactions of \(ChangeSetImporter.objectsMax) objects (or \
            1 MiB). An error message names the line and the property, and its hint the last \
            committed line. With --atomic, the whole file is one transaction. With --upsert, an \
            object whose unique values are already in the store updates that object with the \
            properties in the file.
            """)

    @Argument(help: ArgumentHelp("Entity to import into.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp("File with the objects; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["jsonl", "csv"]))
    var file: String

    @Option(help: "Format of the file. Default: csv for FILE.csv, otherwise jsonl.")
    var format: Format?

    @Flag(help: "Update the objects that already have the unique values.")
    var upsert = false

    @Flag(help: "Import the whole file in one transaction, or nothing of it.")
    var atomic = false

    @Flag(help: "Print the URIs of the objects, in the order of the file, instead of their number.")
    var ids = false

    @OptionGroup var dates: DateOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    func run(_ session: StoreSession) throws {
        let decoder = try session.decoder(entity.name, dates)
        let input = try InputFile(file)
        let isCSV = format.map { $0 == .csv } ?? file.hasSuffix(".csv")
        let source: any ObjectSource =
            isCSV ? try CSVObjectSource(input, decoder) : JSONLinesObjectSource(input, decoder)
        let result = try imported(source, input.name, decoder, session)
        var writer = options.format.makeWriter()
        guard ids else {
            return try writer.write(number: result.rowCount, name: "imported", options.format)
        }
        try writer.begin(["@id"])
        for identifier in result.identifiers(of: entity.name, store: session.storeIdentifier) {
            try writer.write([.object(identifier)])
        }
        try writer.end()
    }

    /// Imports with change sets or with a stream of rows. All rows of a batch have the same
    /// columns, but the lines of an upsert may name different properties; change sets suit those
    /// better. They cannot be atomic.
    private func imported(
        _ source: any ObjectSource, _ fileName: String, _ decoder: ObjectDecoder,
        _ session: StoreSession
    ) throws(LarderError) -> InsertedRows {
        if upsert && !atomic {
            var importer = ChangeSetImporter(
                session.client, entity.name, fileName, wantsIdentifiers: ids)
            return try importer.run(source)
        }
        let insertion = Insertion(
            entity.name, onUniqueConflict: upsert ? .upsert : .error, isAtomic: atomic,
            wantsIdentifiers: ids)
        var importer = try StreamImporter(session, decoder.entity, fileName, insertion)
        return try importer.run(source)
    }
}
