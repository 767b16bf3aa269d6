import ArgumentParser
import LarderModel

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Shows a store's schema, or checks a schema file.",
        discussion: """
            EXAMPLES:
              larder schema show > schema.json
              larder schema check schema.json
              larder schema check schema.json --cloudkit
            """,
        subcommands: [SchemaShowCommand.self, SchemaCheckCommand.self])
}

struct SchemaShowCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints the store's schema as a schema file.",
        discussion: """
            EXAMPLES:
              larder schema show > schema.json
              larder schema show | jq -r '.entities[].name'

            JSON on one line, in the same form whatever --output says.
            """)

    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        var output = StandardOutput()
        try output.write(store.client.schema().canonicalText + "\n")
        try output.flush()
    }
}

struct SchemaCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a schema file, and prints its entities.",
        discussion: """
            EXAMPLES:
              larder schema check schema.json
              larder schema check schema.json --cloudkit

            Needs no store. Every fault is told at once, with the path to its place; the status is \
            then 65. --cloudkit also finds what CloudKit would refuse: attributes that are neither \
            optional nor have a default, relationships that are not optional or lack an inverse, \
            uniqueness constraints.
            """)

    @Argument(
        help: ArgumentHelp("The schema file; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String

    @Flag(help: "Also checks what CloudKit demands.")
    var cloudkit = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let schema = try SchemaDocument.read(InputFile(file))
        if cloudkit {
            let faults = CloudKitAudit.faults(in: schema)
            guard faults.isEmpty else {
                throw LarderError(
                    .validationFailed,
                    faults.count == 1
                        ? "CloudKit would refuse the schema for a reason"
                        : "CloudKit would refuse the schema for \(faults.count) reasons",
                    faults: faults.map(\.description))
            }
        }
        var writer = options.format.makeWriter()
        let rows = schema.entities.map { entity -> [Value] in
            [
                .string(entity.name), .int(Int64(entity.attributes.count)),
                .int(Int64(entity.relationships.count)),
            ]
        }
        try writer.write(all: rows, names: ["entity", "attributes", "relationships"])
    }
}
