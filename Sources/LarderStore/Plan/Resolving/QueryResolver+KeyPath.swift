import LarderModel

/// A resolved key path: the relationships along it, and its last property.
struct ResolvedKeyPath {
    struct Step {
        enum Kind {
            case attribute(Attribute)
            case relationship(Relationship)
            /// The same object, if it is of this subentity; otherwise nil.
            case cast(Entity)
        }

        let entity: Entity
        let name: String
        let kind: Kind

        var isToMany: Bool {
            if case .relationship(let relationship) = kind {
                relationship.isToMany
            } else {
                false
            }
        }
    }

    let base: ResolverRow
    let steps: [Step]
    /// The steps after a json attribute, into its document.
    var members: [String] = []
    let type: OperandType

    /// Whether one of the steps is a to-many relationship.
    var isToMany: Bool { steps.contains(where: \.isToMany) }

    /// The last property with its entity, for messages: `Category.name`.
    var name: String {
        guard let last = steps.last else { return base.entity.name }
        return "\(last.entity.name).\(last.name)"
    }
}

extension Entity {
    /// Whether an index has the values of an attribute as its first key.
    fileprivate func hasIndex(beginningWith attribute: Attribute) -> Bool {
        indexes.contains { $0.first == attribute.name }
            || uniquenessConstraints.contains {
                $0.first == attribute.name && ($0.count > 1 || !attribute.isUniqueInsensitively)
            }
    }
}

extension TextIndexes {
    fileprivate init(of attribute: Attribute) {
        self = attribute.isIndexedInsensitively ? [.canonical, .caseless] : []
        if attribute.isUniqueInsensitively { insert(.canonical) }
    }
}

extension QueryResolver {
    /// The row of `SELF` or a variable.
    func row(_ base: QueryExpression, in scope: ResolverScope) throws(LarderError) -> ResolverRow {
        switch base {
        case .object: return root
        case .variable(let name):
            guard let row = scope.row(named: name) else {
                throw LarderError(
                    .unsupported,
                    "$\(Self.printable(name)) is not declared by an enclosing SUBQUERY, "
                        + "and a named value has no properties")
            }
            return row
        default:
            throw LarderError(
                .unsupported, "a key path must begin at the object itself or at a variable")
        }
    }

    /// Resolves names and types along a key path, without adding joins.
    func keyPath(
        _ base: QueryExpression, _ names: [String], in scope: ResolverScope
    ) throws(LarderError) -> ResolvedKeyPath {
        try locating(.keyPath(base, names)) { () throws(LarderError) in
            try resolvedKeyPath(base, names, in: scope)
        }
    }

    private func resolvedKeyPath(
        _ base: QueryExpression, _ names: [String], in scope: ResolverScope
    ) throws(LarderError) -> ResolvedKeyPath {
        guard !names.isEmpty, names.count <= Limits.keyPathStepsMax else {
            throw LarderError(
                .resourceExhausted, "a key path must have 1 to \(Limits.keyPathStepsMax) steps")
        }
        return try keyPath(names, from: try row(base, in: scope))
    }

    /// Resolves a key path that begins at a row.
    func keyPath(
        _ names: [String], from row: ResolverRow
    ) throws(LarderError) -> ResolvedKeyPath {
        var entity: Entity? = row.entity
        var steps: [ResolvedKeyPath.Step] = []
        var type = OperandType.object(entityName: row.entity.name)
        for (place, name) in names.enumerated() {
            currentStep = place
            guard let current = entity else {
                if type == .attribute(.json) {
                    currentStep = nil
                    return ResolvedKeyPath(
                        base: row, steps: steps, members: Array(names[place...]), type: type)
                }
                let last = steps[steps.count - 1]
                throw LarderError(
                    .wrongType,
                    "\(last.entity.name).\(last.name) is \(type.nounWithArticle) "
                        + "and has no property \"\(Self.printable(name))\"",
                    hint: FormatHint.function(named: name, of: names[..<place]))
            }
            let kind: ResolvedKeyPath.Step.Kind
            do throws(LarderError) {
                kind = try step(named: name, of: current)
            } catch {
                guard steps.last?.isToMany == true else { throw error }
                throw error.hinting(FormatHint.aggregate(named: name, of: names[..<place]))
            }
            steps.append(ResolvedKeyPath.Step(entity: current, name: name, kind: kind))
            switch kind {
            case .attribute(let attribute):
                type = .attribute(attribute.type)
                entity = nil
            case .relationship(let relationship):
                type = .object(entityName: relationship.destination)
                entity = try Self.entity(named: relationship.destination, in: layout.schema)
            case .cast(let subentity):
                type = .object(entityName: subentity.name)
                entity = subentity
            }
        }
        currentStep = nil
        return ResolvedKeyPath(base: row, steps: steps, type: type)
    }

