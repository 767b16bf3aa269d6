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
              zcat articles.jsonl.gz | larder import Article -

            JSON lines: an object a line, as export prints it; CSV: a heading with the properties' \
            names, an empty field is nil. @id, @entity and @version are passed over: no object is \
            known by them. Related objects are given by their URIs, so import what is referred \
            to first and ask for its URIs with fetch --select @id,…; links among the objects of \
            one file are set afterwards, by the update lines of save. Derived attributes take no \
            value; export leaves them out.

            The file is stored in change sets of \(Importer.objectsMax) objects (or 1 MiB), one \
            after the other. An error names line and property, and says up to which line the file \
            is stored. With --upsert, an object whose unique values the store has already updates \
            that object with the properties that the file gives.
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

    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var options: GlobalOptions

    var author: String? { authorOption.author }

    func run(_ store: OpenStore) throws {
        let decoder = try ObjectDecoder(entity.name, in: store.client.schema())
        let input = try InputFile(file)
        let isCSV = format.map { $0 == .csv } ?? file.hasSuffix(".csv")
        let source: any ObjectSource =
            isCSV ? try ObjectRecords(input, decoder) : ObjectLines(input, decoder)
        var importer = Importer(
            store.client, entity.name, input.name, onUniqueConflict: upsert ? .upsert : .error)
        let count = try importer.store(source)
        var writer = options.format.makeWriter()
        try writer.write(number: count, name: "imported", options.format)
    }
}
