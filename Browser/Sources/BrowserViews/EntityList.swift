public import HTMLPages
public import LarderClient

/// All entities. The script of the page adds the numbers of their objects, which may take long to
/// count.
public func entityList(_ entities: [Entity], server: ServerDescription) -> HTML {
    guard !entities.isEmpty else {
        return "<h1>Entities</h1>\n<p class=\"empty\">The schema has no entities.</p>"
    }
    return """
        <h1>Entities</h1>
        <div class="scroll" role="region" aria-label="Entities" tabindex="0">
        <table class="rows"><thead><tr><th scope="col">Entity</th>
        <th scope="col" class="number">Objects</th><th scope="col" class="number">Attributes</th>
        <th scope="col" class="number">Relationships</th></tr></thead>
        <tbody>\(entities.map(entityRow))</tbody></table></div>
        <p class="quiet" id="uncounted" hidden>… is a number that takes long to count.</p>
        <p class="quiet">\(server.name), schema \(server.schemaVersion), store \
        <code>\(server.storeIdentifier.uuidString)</code>\
        \(server.isReadOnly ? ", which the server does not change" : "")</p>
        """
}

private func entityRow(_ entity: Entity) -> HTML {
    let name = entity.name
    let parent: HTML? = entity.parent.map { " <span class=\"quiet\">is a \($0)</span>" }
    let abstract: HTML = entity.isAbstract ? " <span class=\"quiet\">abstract</span>" : ""
    let count = RowsRequest(entityName: name).address(below: "/count")
    return """
        <tr><th scope="row"><a href="\(Link.rows(of: name))">\(name)</a>\
        \(parent)\(abstract)</th><td class="number" data-count="\(count)">…</td>\
        <td class="number">\(entity.attributes.count)</td>\
        <td class="number">\(entity.relationships.count)</td></tr>
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
