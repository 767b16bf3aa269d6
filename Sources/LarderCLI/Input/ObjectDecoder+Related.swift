import LarderModel

// Related objects that are named by their values: `author.name=Ann`, or in JSON
// `{"author": {"name": "Ann"}}`.

extension ObjectDecoder {
    /// A relationship and the name of a property of its objects, such as `author` and `name`; nil
    /// for the name of a property, and if related objects cannot be named by their values.
    func relatedPath(_ name: String) -> (relationship: String, rest: String)? {
        guard namesRelatedObjects, let period = name.firstIndex(of: ".") else { return nil }
        return (String(name[..<period]), String(name[name.index(after: period)...]))
    }

    /// Whether an object may be related to others of the entity.
    var namesOwnObjects: Bool {
        entity.relationships.contains { schema.areRelated($0.destination, entity.name) }
    }

    func checkIsNew(_ name: String, in names: some Sequence<String>) throws(LarderError) {
        guard names.contains(name) else { return }
        throw LarderError(
            .malformedValue,
            "\(entity.name).\(name) is given both as \(name) and by the values of its object",
            hint: "leave one of them out")
    }

    /// The relationship with a name.
    ///
    /// - Throws: `unknownProperty`; `wrongType` for an attribute.
    func relationship(_ name: String) throws(LarderError) -> Relationship {
        guard case .relationship(let relationship) = try property(name) else {
            throw LarderError(
                .wrongType, "\(entity.name).\(name) is an attribute, so it has no properties")
        }
        return relationship
    }

    /// The decoder of the objects of a relationship.
    ///
    /// - Parameter entityName: The entity of the object, if it is not the destination itself.
    func decoder(
        of relationship: Relationship, _ entityName: String? = nil
    ) throws(LarderError) -> ObjectDecoder {
        let name = entityName ?? relationship.destination
        var decoder = try ObjectDecoder(
            name, in: schema, of: store, assumesUTC: assumesUTC)
        guard schema.isKind(name, of: relationship.destination) else {
            throw LarderError(
                .wrongType,
                "\(entity.name).\(relationship.name) takes objects of \(relationship.destination), "
                    + "not of \(name)")
        }
        decoder.namesRelatedObjects = true
        return decoder
    }

    /// Reads the object of a to-one relationship from assignments to its properties. If all of them
    /// are nil, there is no object.
    func readRelated(
        _ name: String, _ assignments: [Assignment], into content: inout ObjectContent
    ) throws(LarderError) {
        let relationship = try relationship(name)
        let decoder = try decoder(of: relationship)
        guard !relationship.isToMany else {
            let example = #"\#(name):='[{"\#(assignments[0].name)": …}]'"#
            throw LarderError(
                .wrongType, "\(entity.name).\(name) is a to-many relationship and takes a list",
                hint: "write \(example)")
        }
        let related = try decoder.content(assignments)
        content.values[name] =
            related.isEmpty
            ? .null : .object(content.append(object(relationship, decoder.entity, related)))
    }

    /// Reads the objects of a to-many relationship, each of which has a single assignment.
    func readRelated(
        _ name: String, list: [Assignment], into content: inout ObjectContent
    ) throws(LarderError) {
        let relationship = try relationship(name)
        let decoder = try decoder(of: relationship)
        var identifiers: [PersistentIdentifier] = []
        for assignment in list {
            let related = try decoder.content([assignment])
            identifiers.append(content.append(object(relationship, decoder.entity, related)))
        }
        content.values[name] = .objects(identifiers)
    }

    /// Reads related objects from JSON. A to-one object whose values are all null is nil.
    ///
    /// - Returns: false if the JSON names none by its values: it is null, URIs, or an edit.
    func readRelated(
        _ json: JSONValue, _ relationship: Relationship, into content: inout ObjectContent
    ) throws(LarderError) -> Bool {
        switch json {
        case .object(let members) where !relationship.isToMany:
            let object = try object(relationship, members)
            content.values[relationship.name] =
                object.content.isEmpty ? .null : .object(content.append(object))
        case .array(let elements)
        where relationship.isToMany && elements.contains(where: \.isRelated):
            var identifiers: [PersistentIdentifier] = []
            for element in elements {
                switch element {
                case .object(let members):
                    identifiers.append(content.append(try object(relationship, members)))
                case .string(let text):
                    let name = relationship.name
                    identifiers.append(
                        try naming(name) { () throws(LarderError) in
                            try identifier(text, relationship)
                        })
                default:
                    throw LarderError(
                        .wrongType,
                        "\(entity.name).\(relationship.name): each element must be the URI of an "
                            + "object, or a JSON object with its unique values")
                }
            }
            content.values[relationship.name] = .objects(identifiers)
        case .object where relationship.isToMany && json.isRelated:
            throw LarderError(
                .wrongType,
                "\(entity.name).\(relationship.name) is a to-many relationship and takes an array",
                hint: "write the object in brackets: [{…}]")
        default: return false
        }
        return true
    }

    private func object(
        _ relationship: Relationship, _ members: [String: JSONValue]
    ) throws(LarderError) -> RelatedObject {
        guard members.keys.contains(where: { !$0.hasPrefix("@") }) else {
            throw LarderError(
                .wrongType,
                "\(entity.name).\(relationship.name): the JSON object has no property",
                hint: "write the unique values of the object, or its URI instead of the JSON object"
            )
        }
        var name: String?
        if case .string(let text)? = members["@entity"] { name = text }
        let decoder = try decoder(of: relationship, name)
        return object(relationship, decoder.entity, try decoder.content(members))
    }

    private func object(
        _ relationship: Relationship, _ entity: Entity, _ content: ObjectContent
    ) -> RelatedObject {
        RelatedObject(
            path: "\(self.entity.name).\(relationship.name)", entity: entity, content: content)
    }
}

extension JSONValue {
    /// Whether it is a JSON object with the values of a related object, and not an edit.
    fileprivate var isRelated: Bool {
        guard case .object(let members) = self else { return false }
        return !members.keys.contains { RelationshipEditReader.verbs.contains($0) }
    }
}
