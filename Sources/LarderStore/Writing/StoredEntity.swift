import LarderModel

/// An entity with its checks and the statements that change its rows.
struct StoredEntity: Sendable {
    enum Place: Hashable, Sendable {
        /// In ``attributes``.
        case attribute(Int)
        /// In ``WritingSchema/relationships``.
        case relationship(Int)
    }

    let number: Int
    let entity: Entity
    let attributes: [StoredAttribute]
    let places: [String: Place]
    let relationshipNumbers: [Int]
    /// Relationships without inverse, of any entity, that lead here.
    let inboundNumbers: [Int]
    /// Those whose key an insert writes with the row: to-one, stored here, not one-to-one.
    let insertedToOnes: [Int]
    let constraints: [StoredConstraint]
    /// Values of the key, the attributes, and a key and perhaps a position for each to-one.
    let insert: String
    let version: String
    let bump: String
    let delete: String
    /// For each attribute whose value outlives the object, the statement that copies it.
    let preserving: [(attribute: Int, text: String)]

    init(
        number: Int, entity: Entity, attributes: [StoredAttribute],
        relationships: [StoredRelationship]
    ) {
        let own = relationships.filter { $0.entityNumber == number }
        let toOnes = own.compactMap { relationship -> (Int, KeyColumn)? in
            guard case .own(let column) = relationship.storage, !relationship.isOneToOne else {
                return nil
            }
            return (relationship.number, column)
        }
        self.number = number
        self.entity = entity
        self.attributes = attributes
        let attributePlaces = attributes.enumerated().map {
            ($1.attribute.name, Place.attribute($0))
        }
        let relationshipPlaces = own.map { ($0.relationship.name, Place.relationship($0.number)) }
        places = Dictionary(
            attributePlaces + relationshipPlaces, uniquingKeysWith: { first, _ in first })
        relationshipNumbers = own.map(\.number)
        inboundNumbers = relationships.filter {
            $0.destinationNumber == number && $0.inverseNumber == nil
        }.map(\.number)
        insertedToOnes = toOnes.map(\.0)
        let columns = Dictionary(
            attributes.map { ($0.attribute.name, $0.column) }
                + own.compactMap { relationship in
                    guard case .own(let column) = relationship.storage else { return nil }
                    return (relationship.relationship.name, column.column)
                }, uniquingKeysWith: { first, _ in first })
        let knownPlaces = places
        constraints = entity.uniquenessConstraints.map { names in
            StoredConstraint(
                names, of: entity, places: names.compactMap { knownPlaces[$0] },
                columns: names.compactMap { columns[$0] })
        }

        let table = SQL.quoted(entity.name)
        let (key, version) = (SQL.quoted(Layout.keyColumn), SQL.quoted(Layout.versionColumn))
        var insertedColumns = [key] + attributes.map { SQL.quoted($0.column) }
        for (_, column) in toOnes {
            insertedColumns += [column.column, column.positionColumn].compactMap(\.self)
                .map(SQL.quoted)
        }
        let values = Array(repeating: "?", count: insertedColumns.count).joined(separator: ", ")
        insert =
            "INSERT INTO \(table) (\(insertedColumns.joined(separator: ", ")), \(version)) "
            + "VALUES (\(values), 1)"
        self.version = "SELECT \(version) FROM \(table) WHERE \(key) = ?"
        bump = "UPDATE \(table) SET \(version) = \(version) + 1 WHERE \(key) = ?"
        delete = "DELETE FROM \(table) WHERE \(key) = ?"
        preserving = attributes.enumerated().filter(\.element.attribute.preservesValueOnDeletion)
            .map { number, stored in
                (number, Layout.preserve(stored.column, of: entity.name, as: stored.attribute.name))
            }
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

    /// Reads attributes of an object, in this order.
    func read(_ places: [Int]) -> String {
        let columns = places.map { SQL.quoted(attributes[$0].column) }
        return "SELECT \(columns.joined(separator: ", ")) FROM \(SQL.quoted(entity.name)) "
            + "WHERE \(SQL.quoted(Layout.keyColumn)) = ?"
    }

    /// Sets these attributes, in this order, and then finds the row by its key.
    func update(_ places: [Int], bumpingVersion: Bool) -> String {
        var assignments = places.map { "\(SQL.quoted(attributes[$0].column)) = ?" }
        if bumpingVersion {
            let version = SQL.quoted(Layout.versionColumn)
            assignments.append("\(version) = \(version) + 1")
        }
        return "UPDATE \(SQL.quoted(entity.name)) SET \(assignments.joined(separator: ", ")) "
            + "WHERE \(SQL.quoted(Layout.keyColumn)) = ?"
    }
}

/// A uniqueness constraint with the statements that look for objects with equal values. Nil equals
/// nothing here: a constraint binds those objects that have all its values.
struct StoredConstraint: Sendable {
    let names: [String]
    let places: [StoredEntity.Place]
    /// The attribute whose values stand aside while another object has them; nil where the index
    /// lets equal values pass until the set is done.
    let aside: Int?
    /// Another object with the values of an object.
    let twin: String
    /// The object with given values.
    let match: String

    init(_ names: [String], of entity: Entity, places: [StoredEntity.Place], columns: [String]) {
        if Layout.isUniqueIndex(names, of: entity), case .attribute(let number)? = places.first {
            aside = number
        } else {
            aside = nil
        }
        let (table, key) = (SQL.quoted(entity.name), SQL.quoted(Layout.keyColumn))
        let equal = columns.map(SQL.quoted).map { "other.\($0) = own.\($0)" }
        let given = columns.map(SQL.quoted).map { "\($0) = ?" }
        self.names = names
        self.places = places
        twin =
            "SELECT other.\(key) FROM \(table) AS own CROSS JOIN \(table) AS other "
            + "WHERE own.\(key) = ?1 AND other.\(key) <> ?1 "
            + "AND \(equal.joined(separator: " AND ")) LIMIT 1"
        match =
            "SELECT \(key) FROM \(table) WHERE \(given.joined(separator: " AND ")) LIMIT 1"
    }
}

/// An attribute with its column and what its values are checked against, in stored form.
struct StoredAttribute: Sendable {
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
