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
        var writer = options.format.makeWriter()
        try writer.write(
            all: [identifier.parts + [.bool(object != nil)]],
            names: ["store", "entity", "key", "exists"])
    }
}

extension PersistentIdentifier {
    /// Store, entity and key; what a temporary identifier lacks is null.
    fileprivate var parts: [Value] {
        var parts: [Value] = [.null, .string(entityName), .null]
        if let storeIdentifier { parts[0] = .string(storeIdentifier) }
        if let permanentKey { parts[2] = .int(permanentKey) }
        return parts
    }
}
