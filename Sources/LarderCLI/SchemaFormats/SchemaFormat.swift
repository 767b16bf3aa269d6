import ArgumentParser
import LarderModel

/// The formats in which `larder schema show` prints a schema.
enum SchemaFormat: String, ExpressibleByArgument, CaseIterable {
    /// One table per entity, for people.
    case table
    /// One tab-separated line per entity, property, constraint and index, for shell scripts.
    case plain
    /// The schema file.
    case json
    /// A diagram for Graphviz.
    case dot
    /// A class diagram for Mermaid.
    case mermaid
    /// Model classes for SwiftData.
    case swift
    /// Dataclasses for the Python package.
    case python
    /// Structs for the Go client.
    case go
    /// Interfaces for the TypeScript client.
    case typescript

    /// The format without `--output`: a table on a terminal, otherwise plain.
    static var standardOutputDefault: SchemaFormat {
        OutputFormat.standardOutputDefault == .table ? .table : .plain
    }

    /// Prints the schema, or only one of its entities.
    func print(_ schema: Schema, only entity: Entity?) throws(LarderError) {
        let entities = entity.map { [$0] } ?? schema.entities
        switch self {
        case .table: try SchemaTable.print(entities)
        case .plain: try SchemaTable.printPlain(entities)
        case .json: try Self.write(entity?.fileText ?? schema.fileText)
        case .dot: try Self.write(DotDiagram.text(Diagram(schema, only: entity)))
        case .mermaid: try Self.write(MermaidDiagram.text(Diagram(schema, only: entity)))
        case .swift: try Self.write(SwiftModels.text(entities, of: schema))
        case .python: try Self.write(PythonModels.text(entities, of: schema))
        case .go: try Self.write(GoModels.text(entities, of: schema))
        case .typescript: try Self.write(TypeScriptModels.text(entities, of: schema))
        }
    }

    private static func write(_ text: String) throws(LarderError) {
        var output = StandardOutput()
        try output.write(text)
        try output.flush()
    }
}
