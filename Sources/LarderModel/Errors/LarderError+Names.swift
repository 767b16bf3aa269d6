// Errors for names that the schema does not contain, with the most similar name as a hint.

extension LarderError {
    /// The error for a name that is not an entity of the schema.
    public static func unknownEntity(_ name: String, in schema: Schema) -> LarderError {
        LarderError(
            .unknownEntity, "there is no entity \"\(printable(name))\"",
            hint: NameSuggestion.hint(for: name, among: schema.entities.lazy.map(\.name)))
    }

    /// The error for a name that is not a property of the entity.
    public static func unknownProperty(_ name: String, of entity: Entity) -> LarderError {
        let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        return LarderError(
            .unknownProperty, "\(entity.name) has no property \"\(printable(name))\"",
            hint: NameSuggestion.hint(for: name, among: known))
    }

    /// A name from outside for an error message: of limited length.
    package static func printable(_ name: String) -> String {
        name.utf8.count <= Limits.nameBytesMax ? name : "\(name.prefix(32))…"
    }
}

extension Schema {
    /// - Throws: `unknownEntity`.
    package func existingEntity(named name: String) throws(LarderError) -> Entity {
        guard let entity = entity(named: name) else {
            throw LarderError.unknownEntity(name, in: self)
        }
        return entity
    }
}

extension Entity {
    /// - Throws: `unknownProperty`.
    package func existingProperty(named name: String) throws(LarderError) -> Property {
        guard let property = property(named: name) else {
            throw LarderError.unknownProperty(name, of: self)
        }
        return property
    }
}
