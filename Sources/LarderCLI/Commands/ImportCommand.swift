import ArgumentParser
import FoundationEssentials
import Glibc
import LarderModel
import LarderPrograms
import LarderQuery
import LarderStore

struct ImportCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import objects from a file and print their number.",
        discussion: """
            EXAMPLES:
              larder import Article articles.jsonl
              larder import Article articles.csv --atomic
              larder import Article list.csv --map Titre=title --map Notes= --delimiter ';'
              larder import Article rows.tsv --header title,,category.name --create-related
              larder import Article new.csv --date-format %d/%m/%Y --skip-bad bad.csv
              larder import Airport airports.csv --infer --store new.store
              larder import Artist music.db --table artist --map id=
              zcat articles.jsonl.gz | larder import Article -

            The file contains JSON lines (one object per line, as export prints them), a JSON \
            array, or CSV whose header names the properties; an empty CSV field is nil, "" the \
            empty string, or nil if the property is not a string. @id, @entity and @version are \
            ignored. Derived attributes are rejected.

            With --infer, a store file that does not exist is created with a schema for the \
            file, as larder schema infer proposes it, and dates and names are those that it \
            finds. The entity can then be omitted.

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

    @Argument(
        help: ArgumentHelp(
            "Entity to import into. With --infer it may be omitted.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp("File with the objects; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["jsonl", "json", "csv", "tsv"]))
    var file: String?

    @Option(
        help: "Format of the file. Default: by the ending of its name, else jsonl.")
    var format: ImportFormat?

    @Option(help: "Table of an SQLite file, whose rows are read as those of a CSV file.")
    var table: String?

    @Flag(help: "Find out types, names and dates from the file, and create the store if needed.")
    var infer = false

    @Option(
        help: ArgumentHelp(
            "Write rows that cannot be stored to a new file, with the reasons, and continue.",
            valueName: "file"),
        completion: .file())
    var skipBad: String?

    @Option(
        help: ArgumentHelp("Number of bad rows after which the import fails.", valueName: "n"))
    var maxBad: Int?

    @OptionGroup var form: FormatOptions
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

    /// The path of the file. A single argument is the file.
    private var path: String { file ?? entity.name }

    /// The source in words if it can be read once only, such as that of `<(command)`.
    private var unrepeatableSource: String? {
        guard path != "-" else { return "standard input" }
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let type = FileType(mode: status.st_mode)
        // The error of a folder names it.
        return type.isRegular || status.st_mode & S_IFMT == S_IFDIR ? nil : type.text
    }

    mutating func validate() throws {
        guard file != nil || infer else {
            throw ValidationError("missing the argument <file>, after the entity")
        }
        if infer, let source = unrepeatableSource {
            throw ValidationError(
                "--infer reads the file twice, which \(source) does not allow; write it to a file")
        }
        if table != nil && (infer || format != nil) {
            throw ValidationError("--table cannot be combined with --infer or --format")
        }
        let isTable = table != nil
        if !isTable, (format ?? ImportFormat(path: path) ?? (infer ? .csv : .jsonl)).isJSON,
            let option = form.givenForCSV.first
        {
            throw ValidationError("\(option) requires --format csv or --format tsv")
        }
        if maxBad.map({ $0 < 0 }) ?? false {
            throw ValidationError("--max-bad must not be negative")
        }
        if maxBad != nil && skipBad == nil {
            throw ValidationError("--max-bad requires --skip-bad FILE")
        }
        if atomic && skipBad != nil {
            throw ValidationError("--atomic and --skip-bad cannot be combined")
        }
        if atomic && creation.createRelated {
            throw ValidationError(
                "--atomic and --create-related cannot be combined; import the related objects "
                    + "first, or use save, which is one transaction")
        }
    }

    func run() throws {
        guard infer else {
            return try StoreSession.with(connection, author: author) { try run($0) }
        }
        let entityName: String
        if file == nil {
            var names = InferredNames()
            entityName = names.entity(InferredNames.base(of: path))
        } else {
            entityName = entity.name
        }
        var inference = try form.inference(
            InputFile(path), path, format, skipsBadRows: skipBad != nil)
        let (inferred, format) = try inference.entity(named: entityName)
        let isJSON = try (self.format ?? ImportFormat.found(InputFile(path), path: path)).isJSON
        try withStore(for: inferred) { session in
            guard try session.client.schema().entity(named: entityName) != nil else {
                throw LarderError(
                    .unknownEntity, "the store has no entity \"\(entityName)\"",
                    hint: "larder schema infer \(path) --name \(entityName) prints it; add it to "
                        + "the schema file, and run larder migrate --schema FILE")
            }
            try run(session, entityName, format, isJSON: isJSON)
        }
    }

    /// Runs the body with the store. A store file that does not exist is created with a schema of
    /// the entity, and removed again if the body fails.
    private func withStore(
        for entity: Entity, _ body: (StoreSession) throws -> Void
    ) throws {
        guard let store = connection.store, connection.schema == nil, access(store, F_OK) != 0
        else { return try StoreSession.with(connection, author: author, body) }
        let schema: Schema
        do throws(SchemaError) {
            schema = try Schema(entities: [entity])
        } catch {
            throw error.larderError
        }
        let server = try InProcessServer(storePath: store, schema: schema)
        do {
            try StoreSession.with(server, connection, author: author, body)
        } catch {
            for ending in ["", "-wal", "-shm", ".owner"] { unlink(store + ending) }
            throw error
        }
    }

    func run(_ session: StoreSession) throws {
        let format = table == nil ? self.format ?? ImportFormat(path: path) ?? .jsonl : .csv
        try run(
            session, entity.name, form.format(isTSV: format == .tsv), isJSON: format.isJSON)
    }

    private func run(
        _ session: StoreSession, _ entityName: String, _ format: FileFormat, isJSON: Bool
    ) throws {
        var decoder = try session.decoder(entityName, dates)
        decoder.namesRelatedObjects = true
        decoder.showsValues = true
        let input =
            try table.map { (table) throws(LarderError) in
                let rows = try DatabaseFile(path: path).rows(of: table)
                return InputFile(name: "\(path), table \(table)", rows.next)
            } ?? InputFile(path)
        let badRows = try skipBad.map { (path) throws(LarderError) in
            try BadRows(path, countMax: maxBad)
        }
        let fileImport = FileImport(
            session: session, decoder: decoder, format: format,
            insertion: Insertion(
                entityName, onUniqueConflict: upsert ? .upsert : .error, isAtomic: atomic,
                wantsIdentifiers: ids), createsRelated: creation.createRelated, badRows: badRows)
        let result: InsertedRows
        do {
            result = try isJSON ? fileImport.importJSON(input) : fileImport.importCSV(input)
        } catch {
            try? badRows?.end()
            throw error
        }
        try badRows?.end()
        if let summary = badRows?.summary { StandardError.write("warning: \(summary)\n") }
        try print(result, entityName, store: session.storeIdentifier)
    }

    private func print(_ result: InsertedRows, _ entityName: String, store: UUID) throws {
        var writer = output.format.makeWriter()
        guard ids else {
            return try writer.write(number: result.rowCount, name: "imported", output.format)
        }
        try writer.begin(["@id"])
        for identifier in result.identifiers(of: entityName, store: store) {
            try writer.write([.object(identifier)])
        }
        try writer.end()
    }
}
