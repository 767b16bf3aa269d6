import LarderModel

/// An entity with its checks and the statements that change its rows.
final class StoredEntity: Sendable {
    enum Place: Hashable, Sendable {
        /// In ``attributes``.
        case attribute(Int)
        /// In ``WritingSchema/relationships``.
        case relationship(Int)
    }

    let number: Int
    /// The entity whose table it is in, which gives the keys: its own where it has no parent.
    let rootNumber: Int
    /// Itself and those above.
    let ancestorNumbers: Set<Int>
    let hasSubentities: Bool
    /// Whether the table holds objects of several entities, each with the name of its own.
    let sharesTable: Bool
    let entity: Entity
    /// The entity's, which is large to copy.
    let name: String
    let isAbstract: Bool
    let attributes: [StoredAttribute]
    let places: [String: Place]
    let relationshipNumbers: [Int]
    /// Relationships without inverse, of any entity, that lead here.
    let inboundNumbers: [Int]
    /// Those whose key an insert writes with the row: to-one, stored here, not one-to-one.
    let insertedToOnes: [Int]
    let constraints: [StoredConstraint]
    /// Whether a constraint is of one attribute, whose values may have to stand aside.
    let hasUniqueAttribute: Bool
    /// Its values: the key, the attributes, and a key and perhaps a position for each to-one.
    let insertion: InsertTexts
    let version: SQLText
    let bump: SQLText
    let delete: SQLText
    /// The name of the object's own entity, where the table keeps it.
    let kind: SQLText
    /// For each attribute whose value outlives the object, the statement that copies it.
    let preserving: [(attribute: Int, text: SQLText)]
    /// In quotation marks.
    let table: String
    let rows: RowTextCache

    init(
        _ place: StoredPlace, entity: Entity, attributes: [StoredAttribute],
        relationships: [StoredRelationship]
    ) {
        let own = relationships.filter { place.ancestorNumbers.contains($0.entityNumber) }
        let toOnes = own.compactMap { relationship -> (Int, KeyColumn)? in
            guard case .own(let column) = relationship.storage, !relationship.isOneToOne else {
                return nil
            }
            return (relationship.number, column)
        }
        number = place.number
        rootNumber = place.rootNumber
        ancestorNumbers = place.ancestorNumbers
        hasSubentities = place.hasSubentities
        sharesTable = place.sharesTable
        self.entity = entity
        name = entity.name
        isAbstract = entity.isAbstract
        self.attributes = attributes
        let attributePlaces = attributes.enumerated().map {
            ($1.attribute.name, Place.attribute($0))
        }
        let relationshipPlaces = own.map { ($0.relationship.name, Place.relationship($0.number)) }
        places = Dictionary(
            attributePlaces + relationshipPlaces, uniquingKeysWith: { first, _ in first })
        relationshipNumbers = own.map(\.number)
        inboundNumbers = relationships.filter {
            place.ancestorNumbers.contains($0.destinationNumber) && $0.inverseNumber == nil
        }.map(\.number)
        insertedToOnes = toOnes.map(\.0)
        let columns = Dictionary(
            attributes.map { ($0.attribute.name, $0.column) }
                + own.compactMap { relationship in
                    guard case .own(let column) = relationship.storage else { return nil }
                    return (relationship.relationship.name, column.column)
                }, uniquingKeysWith: { first, _ in first })
        let knownPlaces = places
        constraints = zip(entity.uniquenessConstraints, place.constraints).map { names, declarer in
            StoredConstraint(
                names, declarer, table: place.table, places: names.compactMap { knownPlaces[$0] },
                columns: names.compactMap { columns[$0] })
        }
        hasUniqueAttribute = constraints.contains { $0.aside != nil }

        let table = SQL.quoted(place.table)
        self.table = table
        let kindColumn = SQL.quoted(Layout.entityColumn)
        let (key, version) = (SQL.quoted(Layout.keyColumn), SQL.quoted(Layout.versionColumn))
        var insertedColumns = [key] + attributes.map { SQL.quoted($0.column) }
        for (_, column) in toOnes {
            insertedColumns += [column.column, column.positionColumn].compactMap(\.self)
                .map(SQL.quoted)
        }
        insertion = InsertTexts(
            table: table, columns: insertedColumns,
            kind: place.sharesTable ? entity.name : nil)
        let isOfKind = place.sharesTable ? " AND \(kindColumn) = '\(entity.name)'" : ""
        let condition = "WHERE \(key) = ?\(isOfKind)"
        self.version = SQLText("SELECT \(version) FROM \(table) \(condition)")
        rows = RowTextCache(
            table: table, columns: attributes.map(\.column), condition: condition)
        kind = SQLText("SELECT \(kindColumn) FROM \(table) WHERE \(key) = ?")
        bump = SQLText("UPDATE \(table) SET \(version) = \(version) + 1 WHERE \(key) = ?")
        delete = SQLText("DELETE FROM \(table) WHERE \(key) = ?")
        preserving = attributes.enumerated().filter(\.element.attribute.preservesValueOnDeletion)
            .map { ($0, SQLText(Self.preserve($1, of: entity, in: place.table))) }
    }

