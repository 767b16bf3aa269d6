import FoundationEssentials
import LarderModel

/// Converts assignments, JSON members and CSV fields to values of the types of the schema.
///
/// Errors name the entity and the property. Those of an import show the value too.
struct ObjectDecoder {
    let entity: Entity
    let schema: Schema
    /// The UUID of the store, for short identifiers.
    let store: UUID
    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    let assumesUTC: Bool
    /// Whether `t:name` refers to an object that the same change set inserts.
    var allowsTemporaryNames = false
    /// Whether related objects may be named by their values.
    var namesRelatedObjects = false
    /// Whether errors about JSON values show them.
    var showsValues = false

    init(
        _ entityName: String, in schema: Schema, of store: UUID, assumesUTC: Bool
    ) throws(LarderError) {
        guard let entity = schema.entity(named: entityName) else {
            let names = schema.entities.map(\.name)
            throw LarderError(
                .unknownEntity, "the store has no entity \"\(entityName)\"",
                hint: NameSuggestion.hint(for: entityName, among: names)
                    ?? "its entities are \(names.joined(separator: ", "))")
        }
        self.entity = entity
        self.schema = schema
        self.store = store
        self.assumesUTC = assumesUTC
    }

    func content(_ assignments: [Assignment]) throws(LarderError) -> ObjectContent {
        var content = ObjectContent()
        var names: Set<String> = []
        var parts: [String: [Assignment]] = [:]
        for assignment in assignments {
            let name = assignment.name
            guard names.insert(name).inserted else {
                throw LarderError(.malformedValue, "\(entity.name).\(name) is given more than once")
            }
            if let path = relatedPath(name) {
                parts[path.relationship, default: []].append(
                    Assignment(name: path.rest, content: assignment.content))
                continue
            }
            let property = try property(name)
            switch assignment.content {
            case .null: content.values[name] = .null
            case .text(let text): content.values[name] = try value(text: text, property, name)
            case .json(let text):
                let json = try naming(name) { () throws(LarderError) in
                    try JSONValue(parsing: text)
                }
                try read(json, property, name, into: &content)
            }
        }
        for (name, parts) in parts.sorted(by: { $0.key < $1.key }) {
            try checkIsNew(name, in: names)
            try readRelated(name, parts, into: &content)
        }
        return content
    }

    /// Decodes the members of a JSON object. Ignores `@id` and `@version`, which the caller reads;
    /// `@entity` must be the name of this entity.
    func content(_ members: [String: JSONValue]) throws(LarderError) -> ObjectContent {
        var content = ObjectContent()
        content.values.reserveCapacity(members.count)
        var parts: [String: [String: JSONValue]] = [:]
        for (name, json) in members.sorted(by: { $0.key < $1.key }) {
            guard name.utf8.first == UInt8(ascii: "@") else {
                if let path = relatedPath(name) {
                    parts[path.relationship, default: [:]][path.rest] = json
                } else {
                    try read(json, property(name), name, into: &content)
                }
                continue
            }
            switch name {
            case "@id", "@version", "@line", "@error": continue
            case "@entity":
                guard json == .string(entity.name) else {
                    throw LarderError(.wrongType, "@entity must be \(entity.name)")
                }
            default:
                throw LarderError(
                    .unknownProperty, "unknown member \(name)",
                    hint: "valid members are properties, @id, @entity and @version")
            }
        }
        for (name, parts) in parts.sorted(by: { $0.key < $1.key }) {
            try checkIsNew(name, in: members.keys)
            try read(.object(parts), property(name), name, into: &content)
        }
        return content
    }

    private func read(
        _ json: JSONValue, _ property: Property, _ name: String, into content: inout ObjectContent
    ) throws(LarderError) {
        if namesRelatedObjects, case .relationship(let relationship) = property,
            try readRelated(json, relationship, into: &content)
        {
            return
        }
        guard case .relationship(let relationship) = property, relationship.isToMany,
            let reader = RelationshipEditReader(json)
        else {
            content.values[name] = try value(json, property, name)
            return
        }
        content.edits += try naming(name) { () throws(LarderError) in
            try reader.edits(of: name) { (text) throws(LarderError) in
                try identifier(text, relationship)
            }
        }
    }

    func property(_ name: String) throws(LarderError) -> Property {
        if let property = entity.property(named: name) { return property }
        let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        throw LarderError(
            .unknownProperty, "\(entity.name) has no property \"\(name)\"",
            hint: NameSuggestion.hint(for: name, among: names)
                ?? "its properties are \(names.joined(separator: ", "))")
    }

    private func value(
        text: String, _ property: Property, _ name: String
    ) throws(LarderError) -> Value {
        try naming(name) { () throws(LarderError) in
            switch property {
            case .attribute(let attribute):
                return try Value(text: text, type: attribute.type, assumesUTC: assumesUTC)
            case .relationship(let relationship):
                guard !relationship.isToMany else {
                    throw LarderError(
                        .wrongType, "a to-many relationship requires a list",
                        hint: #"write \#(name):='["URI", …]'"#)
                }
                return .object(try identifier(text, relationship))
            }
        }
    }

    private func value(
        _ json: JSONValue, _ property: Property, _ name: String
    ) throws(LarderError) -> Value {
        try naming(name) { () throws(LarderError) in
            switch (property, json) {
            case (_, .null): return .null
            case (.attribute(let attribute), _):
                return try attributeValue(json, attribute.type)
            case (.relationship(let relationship), .string(let text)) where !relationship.isToMany:
                return .object(try identifier(text, relationship))
            case (.relationship(let relationship), .array(let elements))
            where relationship.isToMany:
                return .objects(
                    try elements.map { (element) throws(LarderError) in
                        guard case .string(let text) = element else {
                            throw LarderError(
                                .wrongType, "each element must be the URI of an object")
                        }
                        return try identifier(text, relationship)
                    })
            case (.relationship(let relationship), _):
                throw LarderError(
                    .wrongType,
                    relationship.isToMany
                        ? "a to-many relationship requires an array of URIs, or an edit"
                        : "a to-one relationship requires the URI of an object, or null")
            }
        }
    }

    private func attributeValue(
        _ json: JSONValue, _ type: AttributeType
    ) throws(LarderError) -> Value {
        do throws(LarderError) {
            return try Value(json: json, type: type, assumesUTC: assumesUTC)
        } catch {
            guard showsValues else { throw error }
            if case .string(let text) = json { throw error.showing(text) }
            throw error.showing(json.text)
        }
    }

    func identifier(
        _ text: String, _ relationship: Relationship
    ) throws(LarderError) -> PersistentIdentifier {
        guard allowsTemporaryNames, TemporaryName.isValid(text) else {
            return try PersistentIdentifier(text: text, in: store)
        }
        return PersistentIdentifier(temporary: text, entityName: relationship.destination)
    }

    /// Adds the entity and the property to the message of an error.
    func naming<Result>(
        _ name: String, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) {
            return try body()
        } catch {
            var named = error
            named.message = "\(entity.name).\(name): \(error.message)"
            throw named
        }
    }
}
