import ArgumentParser
import LarderModel

struct ExportCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all objects of an entity, by default as JSON lines.",
        discussion: """
            EXAMPLES:
              larder export Article > articles.jsonl
              larder export Article --output csv > articles.csv
              larder export Category | larder --store copy.store import Category -

            Prints @id, every attribute and every to-one relationship. Derived attributes are \
            omitted, because the importing store computes them. import ignores @id.

            Relationships are URIs of this store, and other stores reject them. To copy objects \
            to another store, export unique values of the related objects: \
            --select title,category.name

            Objects of subentities are not included. Export each subentity separately, with all \
            its properties.
            """)

    @Argument(help: ArgumentHelp("Entity to export.", valueName: "entity"))
    var entity: EntityName

    @Option(
        help: ArgumentHelp(
            "Columns to print, as for fetch. Default: all.", valueName: "keypath,…"))
    var select: String?

    func validate() throws {
        if let select { try ResultColumn.validate(list: select) }
    }

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let schema = try session.client.schema()
        if schema.entity(named: entity.name)?.isAbstract == true {
            throw LarderError(
                .unsupported, "\(entity.name) is abstract and has no objects of its own",
                hint: "export each of its subentities")
        }
        let columns = select.map(ResultColumn.list)?.map {
            $0.joiningTexts(of: entity.name, in: schema)
        }
        let selection = columns.map(ResultColumn.selection) ?? .objects
        let batches = try session.client.stream(
            .fetch(
                Fetch(entity.name, selection: selection, includesSubentities: false)))
        var printer = ResultPrinter(
            output.given ?? .jsonl, store: session.storeIdentifier, columns: columns)
        var progress = Progress("exported", isShown: !StandardOutput.isTerminal)
        defer { progress.end() }
        let total = progress.isShown ? try session.client.objectCount(of: entity.name) : 0
        let derived = columns == nil ? derivedNames(in: schema) : []
        while var batch = try batches.next() {
            batch.columns.removeAll { derived.contains($0.name) }
            try printer.print(batch)
            progress.show(printer.rowCount, of: total)
        }
        try printer.end()
    }

    private func derivedNames(in schema: Schema) -> Set<String> {
        let attributes = schema.entity(named: entity.name)?.attributes ?? []
        return Set(attributes.filter(\.isDerived).map(\.name))
    }
}
