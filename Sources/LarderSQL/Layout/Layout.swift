import LarderModel

/// The names of the tables and columns in which a schema's objects are stored.
///
/// A pure function of the schema, and the only code that defines these names. `docs/storage.md`
/// describes the tables; `Layout+Statements.swift` creates them.
package struct Layout: Sendable {
    package static let keyColumn = "_id"
    package static let versionColumn = "_version"
    /// The name of the object's own entity, in tables with objects of several entities.
    package static let entityColumn = "_entity"
    package static let sourceColumn = "source"
    package static let targetColumn = "target"

    package let schema: Schema
    /// By the name that an entity had in an earlier schema, its name now. Identifiers may have
    /// either; results have the name now.
    package let formerNames: [String: String]
    /// The indexes of parts of texts in a store that may lack some; nil for all of the schema.
    package let presentSearchTables: Set<SearchTable>?
    /// That of its statements. The names are the same in all.
    package let dialect: SQLDialect
    private let links: [String: [String: Link]]

    package init(
        _ schema: Schema, formerNames: [String: String] = [:],
        presentSearchTables: Set<SearchTable>? = nil, dialect: SQLDialect = .sqlite
    ) {
        self.schema = schema
        self.dialect = dialect
        self.formerNames = formerNames
        self.presentSearchTables = presentSearchTables
        var links: [String: [String: Link]] = [:]
        for entity in schema.entities {
            links[entity.name] = Dictionary(
                entity.relationships.map {
                    ($0.name, Layout.link(for: $0, of: entity, in: schema))
                },
                uniquingKeysWith: { first, _ in first })
        }
        self.links = links
    }

    /// The identifiers with today's names of their entities.
    package func current(_ identifiers: [PersistentIdentifier]) -> [PersistentIdentifier] {
        guard !formerNames.isEmpty else { return identifiers }
        return identifiers.map { identifier in
            guard let name = formerNames[identifier.entityName], let store = identifier.store,
                let key = identifier.permanentKey
            else { return identifier }
            return PersistentIdentifier(store: store, entityName: name, key: key)
        }
    }

    /// The table of the root entity, which all its subentities share.
    package func table(for entity: Entity) -> String { schema.root(of: entity).name }

    package func column(for attribute: Attribute, of entity: Entity) -> String {
        Layout.column(for: attribute.name, of: entity, in: schema)
    }

    /// The entities whose objects are in the entity's table, with the root entity first; nil if
    /// there is only one, and no column for its name.
    package func kinds(inTableOf entity: Entity) -> [Entity]? {
        let root = schema.root(of: entity)
        let below = schema.subentities(of: root.name)
        return below.isEmpty ? nil : [root] + below
    }

    /// The names of the entities whose objects belong to an entity: itself and its subentities,
    /// without abstract ones.
    package func concreteNames(of entity: Entity, includingSubentities: Bool = true) -> [String] {
        let below = includingSubentities ? schema.subentities(of: entity.name) : []
        return ([entity] + below).filter { !$0.isAbstract }.map(\.name)
    }

    /// The location of the relationship's keys, from its own side.
    package func link(for relationship: Relationship, of entity: Entity) -> Link {
        guard let link = links[entity.name]?[relationship.name] else {
            preconditionFailure("\(entity.name).\(relationship.name) is not in this schema")
        }
        return link
    }

    /// The column of a property in the entity's own table; nil if there is none.
    package func column(for property: Property, of entity: Entity) -> String? {
        switch property {
        case .attribute(let attribute): return column(for: attribute, of: entity)
        case .relationship(let relationship):
            if case .column(_, let column) = link(for: relationship, of: entity) { return column }
            return nil
        }
    }
}

/// The location of the keys of a relationship, from one of its sides.
package enum Link: Hashable, Sendable {
    /// This side's own row has the key of its destination.
    case column(table: String, column: String)
    /// The destinations' rows have the key of this side's object and, if this side is ordered,
    /// their position in its list. A to-one of this kind has at most one destination.
    case inverseColumn(table: String, column: String, positionColumn: String?)
    /// Rows of pairs: this side's key in `own`, the destination's key in `other` and, if this side
    /// is ordered, the destination's position in this side's list.
    case join(table: String, own: String, other: String, positionColumn: String?)
}

extension Layout {
    /// The column of a property. A property of the root entity has its own name; a property of a
    /// subentity is prefixed with the entity's name, because two entities may have equal names.
    private static func column(
        for property: String, of entity: Entity, in schema: Schema
    ) -> String {
        let declarer = schema.declaringEntity(of: property, in: entity)
        return declarer.parent == nil ? property : "\(declarer.name).\(property)"
    }

    private static func link(
        for relationship: Relationship, of heir: Entity, in schema: Schema
    ) -> Link {
        let entity = schema.declaringEntity(of: relationship.name, in: heir)
        let own = Link.column(
            table: schema.root(of: entity).name,
            column: column(for: relationship.name, of: entity, in: schema))
        guard let inverse = inverse(of: relationship, in: schema),
            let destination = schema.entity(named: relationship.destination)
        else {
            return relationship.isToMany
                ? joinLink(for: relationship, of: entity, inverse: nil) : own
        }
        let table = schema.root(of: destination).name
        let column = column(for: inverse.name, of: destination, in: schema)
        switch (relationship.isToMany, inverse.isToMany) {
        case (true, true): return joinLink(for: relationship, of: entity, inverse: inverse)
        case (false, true): return own
        case (true, false):
            return .inverseColumn(
                table: table, column: column,
                positionColumn: relationship.isOrdered ? positionColumn(for: column) : nil)
        case (false, false):
            return isFirst(relationship, of: entity, inverse: inverse)
                ? own : .inverseColumn(table: table, column: column, positionColumn: nil)
        }
    }

    /// The inverse relationship; nil if there is none.
    package static func inverse(of relationship: Relationship, in schema: Schema) -> Relationship? {
        guard let name = relationship.inverse,
            case .relationship(let inverse) = schema.entity(named: relationship.destination)?
                .property(named: name)
        else { return nil }
        return inverse
    }

    /// Whether (entity, name) of this side sorts first, so that it names the join table or stores
    /// the key. A relationship that is its own inverse is first.
    private static func isFirst(
        _ relationship: Relationship, of entity: Entity, inverse: Relationship
    ) -> Bool {
        (entity.name, relationship.name) <= (relationship.destination, inverse.name)
    }

    private static func joinLink(
        for relationship: Relationship, of entity: Entity, inverse: Relationship?
    ) -> Link {
        let isFirst = inverse.map { self.isFirst(relationship, of: entity, inverse: $0) } ?? true
        let owner = isFirst ? entity.name : relationship.destination
        let name = isFirst ? relationship.name : inverse?.name ?? relationship.name
        let own = isFirst ? sourceColumn : targetColumn
        let other = isFirst ? targetColumn : sourceColumn
        return .join(
            table: "_join.\(owner).\(name)", own: own, other: other,
            positionColumn: relationship.isOrdered ? "\(other)_position" : nil)
    }

    package static func positionColumn(for column: String) -> String { "_position.\(column)" }
}
