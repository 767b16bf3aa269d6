import LarderModel
import LarderQuery

/// The rules that decide which objects a user may read and change, typed against the whole schema.
///
/// The rules for reading are added wherever a query reads a table, so that other objects do not
/// exist for it: not among its rows, not at the end of a key path, not in a collection or a list. A
/// rule itself reads all objects.
package struct RowRules: Sendable {
    package enum Restriction: Sendable {
        /// The user has the right for no object of the entity.
        case nothing
        /// The objects that match one of these predicates. `entityNames` are those of the objects
        /// that a predicate is for; nil for all.
        case parts([Part])
    }

    package struct Part: Sendable {
        package var entityNames: [String]?
        /// The entity that the rule is typed for.
        package var entity: Entity
        package var rule: TypedPredicate
    }

    /// That of the whole schema.
    package let layout: Layout
    private var restrictions: [EntityRights.Right: [String: Restriction]] = [:]
    /// The entities whose rules for reading compare attributes of the object alone.
    private var readableByAttributes: Set<String> = []

    /// - Throws: an error of a rule, if the schema has changed since it was checked.
    package init(_ rights: Rights, _ layout: Layout, _ converter: ValueConverter)
        throws(LarderError)
    {
        self.layout = layout
        for right in EntityRights.Right.allCases {
            for entity in layout.schema.entities {
                restrictions[right, default: [:]][entity.name] = try Self.restriction(
                    right, of: entity, rights, layout, converter)
            }
        }
        for entity in layout.schema.entities {
            let isByAttributes = layout.concreteNames(of: entity).allSatisfy { name in
                guard case .when(let rule) = rights.rule(.read, of: name) else { return true }
                return rule.comparesAttributesOnly(of: entity)
            }
            if isByAttributes { readableByAttributes.insert(entity.name) }
        }
    }

    /// Whether no other object decides whether the user may see an object, and which values of
    /// these properties the user sees.
    ///
    /// - Parameter properties: nil for all.
    package func dependOnObjectOnly(_ entity: Entity, _ properties: [String]?) -> Bool {
        guard readableByAttributes.contains(entity.name) else { return false }
        return (properties ?? entity.allNames).allSatisfy { name in
            guard case .relationship(let relationship)? = entity.property(named: name),
                let destination = layout.schema.entity(named: relationship.destination)
            else { return true }
            return restriction(of: destination) == nil
        }
    }

    /// nil if the user has a right for all objects of an entity.
    func restriction(
        _ right: EntityRights.Right = .read, of entity: Entity
    ) -> Restriction? {
        restrictions[right]?[entity.name]
    }

    private static func restriction(
        _ right: EntityRights.Right, of entity: Entity, _ rights: Rights, _ layout: Layout,
        _ converter: ValueConverter
    ) throws(LarderError) -> Restriction? {
        let names = layout.concreteNames(of: entity)
        let rules = names.map { rights.rule(right, of: $0) }
        if rules.allSatisfy({ $0 == .granted }) { return nil }
        if rules.allSatisfy({ $0 == .denied }) { return .nothing }
        let own = rights.rule(right, of: entity.name)
        if rules.allSatisfy({ $0 == own }) {
            let rule = try typed(own, entity, converter)
            return .parts([Part(entityNames: nil, entity: entity, rule: rule)])
        }
        var parts: [Part] = []
        for (name, rule) in zip(names, rules) where rule != .denied {
            let entity = try layout.schema.existingEntity(named: name)
            let rule = try typed(rule, entity, converter)
            parts.append(Part(entityNames: [name], entity: entity, rule: rule))
        }
        return .parts(parts)
    }

    private static func typed(
        _ rule: Rights.Rule, _ entity: Entity, _ converter: ValueConverter
    ) throws(LarderError) -> TypedPredicate {
        guard case .when(let expression) = rule else { return .constant(rule == .granted) }
        let typer = try QueryTyper(entityName: entity.name, conversion: converter.conversion)
        return try typer.query(.count(entityName: entity.name, predicate: .tree(expression)))
            .predicate
    }
}

extension QueryExpression {
    /// Whether the expression consists of comparisons of values with attributes of its object.
    fileprivate func comparesAttributesOnly(of entity: Entity) -> Bool {
        switch self {
        case .constant, .list, .comparison, .and, .or, .not:
            return children.allSatisfy { $0.comparesAttributesOnly(of: entity) }
        case .keyPath(.object, let names):
            guard names.count == 1, case .attribute? = entity.property(named: names[0]) else {
                return false
            }
            return true
        default: return false
        }
    }
}

extension QueryLowering {
    /// The condition under which the user may see, or change, the object in a row of a table.
    func visibility(
        of entity: Entity, alias: Int, for right: EntityRights.Right = .read
    ) throws(LarderError) -> PlanPredicate {
        guard let rules, !isLoweringRule else { return .yes }
        switch rules.restriction(right, of: entity) {
        case nil: return .yes
        case .nothing?: return .constant(false)
        case .parts(let parts)?:
            var visible: [PlanPredicate] = []
            for part in parts {
                let holds = try lowered(part, alias)
                guard let names = part.entityNames else { return holds }
                let kind = try entityColumn(of: Self.row(of: entity, alias, in: FromClause()))
                visible.append(PlanPredicate.isKind(kind, names).and(holds))
            }
            return visible.count == 1 ? visible[0] : .or(visible)
        }
    }

    /// Whether some objects of an entity may not be seen.
    func isRestricted(_ entity: Entity) -> Bool {
        !isLoweringRule && rules?.restriction(of: entity) != nil
    }

    /// The object in a row of a joined table.
    private static func row(
        of entity: Entity, _ alias: Int, in clause: FromClause
    ) -> JoinedRow {
        JoinedRow(
            entity: entity, clause: clause,
            key: ColumnReference(alias: alias, column: Layout.keyColumn), isOptional: false,
            alias: alias)
    }

    /// Lowers a rule for the row of an alias. If it needs other tables, they are joined in a
    /// subquery, which finds the row again by its key.
    private func lowered(
        _ part: RowRules.Part, _ alias: Int
    ) throws(LarderError) -> PlanPredicate {
        let (entity, rule) = (part.entity, part.rule)
        let outer = (rows, elements, outputs)
        isLoweringRule = true
        (elements, outputs) = ([:], [:])
        defer {
            isLoweringRule = false
            (rows, elements, outputs) = outer
        }
        let joined = FromClause()
        let row = Self.row(of: entity, alias, in: joined)
        rows = [0: row]
        let predicate = try self.predicate(rule)
        if joined.sources.isEmpty { return predicate }
        let clause = FromClause()
        let own = try join(
            layout.table(for: entity), .first,
            on: PlanSource.Condition(column: Layout.keyColumn, key: row.key), in: clause)
        rows = [0: Self.row(of: entity, own, in: clause)]
        let condition = try self.predicate(rule)
        return .exists(PlanCollection(sources: clause.sources, predicate: condition))
    }
}
