import ArgumentParser
import LarderModel

struct IdentifierCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "id",
        abstract: "Print the parts of a URI and whether its object exists.",
        discussion: """
            EXAMPLES:
              larder id "$uri"
              larder id "$uri" --output json

            With --output json, prints the identifier in SwiftData's JSON encoding. The URI of a \
            deleted object is not an error; one of another store or of an unknown entity is.
            """)

    @Argument(help: ArgumentHelp("URI of the object.", valueName: "uri"))
    var uri: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let identifier = try PersistentIdentifier(text: uri, in: session.storeIdentifier)
        let object = try session.client.object(for: identifier)
        if output.format.isJSON {
            var standardOutput = StandardOutput()
            try standardOutput.write(identifier.jsonRepresentation + "\n")
            return try standardOutput.flush()
        }
        var writer = output.format.makeWriter()
        try writer.write(
            all: [identifier.parts + [.bool(object != nil)]],
            names: ["store", "entity", "key", "exists"])
    }
}

extension PersistentIdentifier {
    /// Store, entity and key. A temporary identifier has no store and no key; they are null.
    fileprivate var parts: [Value] {
        var parts: [Value] = [.null, .string(entityName), .null]
        if let storeIdentifier { parts[0] = .string(storeIdentifier) }
        if let permanentKey { parts[2] = .int(permanentKey) }
        return parts
    }
}
