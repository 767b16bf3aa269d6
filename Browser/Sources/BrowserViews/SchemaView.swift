public import HTMLPages
public import LarderClient

/// The schema as a drawing, and as tables for readers who do not see the drawing.
///
/// - Parameter entity: The entity that is shown with its neighbours; nil for the whole schema.
public func schemaView(_ schema: Schema, of entity: Entity?) -> HTML {
    let entities = entity.map { neighbours(of: $0, in: schema) } ?? schema.entities
    let isDrawn = entities.count <= SchemaDrawing.entitiesMax
    let drawing: HTML =
        isDrawn
        ? """
        <div class="scroll drawing" role="region" aria-label="Drawing of the schema" tabindex="0">
        \(SchemaDrawing(entities, of: schema).html)</div>
        <p class="quiet">A line joins both sides of a relationship; an arrow is a relationship \
        without an inverse, and a dashed line leads to the parent of an entity.</p>
        """
        : """
        <p class="notice">The schema has \(entities.count) entities. A drawing has at most \
        \(SchemaDrawing.entitiesMax): choose an entity to see it with its neighbours.</p>
        """
    let title: HTML =
        entity.map { "Schema of <a href=\"\(Link.rows(of: $0.name))\">\($0.name)</a>" }
        ?? "Schema \(schema.version)"
    let whole: HTML =
        entity == nil ? "" : "<p class=\"links\"><a href=\"\(Link.schema)\">All entities</a></p>"
    let details = entity.map { [$0] } ?? (isDrawn ? entities : [])
    return """
        <h1>\(title)</h1>
        \(whole)
        \(drawing)
        \(isDrawn ? "" : entityLinks(entities))
        \(details.map { entityTable($0, schema) })
        """
}

private func entityLinks(_ entities: [Entity]) -> HTML {
    let links = entities.map { entity -> HTML in
        "<li><a href=\"\(Link.schema(of: entity.name))\">\(entity.name)</a></li>"
    }
    return "<ul class=\"objects\">\(links)</ul>"
}

/// The entity, its destinations and sources, and its parent and children.
private func neighbours(of entity: Entity, in schema: Schema) -> [Entity] {
    let destinations = Set(entity.relationships.map(\.destination))
    let near = schema.entities.filter { other in
        other.name == entity.name || destinations.contains(other.name)
            || other.name == entity.parent || other.parent == entity.name
            || other.declared.relationships.contains { $0.destination == entity.name }
    }
    // The entity itself is always among those that are drawn.
    guard near.count > SchemaDrawing.entitiesMax else { return near }
    return [entity]
        + near.filter { $0.name != entity.name }.prefix(SchemaDrawing.entitiesMax - 1)
}

private func entityTable(_ entity: Entity, _ schema: Schema) -> HTML {
    let attributes = entity.attributes.map { attribute -> HTML in
        row(attribute.name, "\(attribute.type.rawValue)", rules(attribute, entity))
    }
    let relationships = entity.relationships.map { relationship -> HTML in
        let name = relationship.destination
        let link: HTML = "<a href=\"\(Link.schema(of: name))\">\(name)</a>"
        return row(
            relationship.name, "\(link) \(relationship.cardinality)", rules(relationship))
    }
    let constraints = entity.uniquenessConstraints.filter { $0.count > 1 }.map {
        "unique (\($0.joined(separator: ", ")))"
    }
    let indexes = entity.indexes.map { "index (\($0.joined(separator: ", ")))" }
    let parent: HTML? = entity.parent.map {
        " <span class=\"quiet\">is a <a href=\"\(Link.schema(of: $0))\">\($0)</a></span>"
    }
    let constraintsAndIndexes = constraints + indexes
    let list: HTML =
        constraintsAndIndexes.isEmpty
        ? "" : "<p class=\"quiet\">\(constraintsAndIndexes.joined(separator: " · "))</p>"
    return """
        <h2>\(entity.name)\(parent)</h2>
        <div class="scroll" role="region" aria-label="Properties of \(entity.name)" tabindex="0">
        <table class="rows"><thead><tr><th scope="col">Property</th><th scope="col">Type</th>
        <th scope="col">Rules</th></tr></thead><tbody>\(attributes)\(relationships)</tbody>\
        </table></div>\(list)
        """
}

private func row(_ name: String, _ type: HTML, _ rules: [String]) -> HTML {
    """
    <tr><th scope="row">\(name)</th><td>\(type)</td><td>\(rules.joined(separator: ", "))</td></tr>
    """
}

private func rules(_ attribute: Attribute, _ entity: Entity) -> [String] {
    let validation = attribute.validation
    let rules: [String?] = [
        attribute.isOptional ? "optional" : nil,
        attribute.defaultValue.map { "default \($0.text)" },
        entity.uniquenessConstraints.contains([attribute.name]) ? "unique" : nil,
        attribute.derivation.map { "derived: \($0)" },
        validation.minimum.map { "at least \($0.text)" },
        validation.maximum.map { "at most \($0.text)" },
        validation.minLength.map { "length at least \($0)" },
        validation.maxLength.map { "length at most \($0)" },
        validation.pattern.map { "matches \($0)" },
    ]
    return rules.compactMap { $0 }
}

private func rules(_ relationship: Relationship) -> [String] {
    let rules: [String?] = [
        relationship.isOrdered ? "ordered" : nil,
        relationship.inverse.map { "inverse \($0)" },
        relationship.deleteRule == .nullify ? nil : "delete rule \(relationship.deleteRule)",
    ]
    return rules.compactMap { $0 }
}
