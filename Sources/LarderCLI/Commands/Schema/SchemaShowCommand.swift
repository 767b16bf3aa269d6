import ArgumentParser
import LarderModel
import LarderPrograms

struct SchemaShowCommand: ParsableCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the schema of a store or of a schema file.",
        discussion: """
            EXAMPLES:
              larder schema show
              larder schema show Article --output swift
              larder schema show --output json > schema.json
              larder schema show --schema schema.json --output dot | dot -Tsvg > schema.svg

            With --schema and without --store, prints the schema file without a store.

            Formats: table has a table per entity; plain has tab-separated lines of entity, name, \
            kind, type, optional, default and details; json is the schema file; dot is a diagram \
            for Graphviz, mermaid a class diagram for Mermaid; swift has model classes for \
            SwiftData; python has dataclasses for the Python package, go structs for the Go \
            client, and typescript interfaces for the TypeScript client. Each entity is printed \
            with its own properties; inherited ones are printed with its parent.
            """)

    @Argument(help: ArgumentHelp("Print only this entity.", valueName: "entity"))
    var entity: EntityName?

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "Output format. Default: table on a terminal, otherwise plain.")
    var output: SchemaFormat?

    func run() throws {
        let schema = try readSchema()
        let format = output ?? .standardOutputDefault
        guard let entity else { return try format.print(schema, only: nil) }
        let found = try schema.existingEntity(named: entity.name)
        try format.print(schema, only: found)
    }

    private func readSchema() throws -> Schema {
        if let path = connection.schema, connection.store == nil, connection.socket == nil {
            return try SchemaDocument.read(InputFile(path))
        }
        return try StoreSession.with(connection) { try $0.client.schema() }
    }
}
