import ArgumentParser
import LarderModel
import LarderPrograms
import LarderQuery

struct SchemaCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a schema file and print its entities.",
        discussion: """
            EXAMPLES:
              larder schema check schema.json
              larder schema check schema.json --cloudkit

            Does not open a store. All problems are reported together, each with its path in the \
            file; the exit status is then 65. --cloudkit also reports what CloudKit does not \
            support: attributes that are neither optional nor have a default, relationships that \
            are not optional or have no inverse, and uniqueness constraints. An index that no \
            query can use is a warning.
            """)

    @Argument(
        help: ArgumentHelp("Schema file; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String

    @Flag(help: "Also check the requirements of CloudKit.")
    var cloudkit = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run() throws {
        let schema = try SchemaDocument.read(InputFile(file))
        for warning in Self.warnings(about: schema) {
            ErrorReport(warning).print(asJSON: LarderCommand.wantsJSON)
        }
        if cloudkit {
            let problems = CloudKitAudit.problems(in: schema)
            guard problems.isEmpty else {
                throw LarderError(
                    .validationFailed,
                    problems.count == 1
                        ? "the schema is not compatible with CloudKit: 1 problem"
                        : "the schema is not compatible with CloudKit: \(problems.count) problems",
                    problems: problems.map(\.description))
            }
        }
        var writer = output.format.makeWriter()
        let rows = schema.entities.map { entity -> [Value] in
            [
                .string(entity.name), .int(Int64(entity.attributes.count)),
                .int(Int64(entity.relationships.count)),
            ]
        }
        try writer.write(all: rows, names: ["entity", "attributes", "relationships"])
    }

    /// Indexes that serve no query: JSON values are not ordered as their texts are.
    private static func warnings(about schema: Schema) -> [FormatWarning] {
        schema.entities.flatMap { entity in
            let documents = Set(entity.attributes.filter { $0.type == .json }.map(\.name))
            return entity.declared.indexes.filter { $0.first.map(documents.contains) == true }.map {
                FormatWarning(
                    message: "\(entity.name): the index of \($0.joined(separator: ", ")) serves no "
                        + "query, because a JSON attribute is not ordered by its text",
                    hint: "index a derived attribute with the member that queries compare")
            }
        }
    }
}
