import LarderModel

/// Writes a diagram as a class diagram of Mermaid, whose entity-relationship diagrams have no
/// inheritance.
enum MermaidDiagram {
    static func text(_ diagram: Diagram) -> String {
        var lines = ["classDiagram", "  direction LR"]
        lines += diagram.entities.flatMap(box)
        lines += diagram.inheritance.map { "  \(quoted($0.parent)) <|-- \(quoted($0.child))" }
        lines += diagram.associations.map(line)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func box(_ entity: Entity) -> [String] {
        let lines = (entity.isAbstract ? ["<<abstract>>"] : []) + Diagram.lines(of: entity)
        let label = keywords.contains(entity.name) ? "[\"\(entity.name)\"]" : ""
        let heading = "  class \(quoted(entity.name))\(label)"
        if lines.isEmpty { return [heading] }
        return [heading + " {"] + lines.map { "    " + $0 } + ["  }"]
    }

    private static func line(_ association: Diagram.Association) -> String {
        let relationship = association.relationship
        let tail = association.inverse.map { "\"\($0.cardinality)\" --" } ?? "-->"
        return "  \(quoted(association.source)) \(tail) \"\(relationship.cardinality)\" "
            + "\(quoted(relationship.destination)) : \(association.label)"
    }

    /// The keywords that Mermaid recognizes even in backticks. Classes of these names get another
    /// name, which no entity can have, and the entity's name as a label.
    private static let keywords = ["callback", "click", "cssClass", "link", "note"]

    private static func quoted(_ name: String) -> String {
        keywords.contains(name) ? "`_\(name)`" : "`\(name)`"
    }
}
