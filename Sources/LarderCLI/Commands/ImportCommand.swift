import ArgumentParser
import LarderModel
import LarderPrograms

struct ImportCommand: StoreCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case jsonl, csv, tsv
    }

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import objects from a file and print their number.",
        discussion: """
            EXAMPLES:
              larder import Article articles.jsonl
              larder import Article articles.csv --atomic
              larder import Article list.csv --map Titre=title --map Notes= --delimiter ';'
              larder import Article rows.tsv --header title,,category.name --create-related
              larder import Article new.csv --date-format %d/%m/%Y
              zcat articles.jsonl.gz | larder import Article -

            The file contains JSON lines (one object per line, as export prints them), or CSV \
            whose header names the properties; an empty CSV field is nil, "" the empty string. \
            @id, @entity and @version are ignored. Derived attributes are rejected.

            A related object is its URI, or the values of a uniqueness constraint: the CSV column \
            category.name, or in JSON {"category": {"name": "x"}}. The object must be in the \
            store or on an earlier line, unless --create-related creates it. Objects that exist \
            are not changed.

            The file is committed in transactions of \(ChangeSetImporter.objectsMax) objects (or \
            1 MiB), with the related objects that they create. An error message names the line and \
            the property, and its hint the last committed line. With --atomic, the whole file is \
            one transaction. With --upsert, an object whose unique values are already in the store \
            updates that object with the properties in the file.
            """)

    @Argument(help: ArgumentHelp("Entity to import into.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp("File with the objects; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["jsonl", "csv", "tsv"]))
    var file: String

    @Option(help: "Format of the file. Default: csv for FILE.csv, tsv for FILE.tsv, else jsonl.")
    var format: Format?

    @OptionGroup var csv: CSVOptions
    @OptionGroup var creation: CreationOption

    @Flag(help: "Update the objects that already have the unique values.")
    var upsert = false

    @Flag(help: "Import the whole file in one transaction, or nothing of it.")
    var atomic = false

    @Flag(help: "Print the URIs of the objects, in the order of the file, instead of their number.")
    var ids = false

    @OptionGroup var dates: DateOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    var author: String? { authorOption.author }

    private var fileFormat: Format {
        if let format { return format }
        let name = file.lowercased()
        return name.hasSuffix(".csv") ? .csv : name.hasSuffix(".tsv") ? .tsv : .jsonl
    }

    mutating func validate() throws {
        if fileFormat == .jsonl, let option = csv.given.first {
            throw ValidationError("\(option) requires --format csv or --format tsv")
        }
        if atomic && creation.createRelated {
            throw ValidationError(
                "--atomic and --create-related cannot be combined; import the related objects "
                    + "first, or use save, which is one transaction")
        }
    }

    func run(_ session: StoreSession) throws {
        var decoder = try session.decoder(entity.name, dates)
        decoder.namesRelatedObjects = true
        let input = try InputFile(file)
        let result = try imported(input, decoder, session)
        var writer = output.format.makeWriter()
        guard ids else {
            return try writer.write(number: result.rowCount, name: "imported", output.format)
        }
        try writer.begin(["@id"])
        for identifier in result.identifiers(of: entity.name, store: session.storeIdentifier) {
            try writer.write([.object(identifier)])
        }
        try writer.end()
    }

    private func imported(
        _ input: InputFile, _ decoder: ObjectDecoder, _ session: StoreSession
    ) throws -> InsertedRows {
        let related = try RelatedObjects(session, creates: creation.createRelated)
        let insertion = Insertion(
            entity.name, onUniqueConflict: upsert ? .upsert : .error, isAtomic: atomic,
            wantsIdentifiers: ids)
        switch fileFormat {
        case .jsonl:
            var source = JSONLinesObjectSource(input, decoder)
            source.acceptObjects(ofBytes: session.client.server.objectBytesMax)
            if needsChangeSets {
                var importer = ChangeSetImporter(
                    session.client, decoder.entity, input.name, insertion, related)
                return try importer.run(source)
            }
            var rows = ObjectRowSource(source, decoder, input.name, insertion, related)
            var importer = try StreamImporter(session.client, input.name, insertion)
            let inserted = try importer.run(&rows)
            guard let remaining = rows.remaining else { return inserted }
            var rest = ChangeSetImporter(
                session.client, decoder.entity, input.name, insertion, related, after: inserted,
                line: importer.lastLine)
            return try rest.run(remaining)
        case .csv, .tsv:
            return try importedFromCSV(input, decoder, insertion, related, session)
        }
    }

    private func importedFromCSV(
        _ input: InputFile, _ decoder: ObjectDecoder, _ insertion: Insertion,
        _ related: RelatedObjects, _ session: StoreSession
    ) throws -> InsertedRows {
        let format = try csv.format(isTSV: fileFormat == .tsv)
        do throws(LarderError) {
            let table = try CSVTable(input, decoder, format)
            if needsChangeSets || !atomic && table.namesOwnObjects {
                var importer = ChangeSetImporter(
                    session.client, decoder.entity, input.name, insertion, related)
                return try importer.run(CSVObjectSource(table))
            }
            var rows = CSVRowSource(table, related)
            var importer = try StreamImporter(session.client, input.name, insertion)
            return try importer.run(&rows)
        } catch {
            throw error.code == .missingValue
                ? error.adding(hint: "an empty field is nil, and \"\" is the empty string") : error
        }
    }

    /// Whether the objects are sent as change sets and not as a stream of rows.
    ///
    /// All rows of a batch have the same columns, but the lines of an upsert may name different
    /// properties; and a row cannot refer to an object of its transaction. A sequence of change
    /// sets cannot be atomic.
    private var needsChangeSets: Bool { !atomic && (upsert || creation.createRelated) }
}
