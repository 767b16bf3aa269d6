import LarderModel
import LarderSQL

/// The work that turns the tables of one schema into those of another. A pure function of a mapping
/// without problems.
///
/// A table whose rows stay as they are is altered: SQLite then changes its description only. Any
/// other table is rewritten. Indexes are not planned: those that the new layout needs and the
/// file has not are created, and the others dropped.
struct MigrationPlan: Sendable {
    let mapping: SchemaMapping
    let old: Layout
    let new: Layout
    private(set) var tables: [TableMigration] = []
    /// The relationships whose links move to another place.
    private(set) var links: [LinkMigration] = []
    /// The join tables that stay, by their new names.
    private(set) var keptJoins: [String: String] = [:]
    private(set) var conversions: [ValueConversion] = []
    /// The ordered lists that were not ordered before, by their columns.
    private(set) var newLists: [NewList] = []
    /// The old entities whose objects are deleted one by one, with the links to them.
    private(set) var removedKinds: [Entity] = []

    struct NewList: Hashable {
        let table: String
        let keyColumn: String
        let positionColumn: String
    }

    /// - Throws: `wrongType` if a default is not of its attribute's type, which a valid schema
    ///   excludes.
    init(_ mapping: SchemaMapping) throws(LarderError) {
        self.mapping = mapping
        old = Layout(mapping.old)
        new = Layout(mapping.new)
        planLinks()
        for root in new.roots { try planTable(of: root) }
        removedKinds = mapping.old.entities.filter { entity in
            guard mapping.successor(of: entity) == nil, !entity.isAbstract else { return false }
            // A relationship to its parent may lead to it.
            if entity.parent != nil { return true }
            let table = old.table(for: entity)
            return tables.contains { $0.sources.contains(table) }
        }
    }

    /// The old tables that do not exist afterwards, under any name.
    var droppedTables: [String] {
        let altered = Set(tables.filter(\.isAltered).flatMap(\.sources))
        return old.roots.map(old.table).filter { !altered.contains($0) }
    }

    var droppedJoins: [String] {
        let kept = Set(keptJoins.values)
        return old.joinTables.map(\.name).filter { !kept.contains($0) }
    }

    var createdJoins: [Layout.JoinTable] {
        new.joinTables.filter { keptJoins[$0.name] == nil }
    }

    // MARK: Tables

    private mutating func planTable(of root: Entity) throws(LarderError) {
        let kinds = ([root] + mapping.new.subentities(of: root.name)).compactMap { entity in
            mapping.origin(of: entity).flatMap { origin in
                origin.isAbstract ? nil : KindMigration(entity: entity, origin: origin)
            }
        }
        var columns: [ColumnMigration] = []
        for declarer in new.kinds(inTableOf: root) ?? [root] {
            columns += try self.columns(of: declarer, kinds)
        }
        var sources: [String] = []
        for kind in kinds where !sources.contains(old.table(for: kind.origin)) {
            sources.append(old.table(for: kind.origin))
        }
        tables.append(
            TableMigration(
                root: root, name: new.table(for: root), kinds: kinds, sources: sources,
                columns: columns, old: old, new: new))
    }

    /// The columns of the properties that an entity declares, with their values in each kind.
    private mutating func columns(
        of declarer: Entity, _ kinds: [KindMigration]
    ) throws(LarderError) -> [ColumnMigration] {
        var columns: [ColumnMigration] = []
        for attribute in declarer.declared.attributes {
            let name = new.column(for: attribute, of: declarer)
            var values: [ColumnValue] = []
            for kind in kinds { values.append(try value(of: attribute, declarer, kind)) }
            columns.append(ColumnMigration(name: name, values: values))
        }
        for (relationship, column) in new.declaredToOnes(of: declarer) {
            let keys = kinds.map { key(of: relationship, declarer, $0) }
            columns.append(ColumnMigration(name: column, values: keys.map(\.key)))
            if let position = new.positionColumn(of: relationship, column) {
                columns.append(ColumnMigration(name: position, values: keys.map(\.position)))
                if keys.contains(where: { $0.position == .null && $0.key != .null }) {
                    newLists.append(
                        NewList(
                            table: new.table(for: declarer), keyColumn: column,
                            positionColumn: position))
                }
            }
        }
        return columns
    }

    private mutating func value(
        of attribute: Attribute, _ declarer: Entity, _ kind: KindMigration
    ) throws(LarderError) -> ColumnValue {
        guard mapping.new.isKind(kind.entity.name, of: declarer.name) else { return .absent }
        let name = attribute.name
        guard case .attribute(let former)? = mapping.origin(of: name, in: kind.entity) else {
            guard let value = attribute.defaultValue else { return .null }
            let place = "\(kind.entity.name).\(name)"
            return .constant(try SQLValue(storing: value, as: attribute.type, named: place))
        }
        let column = old.column(for: former, of: kind.origin)
        if attribute.isDerived, !former.isDerived || former.type != attribute.type {
            return former.type.isStored(as: attribute.type) ? .column(column) : .null
        }
        let replacesNil =
            former.isOptional && !attribute.isOptional && attribute.defaultValue != nil
        guard replacesNil || !former.type.isStored(as: attribute.type) else {
            return .column(column)
        }
        conversions.append(
            ValueConversion(
                try StoredAttribute(attribute, of: kind.entity, column: column),
                from: former.type))
        return .converted(column, conversions.count - 1)
    }

