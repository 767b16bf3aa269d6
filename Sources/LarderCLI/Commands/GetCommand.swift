import ArgumentParser
import LarderModel

struct GetCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print objects, given their URIs, with all their properties.",
        discussion: """
            EXAMPLES:
              larder get "$uri"
              larder get "$first" "$second" --output json | jq '.[].title'

            Prints the objects in the order of the arguments. If one of them does not exist, \
            nothing is printed and the exit status is 4. With --output csv, all objects must be of \
            the same entity.
            """)

    @Argument(help: ArgumentHelp("URIs of the objects.", valueName: "uri"))
    var uris: [String]

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let schema = try session.client.schema()
        let identifiers = try uris.map { try session.identifier($0) }
        let records = try session.client.objects(for: identifiers)
        let found = Set(records.map(\.identifier))
        if let missing = identifiers.first(where: { !found.contains($0) }) {
            throw LarderError(
                .objectNotFound, "the object \(missing.uriRepresentation) does not exist",
                uri: missing.uriRepresentation)
        }
        let byIdentifier = Dictionary(
            records.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        try print(identifiers.compactMap { byIdentifier[$0] }, schema: schema)
    }

    /// Prints one table per run of objects of the same entity; JSON is always a single array.
    private func print(_ records: [Record], schema: Schema) throws {
        if output.format == .csv, Set(records.map(\.entityName)).count > 1 {
            throw ValidationError("--output csv requires objects of one entity")
        }
        var printer = RecordPrinter(output.format, schema: schema)
        for record in records { try printer.print(record) }
        try printer.end()
    }
}
