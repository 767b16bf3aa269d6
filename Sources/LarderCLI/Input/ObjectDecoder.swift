import FoundationEssentials
import LarderModel

/// The values and edits of an object as the user gave them.
struct ObjectContent: Sendable {
    var values: [String: Value] = [:]
    /// Edits of to-many relationships that have no value, in the order of their names.
    var edits: [RelationshipEdit] = []

    /// The values, if there are no edits.
    ///
    /// - Parameter message: The message of the error if there are edits.
    func values(orThrow message: String) throws(LarderError) -> [String: Value] {
        guard edits.isEmpty else { throw LarderError(.wrongType, message) }
        return values
    }
}

/// Converts assignments, JSON members and CSV fields to values of the types of the schema.
///
/// Errors name the entity and the property, never the value.
struct ObjectDecoder {
    let entity: Entity
    /// The UUID of the store, for short identifiers.
    private let store: UUID
    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    private let assumesUTC: Bool
    /// Whether `t:name` refers to an object that the same change set inserts.
    var allowsTemporaryNames = false

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
        self.store = store
        self.assumesUTC = assumesUTC
    }

    func content(_ assignments: [Assignment]) throws(LarderError) -> ObjectContent {
        var content = ObjectContent()
        var names: Set<String> = []
        for assignment in assignments {
            let name = assignment.name
            let property = try property(name)
            guard names.insert(name).inserted else {
                throw LarderError(.malformedValue, "\(entity.name).\(name) is given more than once")
            }
            switch assignment.content {
            case .text(let text): content.values[name] = try value(text: text, property, name)
            case .json(let text):
                let json = try naming(name) { () throws(LarderError) in
                    try JSONValue(parsing: text)
                }
                try read(json, property, name, into: &content)
            }
        }
        return content
    }

    /// Decodes the members of a JSON object. Ignores `@id` and `@version`, which the caller reads;
    /// `@entity` must be the name of this entity.
    func content(_ members: [String: JSONValue]) throws(LarderError) -> ObjectContent {
        var content = ObjectContent()
        content.values.reserveCapacity(members.count)
        for (name, json) in members.sorted(by: { $0.key < $1.key }) {
            guard name.utf8.first == UInt8(ascii: "@") else {
                try read(json, property(name), name, into: &content)
                continue
            }
            switch name {
            case "@id", "@version": continue
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
        return content
    }

    private func read(
        _ json: JSONValue, _ property: Property, _ name: String, into content: inout ObjectContent
    ) throws(LarderError) {
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

    /// Converts a CSV field; nil is nil.
    func value(field: String?, named name: String) throws(LarderError) -> Value {
        let property = try property(name)
        guard let field else { return .null }
        return try value(text: field, property, name)
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
                return try Value(json: json, type: attribute.type, assumesUTC: assumesUTC)
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

    private func identifier(
        _ text: String, _ relationship: Relationship
    ) throws(LarderError) -> PersistentIdentifier {
        guard allowsTemporaryNames, TemporaryName.isValid(text) else {
            return try PersistentIdentifier(text: text, in: store)
        }
        return PersistentIdentifier(temporary: text, entityName: relationship.destination)
    }

    /// Adds the entity and the property to the message of an error.
    private func naming<Result>(
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
