import LarderModel

/// What a user wrote of an object.
struct ObjectContent: Sendable {
    var values: [String: Value] = [:]
    /// Of to-many relationships that have no value, in the order of their names.
    var edits: [RelationshipEdit] = []
}

/// Turns what a user wrote of an object (assignments, JSON members, CSV fields) into values of the
/// types that the schema gives.
///
/// Errors name entity and property, never the value.
struct ObjectDecoder {
    let entity: Entity
    /// Whether `t:name` stands for an object that the same change set inserts.
    var allowsTemporaryNames = false

    init(_ entityName: String, in schema: Schema) throws(LarderError) {
        guard let entity = schema.entity(named: entityName) else {
            let names = schema.entities.map(\.name).joined(separator: ", ")
            throw LarderError(
                .unknownEntity, "the store has no entity \(entityName)", hint: "it has \(names)")
        }
        self.entity = entity
    }

    func content(_ assignments: [Assignment]) throws(LarderError) -> ObjectContent {
        var content = ObjectContent()
        var names: Set<String> = []
        for assignment in assignments {
            let name = assignment.name
            let property = try property(name)
            guard names.insert(name).inserted else {
                throw LarderError(.malformedValue, "\(entity.name).\(name) is given twice")
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

    /// The members of an object in JSON. `@id` and `@version` are for the caller; `@entity` must
    /// be this entity's name.
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
                    throw LarderError(.wrongType, "@entity is not \(entity.name)")
                }
            default:
                throw LarderError(
                    .unknownProperty, "there is no \(name)",
                    hint: "beside its properties an object has @id, @entity and @version")
            }
        }
        return content
    }

    private func read(
        _ json: JSONValue, _ property: Property, _ name: String, into content: inout ObjectContent
    ) throws(LarderError) {
        guard case .relationship(let relationship) = property, relationship.isToMany,
            let steps = EditSteps(json)
        else {
            content.values[name] = try value(json, property, name)
            return
        }
        content.edits += try naming(name) { () throws(LarderError) in
            try steps.edits(of: name) { (text) throws(LarderError) in
                try identifier(text, relationship)
            }
        }
    }

    /// A field of CSV; nil is nil.
    func value(field: String?, named name: String) throws(LarderError) -> Value {
        let property = try property(name)
        guard let field else { return .null }
        return try value(text: field, property, name)
    }

    func property(_ name: String) throws(LarderError) -> Property {
        if let property = entity.property(named: name) { return property }
        let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        throw LarderError(
            .unknownProperty, "\(entity.name) has no property \(name)",
            hint: "it has \(names.joined(separator: ", "))")
    }

    private func value(
        text: String, _ property: Property, _ name: String
    ) throws(LarderError) -> Value {
        try naming(name) { () throws(LarderError) in
            switch property {
            case .attribute(let attribute): return try Value(text: text, type: attribute.type)
            case .relationship(let relationship):
                guard !relationship.isToMany else {
                    throw LarderError(
                        .wrongType, "a to-many relationship takes a list",
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
                return try Value(json: json, type: attribute.type)
            case (.relationship(let relationship), .string(let text)) where !relationship.isToMany:
                return .object(try identifier(text, relationship))
            case (.relationship(let relationship), .array(let elements))
            where relationship.isToMany:
                return .objects(
                    try elements.map { (element) throws(LarderError) in
                        guard case .string(let text) = element else {
                            throw LarderError(.wrongType, "each element is an object's URI")
                        }
                        return try identifier(text, relationship)
                    })
            case (.relationship(let relationship), _):
                throw LarderError(
                    .wrongType,
                    relationship.isToMany
                        ? "a to-many relationship is an array of URIs, or an edit of it"
                        : "a to-one relationship is an object's URI or null")
            }
        }
    }

    private func identifier(
        _ text: String, _ relationship: Relationship
    ) throws(LarderError) -> PersistentIdentifier {
        guard allowsTemporaryNames, TemporaryName.isOne(text) else {
            return try PersistentIdentifier(uriRepresentation: text)
        }
        return PersistentIdentifier(temporary: text, entityName: relationship.destination)
    }

    /// Puts entity and property in front of an error's sentence.
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
