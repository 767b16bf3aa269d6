import LarderModel
import LarderQuery

extension QueryLowering {
    package func query(_ query: TypedQuery) throws(LarderError) -> ResolvedQuery {
        let predicate = try predicate(query.predicate)
            .and(visibility(of: entity, alias: root.key.alias))
        var columns: [ResolvedQuery.OutputColumn] = []
        for column in query.columns { columns.append(try self.column(column)) }
        var groups: [PlanOperand] = []
        if query.verb == .aggregate {
            for (typed, lowered) in zip(query.columns, columns) {
                if case .operand(let key) = typed.content,
                    case .operand(let operand) = lowered.content
                {
                    outputs[key] = operand
                }
            }
            for group in query.groupBy { groups.append(try operand(group)) }
        }
        let having = try self.predicate(query.having)
        var prefetch: [PlanPrefetch] = []
        for path in query.prefetch { prefetch.append(try self.prefetch(path)) }
        let order = try self.order(query.order)
        // Lists are read by the keys of their objects.
        let hasIdentity = query.givesIdentity || columns.contains(where: \.isList)
        return ResolvedQuery(
            verb: query.verb, entityName: entity.name,
            entityNames: entityNames(includingSubentities: query.includesSubentities),
            sources: rootClause.sources, predicate: predicate, groupBy: groups, having: having,
            hasIdentity: hasIdentity, givesIdentity: query.givesIdentity,
            hasEntity: query.includesSubentities && hasIdentity, columns: columns, order: order,
            isDistinct: query.isDistinct,
            hasIndexedRange: query.hasIndexableOrder && selectsIndexedRange(predicate),
            prefetch: prefetch)
    }

    /// The entities of the requested rows; nil for all rows of the table.
    private func entityNames(includingSubentities: Bool) -> [String]? {
        guard layout.kinds(inTableOf: entity) != nil else { return nil }
        if includingSubentities, entity.parent == nil { return nil }
        return layout.concreteNames(of: entity, includingSubentities: includingSubentities)
    }

    private func column(
        _ column: TypedQuery.OutputColumn
    ) throws(LarderError) -> ResolvedQuery.OutputColumn {
        switch column.content {
        case .list(let relationship):
            let destination = relationship.destination
            let list = try PlanList(
                layout.link(for: relationship, of: entity), of: destination,
                entityTable: converter.entityTable(of: .object(entityName: destination)),
                visible: visibleObjects(of: destination), converter)
            return ResolvedQuery.OutputColumn(
                name: column.name, kind: .objects(entityName: destination), content: .list(list))
        case .operand(let typed):
            guard let type = typed.type else {
                preconditionFailure("the typer has rejected a column without a type")
            }
            return ResolvedQuery.OutputColumn(
                name: column.name, kind: type.columnKind, content: .operand(try operand(typed)),
                entityTable: converter.entityTable(of: type))
        }
    }

    /// Selects an object of an entity if the user may see it; nil if that holds for all.
    private func visibleObjects(
        of entityName: String
    ) throws(LarderError) -> PlanList.VisibleObjects? {
        let entity = try layout.schema.existingEntity(named: entityName)
        guard isRestricted(entity) else { return nil }
        let alias = nextAlias()
        let visible = try visibility(of: entity, alias: alias)
        var writer = SQLWriter(QueryParameters(), converter)
        let condition: SQL =
            switch try writer.predicate(visible, .positive) {
            case .always(let holds): converter.dialect.truth(holds)
            case .sql(let sql): sql.asConjunct
            }
        return PlanList.VisibleObjects(
            table: layout.table(for: entity), alias: alias, condition: condition)
    }

    private func order(
        _ keys: [TypedQuery.Order]
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        var order: [ResolvedQuery.Order] = []
        for key in keys {
            let lowered: ResolvedQuery.Order.Key =
                switch key.key {
                case .operand(let operand): .operand(try self.operand(operand))
                case .output(let index): .output(index)
                }
            order.append(
                ResolvedQuery.Order(
                    key: lowered, isDescending: key.isDescending, nilComesFirst: key.nilComesFirst,
                    stringOrder: key.stringOrder))
        }
        return order
    }

    private func prefetch(_ path: TypedQuery.Prefetch) throws(LarderError) -> PlanPrefetch {
        let lowering = QueryLowering(path.query.entity, layout, converter, rules)
        var query = try lowering.query(path.query)
        // They are selected by their keys.
        query.entityNames = nil
        var writer = SQLWriter(QueryParameters(), converter)
        return PlanPrefetch(
            keyPath: path.keyPath, column: path.column, query: query,
            statement: try KeyStatement(writer.statementByKeys(query), converter))
    }

    /// Whether an index limits the rows to a range.
    private func selectsIndexedRange(_ predicate: PlanPredicate) -> Bool {
        predicate.conjuncts.contains { part in
            let (column, options): (PlanColumn, Comparison.Options)
            switch part {
            case .between(.column(let operand), _, _, let given):
                (column, options) = (operand, given)
            case .comparison(.column(let operand), let name, let bound, let given)
            where bound.isConstant:
                switch name {
                case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith:
                    (column, options) = (operand, given)
                default: return false
                }
            default: return false
            }
            return column.isIndexed(for: options) && column.reference.alias == root.key.alias
        }
    }
}
