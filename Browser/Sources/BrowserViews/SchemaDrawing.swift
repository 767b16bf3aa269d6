import HTMLPages
public import LarderClient

/// The entities of a schema as boxes with their properties, in columns, and its relationships as
/// lines between the rows of both sides. It is drawn by the server as SVG.
struct SchemaDrawing {
    /// The entities of one drawing; of a larger schema an entity is drawn with its neighbours.
    static let entitiesMax = 60
    /// The rows of a box.
    static let rowsMax = 24

    static let boxWidth = 250
    private static let rowHeight = 21
    private static let headHeight = 30
    private static let gapAcross = 110
    private static let gapDown = 34
    private static let margin = 24

    struct Row: Equatable {
        var name: String
        var type: String
        /// The relationship of the row; nil for an attribute.
        var relationship: Relationship?
    }

    struct Box {
        var entity: Entity
        var rows: [Row]
        var hiddenCount: Int
        var column: Int
        var x: Int
        var y: Int

        var height: Int {
            SchemaDrawing.headHeight
                + (rows.count + (hiddenCount > 0 ? 1 : 0)) * SchemaDrawing.rowHeight + 6
        }

        /// The middle of the row of a relationship; that of the head if it has no row.
        func middle(of relationship: String?) -> Int {
            guard let index = rows.firstIndex(where: { $0.relationship?.name == relationship }),
                relationship != nil
            else { return y + SchemaDrawing.headHeight / 2 }
            return y + SchemaDrawing.headHeight + index * SchemaDrawing.rowHeight
                + SchemaDrawing.rowHeight / 2 + 2
        }
    }

    private(set) var boxes: [Box] = []
    private let schema: Schema

    /// - Parameter entities: The entities to draw.
    init(_ entities: [Entity], of schema: Schema) {
        self.schema = schema
        place(Self.ordered(entities, schema))
    }

    // MARK: - Layout

    /// The entities so that neighbours follow each other: from the one with the most relationships.
    private static func ordered(_ entities: [Entity], _ schema: Schema) -> [Entity] {
        let names = Set(entities.map(\.name))
        var neighbours: [String: [String]] = [:]
        for entity in entities {
            let others =
                entity.declared.relationships.map(\.destination)
                + [entity.parent].compactMap { $0 }
            for other in others where names.contains(other) && other != entity.name {
                neighbours[entity.name, default: []].append(other)
                neighbours[other, default: []].append(entity.name)
            }
        }
        let byDegree = entities.sorted {
            (neighbours[$0.name]?.count ?? 0, $1.name) > (neighbours[$1.name]?.count ?? 0, $0.name)
        }
        var seen: Set<String> = []
        var order: [String] = []
        for entity in byDegree where seen.insert(entity.name).inserted {
            var next = order.count
            order.append(entity.name)
            while next < order.count {
                for name in neighbours[order[next]] ?? [] where seen.insert(name).inserted {
                    order.append(name)
                }
                next += 1
            }
        }
        return order.compactMap { schema.entity(named: $0) }
    }

    /// Each entity goes into the shortest of about as many columns as there are rows.
    private mutating func place(_ entities: [Entity]) {
        var columnCount = 1
        while columnCount * columnCount < entities.count, columnCount < 5 { columnCount += 1 }
        var heights = [Int](repeating: Self.margin, count: columnCount)
        for entity in entities {
            let column = heights.indices.min { heights[$0] < heights[$1] } ?? 0
            let rows = Self.rows(of: entity)
            let shown = Array(rows.prefix(Self.rowsMax))
            let box = Box(
                entity: entity, rows: shown, hiddenCount: rows.count - shown.count, column: column,
                x: Self.margin + column * (Self.boxWidth + Self.gapAcross), y: heights[column])
            heights[column] += box.height + Self.gapDown
            boxes.append(box)
        }
    }

    /// Relationships come first, so that a box with many attributes has them.
    private static func rows(of entity: Entity) -> [Row] {
        let attributes = entity.declared.attributes.map { attribute in
            Row(
                name: (attribute.isDerived ? "/" : "") + attribute.name,
                type: attribute.type.rawValue + (attribute.isOptional ? "?" : ""))
        }
        let relationships = entity.declared.relationships.map { relationship in
            Row(
                name: relationship.name,
                type: "\(relationship.destination) \(relationship.cardinality)",
                relationship: relationship)
        }
        guard attributes.count + relationships.count > rowsMax else {
            return attributes + relationships
        }
        return relationships + attributes
    }

    // MARK: - Drawing

    var html: HTML {
        let width = (boxes.map { $0.x + Self.boxWidth }.max() ?? 0) + Self.margin + 40
        let height = (boxes.map { $0.y + $0.height }.max() ?? 0) + Self.margin
        let names = boxes.map(\.entity.name).joined(separator: ", ")
        return """
            <svg viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
            role="group" aria-label="Drawing of the entities \(names)">
            \(lines)
            \(boxes.map(box))
            </svg>
            """
    }

