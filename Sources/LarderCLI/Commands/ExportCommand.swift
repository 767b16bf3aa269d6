import ArgumentParser
import LarderModel

struct ExportCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints the objects of an entity, as JSON lines unless told otherwise.",
        discussion: """
            EXAMPLES:
              larder export Article > articles.jsonl
              larder export Article --output csv > articles.csv
              larder export Category | larder --store copy.store import Category -

            Every attribute and to-one relationship, with @id; import passes over @id. Derived \
            attributes are left out, since the store that imports computes its own. \
            Relationships hold URIs of this store, which another store refuses: \
            --select name,version,… exports attributes alone.

            Objects of sub-entities are not among them: export these by their own entities, with \
            all their properties.
            """)

    @Argument(help: ArgumentHelp("What to export objects of.", valueName: "entity"))
    var entity: EntityName

    @Option(
        help: ArgumentHelp(
            "The columns, as for fetch; everything if not given.", valueName: "keypath,…"))
    var select: String?

    func validate() throws {
        if let select { try ResultColumn.validate(list: select) }
    }

    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        if try store.client.schema().entity(named: entity.name)?.isAbstract == true {
            throw LarderError(
                .unsupported, "\(entity.name) is abstract and has no objects of its own",
                hint: "export its sub-entities, one by one")
        }
        let columns = select.map(ResultColumn.list)
        let selection = columns.map(ResultColumn.selection) ?? .objects
        let batches = try store.client.stream(
            .fetch(
                Fetch(entity.name, selection: selection, includesSubentities: false)))
        var printer = ResultPrinter(
            options.output ?? .jsonl, store: store.identifier, columns: columns)
        var progress = Progress("exported")
        defer { progress.end() }
        let derived = try columns == nil ? derivedNames(in: store.client.schema()) : []
        while var batch = try batches.next() {
            batch.columns.removeAll { derived.contains($0.name) }
            try printer.print(batch)
            progress.show(printer.rowCount)
        }
        try printer.end()
    }

    private func derivedNames(in schema: Schema) -> Set<String> {
        let attributes = schema.entity(named: entity.name)?.attributes ?? []
        return Set(attributes.filter(\.isDerived).map(\.name))
    }
}
