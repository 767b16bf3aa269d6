import ArgumentParser
import LarderModel

struct ImportCommand: StoreCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case jsonl, csv
    }

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Inserts the objects of a file, however many, and prints how many there were.",
        discussion: """
            EXAMPLES:
              larder import Article articles.jsonl
              larder import Article articles.csv
              larder import Article articles.csv --atomic
              zcat articles.jsonl.gz | larder import Article -

            JSON lines: an object a line, as export prints it; CSV: a heading with the properties' \
            names, an empty field is nil. @id, @entity and @version are passed over: no object is \
            known by them. Related objects are given by their URIs, so import what is referred \
            to first and ask for its URIs with fetch --select @id,…; links among the objects of \
            one file are set afterwards, by the update lines of save. Derived attributes take no \
            value; export leaves them out.

            The file is stored in transactions of \(Importer.objectsMax) objects (or 1 MiB), one \
            after the other. An error names line and property, and says up to which line the file \
            is stored. With --atomic it is one transaction: all of it or nothing. With --upsert, \
            an object whose unique values the store has already updates that object with the \
            properties that the file gives.
            """)

    @Argument(help: ArgumentHelp("What to insert objects of.", valueName: "entity"))
    var entity: EntityName

    @Argument(
        help: ArgumentHelp("The objects; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["jsonl", "csv"]))
    var file: String

    @Option(help: "How the file is written; csv for FILE.csv, else jsonl.")
    var format: Format?

    @Flag(help: "Updates the objects that have the unique values already.")
    var upsert = false

    @Flag(help: "Stores all of the file in one transaction, or nothing.")
    var atomic = false

    @Flag(help: "Prints the objects' URIs, in the order of the file, instead of their number.")
    var ids = false

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    func run(_ store: OpenStore) throws {
        let schema = try store.client.schema()
        let decoder = try ObjectDecoder(entity.name, in: schema)
        let input = try InputFile(file)
        let isCSV = format.map { $0 == .csv } ?? file.hasSuffix(".csv")
        let source: any ObjectSource =
            isCSV ? try ObjectRecords(input, decoder) : ObjectLines(input, decoder)
        let result = try imported(source, input.name, decoder, store)
        var writer = options.format.makeWriter()
        guard ids else {
            return try writer.write(number: result.rowCount, name: "imported", options.format)
        }
        try writer.begin(["@id"])
        for identifier in result.identifiers(of: entity.name, store: store.identifier) {
            try writer.write([.object(identifier)])
        }
        try writer.end()
    }

    /// What is to update objects may name other properties in each line, so that rows of one form
    /// would be few: in several transactions it goes as change sets.
    private func imported(
        _ source: any ObjectSource, _ fileName: String, _ decoder: ObjectDecoder,
        _ store: OpenStore
    ) throws(LarderError) -> InsertedRows {
        if upsert && !atomic {
            var importer = Importer(
                store.client, entity.name, fileName, wantsIdentifiers: ids)
            return try importer.store(source)
        }
        let insertion = Insertion(
            entity.name, onUniqueConflict: upsert ? .upsert : .error, isAtomic: atomic,
            wantsIdentifiers: ids)
        var importer = try StreamImporter(store, decoder.entity, fileName, insertion)
        return try importer.store(source)
    }
}