    private static func preserve(
        _ stored: StoredAttribute, of entity: Entity, in table: String
    ) -> String {
        Layout.preserve(stored.column, in: table, of: entity.name, as: stored.attribute.name)
    }

    /// The places of the constraints over at least one of these attributes.
    func constraints(over attributes: [Int]) -> [Int] {
        constraints.indices.filter { number in
            constraints[number].places.contains { place in
                if case .attribute(let number) = place {
                    attributes.contains(number)
                } else {
                    false
                }
            }
        }
    }

    func constraints(overRelationship number: Int) -> [Int] {
        constraints.indices.filter { constraints[$0].places.contains(.relationship(number)) }
    }
}

/// Where an entity stands in its tree, and its objects in the store.
struct StoredPlace {
    /// Which entity declares a constraint, and what binds it to that one's objects.
    struct Declarer {
        let number: Int
        /// Whether the constraint has an index that is SQLite's UNIQUE.
        let isUniqueIndex: Bool
        /// The names of the entities whose objects it binds; nil for all of the table.
        let kinds: [String]?
    }

    let number: Int
    let rootNumber: Int
    let ancestorNumbers: Set<Int>
    let hasSubentities: Bool
    let sharesTable: Bool
    let table: String
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
        constraints = lineage.flatMap { declarer in
            let kinds =
                declarer.parent == nil
                ? nil : [declarer.name] + schema.subentities(of: declarer.name).map(\.name)
            return declarer.declared.uniquenessConstraints.map { names in
                Declarer(
                    number: numbers[declarer.name] ?? number,
                    isUniqueIndex: layout.isUniqueIndex(names, of: declarer), kinds: kinds)
            }
        }
    }
}

/// A uniqueness constraint with the statements that look for objects with equal values. Nil equals
/// nothing here: a constraint binds those objects that have all its values.
final class StoredConstraint: Sendable {
    let names: [String]
    /// The entity that declares it.
    let declarerNumber: Int
    let places: [StoredEntity.Place]
    /// The attribute whose values stand aside while another object has them; nil where the index
    /// lets equal values pass until the set is done.
    let aside: Int?
    /// Another object with the values of an object.
    let twin: SQLText
    /// The object with given values.
    let match: SQLText

    init(
        _ names: [String], _ declarer: StoredPlace.Declarer, table: String,
        places: [StoredEntity.Place], columns: [String]
    ) {
        if declarer.isUniqueIndex, case .attribute(let number)? = places.first {
            aside = number
        } else {
            aside = nil
        }
        declarerNumber = declarer.number
        let (table, key) = (SQL.quoted(table), SQL.quoted(Layout.keyColumn))
        let kinds = declarer.kinds.map { kinds in
            let names = kinds.map { "'\($0)'" }.joined(separator: ", ")
            return "\(SQL.quoted(Layout.entityColumn)) IN (\(names))"
        }
        let equal = columns.map(SQL.quoted).map { "other.\($0) = own.\($0)" }
        let given = columns.map(SQL.quoted).map { "\($0) = ?" }
        self.names = names
        self.places = places
        twin = SQLText(
            "SELECT other.\(key) FROM \(table) AS own CROSS JOIN \(table) AS other "
                + "WHERE own.\(key) = ?1 AND other.\(key) <> ?1 "
                + "AND \(equal.joined(separator: " AND "))"
                + "\(kinds.map { " AND +other.\($0)" } ?? "") LIMIT 1")
        match = SQLText(
            "SELECT \(key) FROM \(table) WHERE \(given.joined(separator: " AND "))"
                + "\(kinds.map { " AND +\($0)" } ?? "") LIMIT 1")
    }
}

/// An attribute with its column and what its values are checked against, in stored form.
final class StoredAttribute: Sendable {
    let attribute: Attribute
    let column: String
    let entityName: String
    /// `Article.title`.
    let qualifiedName: String
    let minimum: SQLBinding?
    let maximum: SQLBinding?
    let defaultValue: SQLBinding?

    /// - Throws: `wrongType` if a bound or the default is not of the attribute's type.
    init(_ attribute: Attribute, of entity: Entity, column: String) throws(LarderError) {
        self.attribute = attribute
        self.column = column
        let name = "\(entity.name).\(attribute.name)"
        entityName = entity.name
        qualifiedName = name
        func stored(_ value: Value?) throws(LarderError) -> SQLBinding? {
            guard let value else { return nil }
            return try SQLBinding(storing: value, as: attribute.type, named: name)
        }
        minimum = try stored(attribute.validation.minimum)
        maximum = try stored(attribute.validation.maximum)
        defaultValue = try stored(attribute.defaultValue)
    }
}
