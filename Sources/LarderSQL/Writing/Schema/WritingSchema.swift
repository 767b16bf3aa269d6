import LarderModel

/// The schema for the writer: entities and relationships by number, with their statements.
package final class WritingSchema: Sendable {
    package let entities: [StoredEntity]
    package let relationships: [StoredRelationship]
    let derivations: DerivationGraph
    private let numbers: [String: Int]
    /// By the names that entities had in earlier schemas.
    private let formerNumbers: [String: Int]
    /// Whether a table has objects of several entities.
    let hasInheritance: Bool
    /// Relationships whose delete rule is `noAction`.
    let noActionNumbers: [Int]
    /// That of the statements.
    let dialect: SQLDialect
    /// Whether the history has values of objects, besides their identifiers.
    package let recordsValues: Bool

    /// - Throws: `wrongType` if a default or a bound is not of its attribute's type, or the error
    ///   of a derivation that cannot be planned.
    package init(_ layout: Layout, _ converter: ValueConverter) throws(LarderError) {
        let schema = layout.schema
        let numbers = Dictionary(
            uniqueKeysWithValues: schema.entities.enumerated().map { ($1.name, $0) })
        let relationships = WritingSchema.relationships(layout, numbers)
        var entities: [StoredEntity] = []
        for (number, entity) in schema.entities.enumerated() {
            var attributes: [StoredAttribute] = []
            let required =
                layout.dialect == .postgres
                ? Set(layout.requiredAttributes(of: schema.root(of: entity)).map(\.name)) : []
            for attribute in entity.attributes {
                attributes.append(
                    try StoredAttribute(
                        attribute, of: entity, column: layout.column(for: attribute, of: entity),
                        isNeverNull: required.contains(attribute.name)))
            }
            let entityLayout = EntityLayout(number: number, entity, layout, numbers)
            entities.append(
                StoredEntity(
                    entityLayout, entity: entity, attributes: attributes,
                    relationships: relationships))
        }
        derivations = try DerivationGraph(layout, converter, entities, relationships) {
            numbers[$0]
        }
        self.entities = entities
        self.relationships = relationships
        self.numbers = numbers
        dialect = layout.dialect
        recordsValues = entities.contains {
            $0.recordsValues || !$0.preservedAttributes.isEmpty
        }
        formerNumbers = layout.formerNames.compactMapValues { numbers[$0] }
        hasInheritance = entities.contains { $0.sharesTable }
        noActionNumbers = relationships.filter { $0.relationship.deleteRule == .noAction }
            .map(\.number)
    }

    /// Whether an entity is another one or inherits from it.
    func isKind(_ entity: Int, of ancestor: Int) -> Bool {
        entities[entity].ancestorNumbers.contains(ancestor)
    }

    package func number(of entityName: String) -> Int? { numbers[entityName] }

    func number(ofFormer entityName: String) -> Int? { formerNumbers[entityName] }

    private struct Side: Hashable {
        let entity: String
        let name: String
    }

    private static func relationships(
        _ layout: Layout, _ numbers: [String: Int]
    ) -> [StoredRelationship] {
        let sides = layout.schema.entities.flatMap { entity in
            entity.declared.relationships.map { (entity, $0) }
        }
        let sideNumbers = Dictionary(
            uniqueKeysWithValues: sides.enumerated().map {
                (Side(entity: $1.0.name, name: $1.1.name), $0)
            })
        return sides.enumerated().map { number, side in
            let (entity, relationship) = side
            let inverse = Layout.inverse(of: relationship, in: layout.schema)
            let inverseNumber = inverse.flatMap {
                sideNumbers[Side(entity: relationship.destination, name: $0.name)]
            }
            guard let entityNumber = numbers[entity.name],
                let destinationNumber = numbers[relationship.destination]
            else { preconditionFailure("a valid schema declares the entities that it names") }
            return StoredRelationship(
                number: number, entityNumber: entityNumber, destinationNumber: destinationNumber,
                inverseNumber: inverseNumber, entityName: entity.name,
                relationship: relationship,
                isOneToOne: layout.isOneToOne(relationship),
                storage: storage(
                    of: relationship, of: entity, layout, inverse, inverseNumber: inverseNumber,
                    isOwnInverse: inverseNumber == number))
        }
    }

    private static func storage(
        of relationship: Relationship, of entity: Entity, _ layout: Layout,
        _ inverse: Relationship?, inverseNumber: Int?, isOwnInverse: Bool
    ) -> StoredRelationship.Storage {
        switch layout.link(for: relationship, of: entity) {
        case .column(let table, let column):
            return .own(
                KeyColumn(
                    table: table, column: column,
                    positionColumn: layout.positionColumn(of: relationship, column)))
        case .inverseColumn:
            guard let inverseNumber else {
                preconditionFailure("a link that the inverse stores has an inverse")
            }
            return .inverse(holder: inverseNumber)
        case .join(let table, let own, let other, let position):
            // A relationship that is its own inverse has one row for each direction.
            let isInverseOrdered = inverse?.isOrdered == true && !isOwnInverse
            return .join(
                JoinTable(
                    table: table, own: own, other: other, positionColumn: position,
                    inversePositionColumn: isInverseOrdered ? "\(own)_position" : nil,
                    isOwnInverse: isOwnInverse))
        }
    }
}
