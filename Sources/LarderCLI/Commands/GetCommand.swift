import ArgumentParser
import LarderModel

struct GetCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints objects by their URIs, with all their properties.",
        discussion: """
            EXAMPLES:
              larder get "$uri"
              larder get "$first" "$second" --output json | jq '.[].title'

            All or none: if one of the objects does not exist, nothing is printed and the status \
            is 4. Objects are printed in the order given. As csv they must be of one entity.
            """)

    @Argument(help: ArgumentHelp("The objects.", valueName: "uri"))
    var uris: [String]

    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        let identifiers = try uris.map { try PersistentIdentifier(uriRepresentation: $0) }
        let records = try store.client.objects(for: identifiers)
        let found = Set(records.map(\.identifier))
        if let missing = identifiers.first(where: { !found.contains($0) }) {
            throw LarderError(
                .objectNotFound, "the object \(missing.uriRepresentation) does not exist",
                uri: missing.uriRepresentation)
        }
        let byIdentifier = Dictionary(
            records.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        try print(identifiers.compactMap { byIdentifier[$0] }, schema: store.client.schema())
    }

    /// A block of columns for each run of objects of one entity; JSON is one block whatever comes.
    private func print(_ records: [Record], schema: Schema) throws {
        if options.format == .csv, Set(records.map(\.entityName)).count > 1 {
            throw ValidationError("csv has one heading: give objects of one entity")
        }
        var printer = RecordPrinter(options.format, schema: schema)
        for record in records { try printer.print(record) }
        try printer.end()
    }
}