    private func step(
        named name: String, of entity: Entity
    ) throws(LarderError) -> ResolvedKeyPath.Step.Kind {
        if let subentity = layout.schema.castDestination(named: name, of: entity) {
            return .cast(subentity)
        }
        return switch try property(named: name, of: entity) {
        case .attribute(let attribute): .attribute(attribute)
        case .relationship(let relationship): .relationship(relationship)
        }
    }

    /// A property, or an error with a hint to subentities that have such a property.
    func property(named name: String, of entity: Entity) throws(LarderError) -> Property {
        do throws(LarderError) {
            return try Self.property(named: name, of: entity)
        } catch {
            let below = layout.schema.subentities(of: entity.name).filter { below in
                below.property(named: name) != nil
                    && layout.schema.declaringEntity(of: name, in: below).name == below.name
            }
            guard !below.isEmpty else { throw error }
            var hinted = error
            let names = below.prefix(3).map(\.name).joined(separator: " or ")
            hinted.hint =
                "it is declared in a subentity; write \(below[0].name).\(name), or query \(names) "
                + "instead"
            throw hinted
        }
    }

    /// The row of the object that an expression denotes.
    func objectRow(
        _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> ResolverRow {
        if outputs != nil { throw havingNeedsOutputs }
        if isValue(expression, in: scope) { throw needsObject }
        switch expression {
        case .object, .variable: return try row(expression, in: scope)
        case .keyPath(let base, let names): return try objectRow(base, names, in: scope)
        default: throw needsObject
        }
    }

    private func objectRow(
        _ base: QueryExpression, _ names: [String], in scope: ResolverScope
    ) throws(LarderError) -> ResolverRow {
        if base.isSubquery { throw subqueryIsNoValue }
        let path = try keyPath(base, names, in: scope)
        guard !path.isToMany else { throw needsModifier(path) }
        guard case .object = path.type else { throw needsObject }
        return try destination(of: path.steps[...], from: path.base)
    }

    private var needsObject: LarderError {
        LarderError(.wrongType, "IS needs an object on its left side")
    }

    /// The name of the entity of a row's own object, from its table.
    func entityColumn(of row: ResolverRow) throws(LarderError) -> PlanColumn {
        PlanColumn(
            reference: ColumnReference(alias: try joined(row), column: Layout.entityColumn),
            type: .attribute(.string), isNullable: row.isOptional, isIndexed: false,
            name: "the entity of \(row.entity.name)")
    }

    /// A key path without a to-many step, as a column. Adds the joins that it needs.
    func column(_ path: ResolvedKeyPath) throws(LarderError) -> PlanOperand {
        precondition(!path.isToMany)
        return try column(path.steps[...], from: path.base, path)
    }

    /// The last steps of a key path, all to-one, from a row that is already joined.
    func column(
        _ steps: ArraySlice<ResolvedKeyPath.Step>, from base: ResolverRow, _ path: ResolvedKeyPath
    ) throws(LarderError) -> PlanOperand {
        var row = base
        for step in steps {
            switch step.kind {
            case .attribute(let attribute):
                let reference = ColumnReference(
                    alias: try joined(row), column: layout.column(for: attribute, of: row.entity))
                let column = PlanColumn(
                    reference: reference, type: path.type,
                    isNullable: attribute.isOptional || row.isOptional,
                    isIndexed: row.entity.hasIndex(beginningWith: attribute),
                    textIndexes: TextIndexes(of: attribute),
                    searchTable: layout.searchTable(for: attribute, of: row.entity)?.name,
                    wordIndexes: layout.wordIndexes(for: attribute, of: row.entity),
                    name: path.name)
                return path.members.isEmpty
                    ? .column(column)
                    : .member(PlanMember(document: column, path: path.members))
            case .relationship, .cast: row = try destination(of: step, from: row)
            }
        }
        return .column(row.keyColumn(name: path.name))
    }

    /// The number of the alias of the row's table.
    private func joined(_ row: ResolverRow) throws(LarderError) -> Int {
        if let alias = row.alias { return alias }
        let alias = try join(
            layout.table(for: row.entity), row.isOptional ? .left : .inner,
            on: PlanSource.Condition(column: Layout.keyColumn, key: row.key), in: row.scope)
        row.alias = alias
        return alias
    }

    /// The row of the object to which steps lead, all to-one; those to an attribute are left out.
    func destination(
        of steps: ArraySlice<ResolvedKeyPath.Step>, from start: ResolverRow
    ) throws(LarderError) -> ResolverRow {
        var row = start
        for step in steps { row = try destination(of: step, from: row) }
        return row
    }

    private func destination(
        of step: ResolvedKeyPath.Step, from row: ResolverRow
    ) throws(LarderError) -> ResolverRow {
        switch step.kind {
        case .attribute: row
        case .relationship(let relationship): try destination(of: relationship, from: row)
        case .cast(let subentity): try cast(row, to: subentity)
        }
    }

    /// The same object as one of a subentity. No object follows if it is of another one.
    private func cast(
        _ row: ResolverRow, to subentity: Entity
    ) throws(LarderError) -> ResolverRow {
        if subentity.name == row.entity.name { return row }
        if let known = row.destinations[subentity.name] { return known }
        let alias = try join(
            layout.table(for: subentity), .left,
            on: PlanSource.Condition(
                column: Layout.keyColumn, key: row.key,
                entityNames: layout.concreteNames(of: subentity)), in: row.scope)
        let cast = ResolverRow(
            entity: subentity, scope: row.scope,
            key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: true,
            alias: alias)
        row.destinations[subentity.name] = cast
        return cast
    }

    /// One to-one step. The same step from the same row is joined once.
    func destination(
        of relationship: Relationship, from row: ResolverRow
    ) throws(LarderError) -> ResolverRow {
        if let known = row.destinations[relationship.name] { return known }
        let entity = try Self.entity(named: relationship.destination, in: layout.schema)
        let destination: ResolverRow
        switch layout.link(for: relationship, of: row.entity) {
        case .column(_, let column):
            destination = ResolverRow(
                entity: entity, scope: row.scope,
                key: ColumnReference(alias: try joined(row), column: column), isOptional: true,
                alias: nil)
        case .inverseColumn(let table, let column, _):
            let alias = try join(
                table, .left, on: PlanSource.Condition(column: column, key: row.key),
                in: row.scope)
            destination = ResolverRow(
                entity: entity, scope: row.scope,
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
    func elements(
        of relationship: Relationship, from row: ResolverRow, in scope: ResolverScope
    ) throws(LarderError) -> ResolverRow {
        let entity = try Self.entity(named: relationship.destination, in: layout.schema)
        let kind: PlanSource.Join = scope.sources.isEmpty ? .first : .inner
        switch layout.link(for: relationship, of: row.entity) {
        case .inverseColumn(let table, let column, _):
            let alias = try join(
                table, kind, on: PlanSource.Condition(column: column, key: row.key), in: scope)
            return ResolverRow(
                entity: entity, scope: scope,
                key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: false,
                alias: alias)
        case .join(let table, let own, let other, _):
            let alias = try join(
                table, kind, on: PlanSource.Condition(column: own, key: row.key), in: scope)
            return ResolverRow(
                entity: entity, scope: scope,
                key: ColumnReference(alias: alias, column: other), isOptional: false, alias: nil)
        case .column:
            preconditionFailure("a to-many relationship has no column on its own side")
        }
    }
}
