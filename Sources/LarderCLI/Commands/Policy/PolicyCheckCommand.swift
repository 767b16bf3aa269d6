import ArgumentParser
import LarderModel
import LarderPrograms
import LarderQuery

struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a policy file against a schema, and print its roles.",
        discussion: """
            EXAMPLES:
              larder policy check school.policy --schema school.json

            Does not open a store. All problems are reported together, each with its line and its \
            path in the file; the exit status is then 65. Prints each role with its members and \
            the rights to the whole store.
            """)

    @Argument(
        help: ArgumentHelp("Policy file; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Schema file of the store.", valueName: "file"))
    var schema: String

    @OptionGroup var output: OutputOption

    func run() throws {
        let schema = try SchemaDocument.read(InputFile(schema))
        let policy = try PolicyDocument.read(InputFile(file), for: schema)
        var writer = output.format.makeWriter()
        try writer.write(
            all: policy.roles.map { role in
                [
                    .string(role.name), .string(role.members),
                    .string(role.rights.map(\.rawValue).sorted().joined(separator: " ")),
                    .string(role.entities.keys.sorted().joined(separator: " ")),
                ]
            }, names: ["role", "members", "rights", "entities"])
    }
}

extension Role {
    /// Who has the role, for people.
    fileprivate var members: String {
        let parts = [("user", users), ("group", groups), ("program", programs)]
        let texts = parts.flatMap { kind, names in names.map { "\(kind) \($0)" } }
        return texts.isEmpty ? "everybody" : texts.joined(separator: ", ")
    }
}
