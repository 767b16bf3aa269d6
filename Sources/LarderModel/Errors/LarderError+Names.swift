// Errors for names that the schema does not contain, with the most similar name as a hint.

extension LarderError {
    /// The error for a name that is not an entity of the schema.
    public static func unknownEntity(_ name: String, in schema: Schema) -> LarderError {
        LarderError(
            .unknownEntity, "there is no entity \"\(name.prefix(32))\"",
            hint: NameSuggestion.hint(for: name, among: schema.entities.lazy.map(\.name)))
    }

    /// The error for a name that is not a property of the entity.
    public static func unknownProperty(_ name: String, of entity: Entity) -> LarderError {
        let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        return LarderError(
            .unknownProperty, "\(entity.name) has no property \"\(name.prefix(32))\"",
            hint: NameSuggestion.hint(for: name, among: known))
    }
}