    private func box(_ box: Box) -> HTML {
        let (x, y, width) = (box.x, box.y, Self.boxWidth)
        let rows = box.rows.enumerated().map { index, row -> HTML in
            let bottom = y + Self.headHeight + index * Self.rowHeight + 16
            let kind: HTML = row.relationship == nil ? "" : " class=\"relationship\""
            return """
                <text\(kind) x="\(x + 10)" y="\(bottom)">\(Self.short(row.name, 20))</text>
                <text class="quiet" x="\(x + width - 10)" y="\(bottom)" text-anchor="end">\
                \(Self.short(row.type, 20))</text>
                """
        }
        let hidden: HTML =
            box.hiddenCount == 0
            ? ""
            : """
            <text class="quiet" x="\(x + 10)" y="\(y + box.height - 10)">and \(box.hiddenCount) \
            more</text>
            """
        let abstract = box.entity.isAbstract ? " (abstract)" : ""
        return """
            <g><rect class="box" x="\(x)" y="\(y)" width="\(width)" height="\(box.height)" \
            rx="8"></rect>
            <rect class="head" x="\(x)" y="\(y)" width="\(width)" height="\(Self.headHeight)" \
            rx="8"></rect>
            <a href="\(Link.rows(of: box.entity.name))"><text x="\(x + 10)" y="\(y + 20)" \
            font-weight="600">\(Self.short(box.entity.name, 30))\(abstract)</text></a>
            \(rows)\(hidden)</g>
            """
    }

    private var lines: [HTML] {
        var drawn: Set<[String]> = []
        var lines: [HTML] = []
        for box in boxes {
            for row in box.rows {
                guard let relationship = row.relationship,
                    let other = boxes.first(where: { $0.entity.name == relationship.destination })
                else { continue }
                let ends = [
                    "\(box.entity.name).\(relationship.name)",
                    relationship.inverse.map { "\(relationship.destination).\($0)" } ?? "",
                ].sorted()
                guard drawn.insert(ends).inserted else { continue }
                lines.append(line(from: box, relationship, to: other))
            }
            if let parent = boxes.first(where: { $0.entity.name == box.entity.parent }) {
                lines.append(inheritance(from: box, to: parent))
            }
        }
        return lines
    }

    private func line(from box: Box, _ relationship: Relationship, to other: Box) -> HTML {
        let start = box.middle(of: relationship.name)
        let end = other.middle(of: relationship.inverse)
        let (startX, endX, bend, way) = ends(box, other)
        let name = relationship.inverse.map { "\(relationship.name) / \($0)" } ?? relationship.name
        // A relationship without an inverse is an arrow to the head of the other box.
        let tip: HTML =
            relationship.inverse == nil
            ? """
            <path class="dot" d="M\(endX) \(end) l\(way * 9) -5 l0 10 z"></path>
            """ : "<circle class=\"dot\" cx=\"\(endX)\" cy=\"\(end)\" r=\"3.5\"></circle>"
        return """
            <g><title>\(box.entity.name): \(name) :\(other.entity.name)</title>
            <path class="link" d="M\(startX) \(start) C\(startX + bend.start) \(start) \
            \(endX + bend.end) \(end) \(endX) \(end)"></path>
            <circle class="dot" cx="\(startX)" cy="\(start)" r="3.5"></circle>\(tip)</g>
            """
    }

    private func inheritance(from box: Box, to parent: Box) -> HTML {
        let start = box.middle(of: nil)
        let end = parent.middle(of: nil)
        let (startX, endX, bend, way) = ends(box, parent)
        return """
            <g><title>\(box.entity.name) is a \(parent.entity.name)</title>
            <path class="parent" d="M\(startX) \(start) C\(startX + bend.start) \(start) \
            \(endX + bend.end) \(end) \(endX) \(end)"></path>
            <path class="triangle" d="M\(endX) \(end) l\(way * 12) -7 l0 14 z"></path></g>
            """
    }

    /// The sides of two boxes that face each other, how far the line bends there, and the
    /// direction in which it leaves the second box. Within a column both are on the right.
    private func ends(
        _ box: Box, _ other: Box
    ) -> (startX: Int, endX: Int, bend: (start: Int, end: Int), way: Int) {
        let width = Self.boxWidth
        if box.column == other.column {
            return (box.x + width, other.x + width, (46, 46), 1)
        }
        if box.column < other.column { return (box.x + width, other.x, (60, -60), -1) }
        return (box.x, other.x + width, (-60, 60), 1)
    }

    private static func short(_ text: String, _ charactersMax: Int) -> String {
        text.count > charactersMax ? text.prefix(charactersMax - 1) + "…" : text
    }
}

extension Relationship {
    /// The number of related objects as in UML: `0..1`, `1`, `1..*`, `0..4`.
    public var cardinality: String {
        guard isToMany else { return isOptional ? "0..1" : "1" }
        let maximum = maxCount > 0 ? "\(maxCount)" : "*"
        if isOptional { return minCount > 1 ? "0,\(minCount)..\(maximum)" : "0..\(maximum)" }
        return "\(max(minCount, 1))..\(maximum)"
    }
}
