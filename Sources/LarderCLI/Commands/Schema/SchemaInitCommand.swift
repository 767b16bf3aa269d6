import ArgumentParser
import LarderModel
import LarderQuery

struct SchemaInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a first schema file.",
        discussion: """
            EXAMPLES:
              larder schema init
              larder schema init schema.json

            Writes a valid schema with two entities and a relationship between them, as a start \
            for one of your own. An existing file is not changed.
            """)

    @Argument(
        help: ArgumentHelp("New file; - for standard output, the default.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var file: String?

    func run() throws {
        let text = try Self.schema().fileText
        if let file, file != "-" { return try NewFile.write(text, to: file) }
        var output = StandardOutput()
        try output.write(text)
        try output.flush()
    }

    private static func schema() throws -> Schema {
        try Schema(entities: [
            Entity(
                name: "Author",
                attributes: [
                    Attribute(name: "name", type: .string, indexed: .exact),
                    Attribute(name: "email", type: .string, isOptional: true, unique: .exact),
                ],
                relationships: [
                    Relationship(
                        name: "books", destination: "Book", isToMany: true, inverse: "author",
                        deleteRule: .cascade)
                ]),
            Entity(
                name: "Book",
                attributes: [
                    Attribute(
                        name: "title", type: .string,
                        validation: Attribute.Validation(minLength: 1)),
                    Attribute(
                        name: "pageCount", type: .int32, defaultValue: 0,
                        validation: Attribute.Validation(minimum: 0)),
                    Attribute(name: "published", type: .date, isOptional: true),
                ],
                relationships: [
                    Relationship(name: "author", destination: "Author", inverse: "books")
                ],
                indexes: [["published", "title"]]),
        ])
    }
}
