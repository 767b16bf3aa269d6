import LarderModel

extension Schema {
    /// A schema from code.
    ///
    /// - Throws: `SchemaError` with all problems: unknown destinations, inverses that do not
    ///   match, names that collide (SQLite ignores case), empty or duplicate constraints, unknown
    ///   or cyclic parents. Derivations are checked only if everything else is valid.
    public init(version: String = "1.0.0", entities: [Entity]) throws(SchemaError) {
        try self.init(
            version: version, entities: entities, derivations: DerivationCheck.derivations)
    }
}