    /// The key of a to-one and its position in the inverse's list.
    private func key(
        of relationship: Relationship, _ declarer: Entity, _ kind: KindMigration
    ) -> (key: ColumnValue, position: ColumnValue) {
        guard mapping.new.isKind(kind.entity.name, of: declarer.name) else {
            return (.absent, .absent)
        }
        guard !isMoved(relationship, of: declarer),
            case .relationship(let former)? =
                mapping.origin(of: relationship.name, in: kind.entity),
            case .column(_, let column) = old.link(for: former, of: kind.origin)
        else { return (.null, .null) }
        let position = old.positionColumn(of: former, column)
        return (.column(column), position.map { .column($0) } ?? .null)
    }

    // MARK: Links

    private func isMoved(_ relationship: Relationship, of entity: Entity) -> Bool {
        links.contains { $0.name == "\(entity.name).\(relationship.name)" }
    }

    /// Plans each pair of a relationship and its inverse once: at the side that has the column, or
    /// whose key is the first of the join table.
    private mutating func planLinks() {
        for entity in mapping.new.entities {
            for relationship in entity.declared.relationships {
                let link = new.link(for: relationship, of: entity)
                switch link {
                case .inverseColumn: continue
                case .join(_, let own, _, _) where own != Layout.sourceColumn: continue
                case .column, .join: break
                }
                let origins = origins(of: relationship, entity)
                guard !origins.isEmpty, !isKept(link, relationship, entity, origins) else {
                    continue
                }
                links.append(
                    LinkMigration(
                        name: "\(entity.name).\(relationship.name)", link: link,
                        origins: origins.map(\.select),
                        sourceTables: origins.map(\.sourceTable),
                        positionColumn: linkPosition(relationship, link),
                        isOneToOne: new.isOneToOne(relationship),
                        isOrdered: relationship.isOrdered,
                        isInverseOrdered: Layout.inverse(of: relationship, in: mapping.new)?
                            .isOrdered == true))
            }
        }
    }

    private func linkPosition(_ relationship: Relationship, _ link: Link) -> String? {
        guard case .column(_, let column) = link else { return nil }
        return new.positionColumn(of: relationship, column)
    }

    /// Where the links of a relationship are in the old store.
    private struct LinkOrigin: Hashable {
        let link: Link
        /// Whether the old relationship is the inverse.
        let isFlipped: Bool
        /// The old table of the objects on the old relationship's side.
        let table: String
        let inverseIsOrdered: Bool
        let select: SQL

        var sourceTable: String {
            switch link {
            case .column(let table, _), .inverseColumn(let table, _, _), .join(let table, _, _, _):
                table
            }
        }
    }

    private func origins(of relationship: Relationship, _ entity: Entity) -> [LinkOrigin] {
        var origins: [LinkOrigin] = []
        func add(_ former: Relationship, _ origin: Entity, isFlipped: Bool) {
            let inverse = Layout.inverse(of: former, in: mapping.old)
            let added = LinkOrigin(
                link: old.link(for: former, of: origin), isFlipped: isFlipped,
                table: old.table(for: origin),
                inverseIsOrdered: inverse?.isOrdered == true,
                select: LinkMigration.select(
                    old.link(for: former, of: origin),
                    inversePosition: inversePosition(of: former, origin), isFlipped: isFlipped))
            if !origins.contains(added) { origins.append(added) }
        }
        for kind in [entity] + mapping.new.subentities(of: entity.name) {
            guard let origin = mapping.origin(of: kind),
                case .relationship(let former)? =
                    mapping.origin(of: relationship.name, in: kind)
            else { continue }
            add(former, origin, isFlipped: false)
        }
        guard origins.isEmpty, let inverse = relationship.inverse,
            let destination = mapping.new.entity(named: relationship.destination)
        else { return origins }
        for kind in [destination] + mapping.new.subentities(of: destination.name) {
            guard let origin = mapping.origin(of: kind),
                case .relationship(let former)? = mapping.origin(of: inverse, in: kind)
            else { continue }
            add(former, origin, isFlipped: true)
        }
        return origins
    }

    /// The column with the position of an object in the inverse's list.
    private func inversePosition(of former: Relationship, _ origin: Entity) -> String? {
        switch old.link(for: former, of: origin) {
        case .column(_, let column): return old.positionColumn(of: former, column)
        case .inverseColumn: return nil
        case .join(_, let own, _, _):
            let inverse = Layout.inverse(of: former, in: mapping.old)
            return inverse?.isOrdered == true && inverse?.name != former.name
                ? "\(own)_position" : nil
        }
    }

    /// Whether the links stay where they are. Keeps a join table that only has another name.
    private mutating func isKept(
        _ link: Link, _ relationship: Relationship, _ entity: Entity, _ origins: [LinkOrigin]
    ) -> Bool {
        switch link {
        case .inverseColumn: return true
        case .column:
            return origins.allSatisfy { origin in
                if origin.isFlipped { return false }
                return if case .column(origin.table, _) = origin.link { true } else { false }
            }
        case .join(let table, let own, let other, let position):
            let inverse = Layout.inverse(of: relationship, in: mapping.new)
            guard origins.count == 1, !origins[0].isFlipped,
                case .join(let former, own, other, position) = origins[0].link,
                origins[0].inverseIsOrdered == (inverse?.isOrdered == true)
            else { return false }
            keptJoins[table] = former
            return true
        }
    }
}

extension AttributeType {
    /// Whether every stored value of this type is the stored form of the same value of another
    /// type, if that has it.
    func isStored(as other: AttributeType) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.int16, .int32), (.int16, .int64), (.int32, .int16), (.int32, .int64),
            (.int64, .int16), (.int64, .int32), (.float, .double), (.url, .string):
            return true
        default: return false
        }
    }
}
