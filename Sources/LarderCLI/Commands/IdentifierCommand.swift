import ArgumentParser
import LarderModel

struct IdentifierCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "id",
        abstract: "Prints the parts of an object's URI, and whether the object exists.",
        discussion: """
            EXAMPLES:
              larder id "$uri"
              larder id "$uri" --output json

            As JSON it prints the identifier as SwiftData encodes it, for programs that keep it. \
            Another store's URI and an unknown entity's are errors; a deleted object's is not.
            """)

    @Argument(help: ArgumentHelp("The object.", valueName: "uri"))
    var uri: String

    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        let identifier = try PersistentIdentifier(uriRepresentation: uri)
        let object = try store.client.object(for: identifier)
        if options.format.isJSON {
            var output = StandardOutput()
            try output.write(identifier.jsonRepresentation + "\n")
            return try output.flush()
        }
        let row: [Value] = [
            identifier.storeIdentifier.map(Value.string) ?? .null, .string(identifier.entityName),
            identifier.permanentKey.map(Value.int) ?? .null, .bool(object != nil),
        ]
        var writer = options.format.makeWriter()
        try writer.write(all: [row], names: ["store", "entity", "key", "exists"])
    }
}
