import LarderModel
import LarderQuery

extension Entity {
    /// Whether an index has the values of an attribute as its first key.
    fileprivate func hasIndex(beginningWith attribute: Attribute) -> Bool {
        indexes.contains { $0.first == attribute.name }
            || uniquenessConstraints.contains {
                $0.first == attribute.name && ($0.count > 1 || attribute.unique != .insensitive)
            }
    }
}

extension TextIndexes {
    fileprivate init(of attribute: Attribute) {
        self = attribute.indexed == .insensitive ? [.canonical, .caseless] : []
        if attribute.unique == .insensitive { insert(.canonical) }
    }
}

extension QueryLowering {
    /// A key path without a to-many step, as a column. Adds the joins that it needs.
    package func column(_ path: TypedKeyPath, named name: String) throws(LarderError) -> PlanColumn
    {
        precondition(!path.isToMany)
        return try locating(path) { () throws(LarderError) in
            try column(path.steps[...], from: row(path.base), path, named: name)
        }
    }

    /// The last steps of a key path, all to-one, from a row that is already joined.
    package func column(
        _ steps: ArraySlice<TypedStep>, from base: JoinedRow, _ path: TypedKeyPath,
        named name: String
    ) throws(LarderError) -> PlanColumn {
        var row = base
        for step in steps {
            switch step.kind {
            case .attribute(let attribute):
                let reference = ColumnReference(
                    alias: try joined(row), column: layout.column(for: attribute, of: row.entity))
                return PlanColumn(
                    reference: reference, type: path.type,
                    isNullable: attribute.isOptional || row.isOptional,
                    // An index of JSON has the order of the texts, not of the values.
                    isIndexed: attribute.type != .json
                        && row.entity.hasIndex(beginningWith: attribute),
                    textIndexes: TextIndexes(of: attribute),
                    searchTable: layout.searchTable(for: attribute, of: row.entity)?.name,
                    wordIndexes: layout.wordIndexes(for: attribute, of: row.entity),
                    name: name,
                    attribute: PlanAttribute(
                        entityName: row.entity.name, name: attribute.name))
            case .relationship, .cast: row = try destination(of: step, from: row)
            }
        }
        return row.keyColumn(name: name)
    }

    /// The name of the entity of a row's own object, from its table.
    package func entityColumn(of row: JoinedRow) throws(LarderError) -> PlanColumn {
        PlanColumn(
            reference: ColumnReference(alias: try joined(row), column: Layout.entityColumn),
            type: .attribute(.string), isNullable: row.isOptional, isIndexed: false,
            name: "the entity of \(row.entity.name)")
    }

    /// The number of the alias of the row's table.
    private func joined(_ row: JoinedRow) throws(LarderError) -> Int {
        if let alias = row.alias { return alias }
        let alias = try join(
            layout.table(for: row.entity), row.isOptional ? .left : .inner,
            on: PlanSource.Condition(column: Layout.keyColumn, key: row.key), in: row.clause)
        row.alias = alias
        return alias
    }

    /// The row of the object to which steps lead, all to-one; those to an attribute are left out.
    package func destination(
        of steps: ArraySlice<TypedStep>, from start: JoinedRow
    ) throws(LarderError) -> JoinedRow {
        var row = start
        for step in steps { row = try destination(of: step, from: row) }
        return row
    }

    package func destination(
        of step: TypedStep, from row: JoinedRow
    ) throws(LarderError) -> JoinedRow {
        switch step.kind {
        case .attribute: row
        case .relationship(let relationship): try destination(of: relationship, from: row)
        case .cast(let subentity): try cast(row, to: subentity)
        }
    }

    /// The row's object as one of a subentity. No object follows if it is of another one.
    private func cast(_ row: JoinedRow, to subentity: Entity) throws(LarderError) -> JoinedRow {
        if let known = row.destinations[subentity.name] { return known }
        let alias = try join(
            layout.table(for: subentity), .left,
            on: PlanSource.Condition(
                column: Layout.keyColumn, key: row.key,
                entityNames: layout.concreteNames(of: subentity)), in: row.clause)
        let cast = JoinedRow(
            entity: subentity, clause: row.clause,
            key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: true,
            alias: alias)
        row.destinations[subentity.name] = cast
        return cast
    }

    /// One to-one step. The same step from the same row is joined once.
    private func destination(
        of relationship: Relationship, from row: JoinedRow
    ) throws(LarderError) -> JoinedRow {
        if let known = row.destinations[relationship.name] { return known }
        let entity = try layout.schema.existingEntity(named: relationship.destination)
        let destination: JoinedRow
        switch layout.link(for: relationship, of: row.entity) {
        case .column(_, let column):
            var key = ColumnReference(alias: try joined(row), column: column)
            var alias: Int?
            if isRestricted(entity) {
                let seen = try join(
                    layout.table(for: entity), .left,
                    on: PlanSource.Condition(column: Layout.keyColumn, key: key), seen: entity,
                    in: row.clause)
                key = ColumnReference(alias: seen, column: Layout.keyColumn)
                alias = seen
            }
            destination = JoinedRow(
                entity: entity, clause: row.clause, key: key, isOptional: true, alias: alias)
        case .inverseColumn(let table, let column, _):
            let alias = try join(
                table, .left, on: PlanSource.Condition(column: column, key: row.key),
                seen: entity, in: row.clause)
            destination = JoinedRow(
                entity: entity, clause: row.clause,
                key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: true,
                alias: alias)
        case .join:
            preconditionFailure("a to-one relationship has no table of pairs")
        }
        row.destinations[relationship.name] = destination
        return destination
    }

    /// One to-many step, in a new clause or further along one. Its first table refers to the row
    /// and has one row per destination.
    package func elements(
        of relationship: Relationship, from row: JoinedRow, in clause: FromClause
    ) throws(LarderError) -> JoinedRow {
        let entity = try layout.schema.existingEntity(named: relationship.destination)
        let kind: PlanSource.Join = clause.sources.isEmpty ? .first : .inner
        switch layout.link(for: relationship, of: row.entity) {
        case .inverseColumn(let table, let column, let position):
            let alias = try join(
                table, kind, on: PlanSource.Condition(column: column, key: row.key), in: clause)
            clause.setPosition(position, key: Layout.keyColumn, alias: alias)
            clause.restrict(to: try visibility(of: entity, alias: alias))
            return JoinedRow(
                entity: entity, clause: clause,
                key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: false,
                alias: alias)
        case .join(let table, let own, let other, let position):
            let pairs = try join(
                table, kind, on: PlanSource.Condition(column: own, key: row.key), in: clause)
            clause.setPosition(position, key: other, alias: pairs)
            let key = ColumnReference(alias: pairs, column: other)
            guard isRestricted(entity) else {
                return JoinedRow(
                    entity: entity, clause: clause, key: key, isOptional: false, alias: nil)
            }
            let alias = try join(
                layout.table(for: entity), .inner,
                on: PlanSource.Condition(column: Layout.keyColumn, key: key), in: clause)
            clause.restrict(to: try visibility(of: entity, alias: alias))
            return JoinedRow(
                entity: entity, clause: clause,
                key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: false,
                alias: alias)
        case .column:
            preconditionFailure("a to-many relationship has no column on its own side")
        }
    }
}
