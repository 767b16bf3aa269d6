import LarderModel

/// The position of an entity in its inheritance tree, and the table of its objects.
struct EntityLayout {
    /// The entity that declares a constraint, and the objects that it applies to.
    struct Declarer {
        let number: Int
        /// Whether the constraint has a UNIQUE index.
        let isUniqueIndex: Bool
        /// Whether values that differ only in case and accents are equal.
        let isInsensitive: Bool
        /// The names of the entities whose objects the constraint applies to; nil for all objects
        /// of the table.
        let entityNames: [String]?
    }

    let number: Int
    let rootNumber: Int
    let ancestorNumbers: Set<Int>
    let hasSubentities: Bool
    let sharesTable: Bool
    let table: String
    let dialect: SQLDialect
    /// In the order of the entity's constraints.
    let constraints: [Declarer]

    init(number: Int, _ entity: Entity, _ layout: Layout, _ numbers: [String: Int]) {
        let schema = layout.schema
        let lineage = schema.lineage(of: entity)
        self.number = number
        rootNumber = numbers[schema.root(of: entity).name] ?? number
        ancestorNumbers = Set(lineage.compactMap { numbers[$0.name] })
        hasSubentities = schema.hasSubentities(entity.name)
        sharesTable = layout.kinds(inTableOf: entity) != nil
        table = layout.table(for: entity)
        dialect = layout.dialect
        constraints = lineage.flatMap { declarer in
            let entityNames =
                declarer.parent == nil
                ? nil : [declarer.name] + schema.subentities(of: declarer.name).map(\.name)
            return declarer.declared.uniquenessConstraints.map { names in
                Declarer(
                    number: numbers[declarer.name] ?? number,
                    isUniqueIndex: layout.isUniqueIndex(names, of: declarer),
                    isInsensitive: declarer.declared.isInsensitive(names),
                    entityNames: entityNames)
            }
        }
    }
}
