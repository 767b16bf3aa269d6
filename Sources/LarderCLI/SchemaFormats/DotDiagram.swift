import LarderModel

/// Writes a diagram in Graphviz's language.
enum DotDiagram {
    static func text(_ diagram: Diagram) -> String {
        var lines = [
            "digraph {", "  graph [rankdir=LR]", "  node [shape=record]",
            "  edge [labeldistance=2, minlen=2]",
        ]
        lines += diagram.entities.map(box)
        lines += diagram.inheritance.map {
            "  \"\($0.child)\" -> \"\($0.parent)\" [arrowhead=empty]"
        }
        lines += diagram.associations.map(line)
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private static func box(_ entity: Entity) -> String {
        let name = entity.name + (entity.isAbstract ? " (abstract)" : "")
        let lines = Diagram.lines(of: entity).map { $0 + #"\l"# }.joined()
        // From left to right, the fields of a record are below each other.
        let label = lines.isEmpty ? name : "\(name)|\(lines)"
        return "  \"\(entity.name)\" [label=\"\(label)\"]"
    }

    private static func line(_ association: Diagram.Association) -> String {
        let relationship = association.relationship
        var attributes = [
            "label=\"\(association.label)\"", "headlabel=\"\(relationship.cardinality)\"",
        ]
        if let inverse = association.inverse {
            attributes += ["taillabel=\"\(inverse.cardinality)\"", "dir=none"]
        } else {
            attributes.append("arrowhead=vee")
        }
        return "  \"\(association.source)\" -> \"\(relationship.destination)\" "
            + "[\(attributes.joined(separator: ", "))]"
    }
}
