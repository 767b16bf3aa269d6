public import HTMLPages
public import LarderClient

/// An entity in the list of all entities.
public struct EntityRow: Sendable {
    public var name: String
    public var parent: String?
    public var isAbstract: Bool
    public var attributeCount: Int
    public var relationshipCount: Int
    /// The number of its objects; nil if counting took too long.
    public var objectCount: Int64?

    public init(_ entity: Entity, objectCount: Int64?) {
        name = entity.name
        parent = entity.parent
        isAbstract = entity.isAbstract
        attributeCount = entity.attributes.count
        relationshipCount = entity.relationships.count
        self.objectCount = objectCount
    }
}

/// All entities with the numbers of their objects.
public func entityList(_ rows: [EntityRow], server: ServerDescription) -> HTML {
    guard !rows.isEmpty else {
        return "<h1>Entities</h1>\n<p class=\"empty\">The schema has no entities.</p>"
    }
    let isAnyUncounted = rows.contains { $0.objectCount == nil }
    let note: HTML =
        isAnyUncounted
        ? "<p class=\"quiet\">… is a number that takes long to count.</p>" : ""
    return """
        <h1>Entities</h1>
        <div class="scroll" role="region" aria-label="Entities" tabindex="0">
        <table class="rows"><thead><tr><th scope="col">Entity</th>
        <th scope="col" class="number">Objects</th><th scope="col" class="number">Attributes</th>
        <th scope="col" class="number">Relationships</th></tr></thead>
        <tbody>\(rows.map(entityRow))</tbody></table></div>\(note)
        <p class="quiet">\(server.name), schema \(server.schemaVersion), store \
        <code>\(server.storeIdentifier.uuidString)</code>\
        \(server.isReadOnly ? ", which the server does not change" : "")</p>
        """
}

private func entityRow(_ row: EntityRow) -> HTML {
    let parent: HTML? = row.parent.map { " <span class=\"quiet\">is a \($0)</span>" }
    let abstract: HTML = row.isAbstract ? " <span class=\"quiet\">abstract</span>" : ""
    let count = row.objectCount.map { grouped($0) } ?? "…"
    return """
        <tr><th scope="row"><a href="\(Link.rows(of: row.name))">\(row.name)</a>\
        \(parent)\(abstract)</th><td class="number">\(count)</td>\
        <td class="number">\(row.attributeCount)</td>\
        <td class="number">\(row.relationshipCount)</td></tr>
        """
}

/// A number with thin spaces between thousands: `1 000 000`.
public func grouped(_ number: Int64) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text.append("\u{202F}") }
        text.append(digit)
    }
    return text
}
