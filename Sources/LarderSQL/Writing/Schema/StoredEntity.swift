import LarderModel

/// An entity with the statements that change its rows.
package final class StoredEntity: Sendable {
    package enum Property: Hashable, Sendable {
        /// An index in ``attributes``.
        case attribute(Int)
        /// An index in ``WritingSchema/relationships``.
        case relationship(Int)
    }

    package let number: Int
    /// The root of its inheritance tree, whose table has its objects and gives their keys.
    package let rootNumber: Int
    /// The entity itself and its ancestors.
    let ancestorNumbers: Set<Int>
    let hasSubentities: Bool
    /// Whether the table has objects of several entities. Each row then has its entity's name.
    package let sharesTable: Bool
    package let entity: Entity
    /// A copy of the entity's name, since the entity is large to copy.
    package let name: String
    let isAbstract: Bool
    /// A copy of ``Entity/recordsValues``.
    let recordsValues: Bool
    package let attributes: [StoredAttribute]
    package let properties: [String: Property]
    package let relationshipNumbers: [Int]
    /// Relationships without inverse, of any entity, that lead here.
    let inboundNumbers: [Int]
    /// The to-ones whose key the insert of a row writes: stored here, and not one-to-one.
    package let insertedToOnes: [Int]
    package let constraints: [StoredConstraint]
    /// Whether a constraint has a UNIQUE index, so that values may be deferred.
    let hasUniqueAttribute: Bool
    /// Its parameters: the key, the attributes, then the key and perhaps the position of each
    /// to-one.
    package let insertion: InsertStatements
    let version: SQL
    let incrementVersion: SQL
    let delete: SQL
    /// Reads the name of an object's own entity from a table of several entities.
    let entityName: SQL
    /// For each attribute that the history keeps, the statement that copies it there.
    let preservedAttributes: [(attribute: Int, text: SQL)]
    let table: SQL
    let rows: RowStatementCache

    init(
        _ layout: EntityLayout, entity: Entity, attributes: [StoredAttribute],
        relationships: [StoredRelationship]
    ) {
        let own = relationships.filter { layout.ancestorNumbers.contains($0.entityNumber) }
        let toOnes = own.compactMap { relationship -> (Int, KeyColumn)? in
            guard case .own(let column) = relationship.storage, !relationship.isOneToOne else {
                return nil
            }
            return (relationship.number, column)
        }
        number = layout.number
        rootNumber = layout.rootNumber
        ancestorNumbers = layout.ancestorNumbers
        hasSubentities = layout.hasSubentities
        sharesTable = layout.sharesTable
        self.entity = entity
        name = entity.name
        isAbstract = entity.isAbstract
        recordsValues = entity.recordsValues
        self.attributes = attributes
        relationshipNumbers = own.map(\.number)
        inboundNumbers = relationships.filter {
            layout.ancestorNumbers.contains($0.destinationNumber) && $0.inverseNumber == nil
        }.map(\.number)
        insertedToOnes = toOnes.map(\.0)
        let properties = Self.properties(attributes, own)
        self.properties = properties
        constraints = Self.constraints(of: entity, layout, properties, attributes, own)
        hasUniqueAttribute = constraints.contains { $0.uniqueAttribute != nil }

        let table: SQL = "\(name: layout.table)"
        self.table = table
        let entityColumn: SQL = "\(name: Layout.entityColumn)"
        let key: SQL = "\(name: Layout.keyColumn)"
        let version: SQL = "\(name: Layout.versionColumn)"
        var insertedColumns = [Layout.keyColumn] + attributes.map(\.column)
        for (_, column) in toOnes {
            insertedColumns += [column.column, column.positionColumn].compactMap(\.self)
        }
        insertion = InsertStatements(
            table: table, columns: insertedColumns,
            entityName: layout.sharesTable ? entity.name : nil, layout.dialect)
        let isOfEntity: SQL =
            layout.sharesTable ? " AND \(entityColumn) = \(literal: entity.name)" : ""
        let condition: SQL = "WHERE \(key) = ?\(isOfEntity)"
        self.version = "SELECT \(version) FROM \(table) \(condition)"
        rows = RowStatementCache(
            table: table, columns: attributes.map(\.column), condition: condition)
        entityName = "SELECT \(entityColumn) FROM \(table) WHERE \(key) = ?"
        incrementVersion = "UPDATE \(table) SET \(version) = \(version) + 1 WHERE \(key) = ?"
        delete = "DELETE FROM \(table) WHERE \(key) = ?"
        preservedAttributes = attributes.enumerated()
            .filter(\.element.attribute.preservesValueOnDeletion)
            .map { number, attribute in
                (
                    number,
                    Layout.preserve(
                        attribute.column, in: layout.table, of: entity.name,
                        as: attribute.attribute, layout.dialect)
                )
            }
    }

    private static func properties(
        _ attributes: [StoredAttribute], _ relationships: [StoredRelationship]
    ) -> [String: Property] {
        let own = attributes.enumerated().map { ($1.attribute.name, Property.attribute($0)) }
        let links = relationships.map { ($0.relationship.name, Property.relationship($0.number)) }
        return Dictionary(own + links, uniquingKeysWith: { first, _ in first })
    }

    private static func constraints(
        of entity: Entity, _ layout: EntityLayout, _ properties: [String: Property],
        _ attributes: [StoredAttribute], _ relationships: [StoredRelationship]
    ) -> [StoredConstraint] {
        let columns = Dictionary(
            attributes.map { ($0.attribute.name, $0.column) }
                + relationships.compactMap { relationship in
                    guard case .own(let column) = relationship.storage else { return nil }
                    return (relationship.relationship.name, column.column)
                }, uniquingKeysWith: { first, _ in first })
        return zip(entity.uniquenessConstraints, layout.constraints).map { names, declarer in
            StoredConstraint(
                names, declarer, table: layout.table,
                properties: names.compactMap { properties[$0] },
                columns: names.compactMap { columns[$0] }, layout.dialect)
        }
    }

    /// The indices of the constraints over at least one of these attributes.
    func constraints(over attributes: [Int]) -> [Int] {
        constraints.indices.filter { number in
            constraints[number].properties.contains { property in
                if case .attribute(let number) = property {
                    attributes.contains(number)
                } else {
                    false
                }
            }
        }
    }

    func constraints(overRelationship number: Int) -> [Int] {
        constraints.indices.filter {
            constraints[$0].properties.contains(.relationship(number))
        }
    }
}
