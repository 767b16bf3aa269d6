import ArgumentParser

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the schema of a store, or write or check a schema file.",
        discussion: """
            EXAMPLES:
              larder schema init schema.json
              larder schema infer airports.csv > schema.json
              larder schema from-xcdatamodel Library.xcdatamodeld > schema.json
              larder schema check schema.json
              larder schema show Article
              larder schema diff schema-1.json schema-2.json
              larder schema show --output json > schema.json
              larder schema show --schema schema.json --output dot | dot -Tsvg > schema.svg

            docs/schema.md describes the schema file.
            """,
        subcommands: [
            SchemaShowCommand.self, SchemaCheckCommand.self, SchemaDiffCommand.self,
            SchemaInitCommand.self, SchemaInferCommand.self, SchemaFromModelCommand.self,
        ])
}
