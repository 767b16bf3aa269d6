import LarderModel

extension QueryResolver {
    func fetch(_ fetch: Fetch) throws(LarderError) -> ResolvedQuery {
        try Self.checkCount(fetch.sort.count, of: "sort keys")
        let predicate = try predicate(source.predicate(fetch.predicate))
        var columns = try columns(of: fetch)
        let prefetch = try prefetch(fetch, &columns)
        let order =
            try fetch.isDistinct
            ? distinctOrder(fetch.sort, columns) : order(fetch.sort)
        var givesIdentity = !fetch.isDistinct
        if case .values = fetch.selection { givesIdentity = false }
        // Lists are read by the keys of their objects.
        let hasIdentity = givesIdentity || columns.contains(where: \.isList)
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, entityNames: entityNames,
            sources: rootScope.sources, predicate: predicate, hasIdentity: hasIdentity,
            givesIdentity: givesIdentity, hasEntity: includesSubentities && hasIdentity,
            columns: columns, order: order, isDistinct: fetch.isDistinct,
            hasIndexedRange: fetch.sort.isEmpty && asksForIndexedRange(predicate),
            prefetch: prefetch)
    }

    /// Whether an index limits the rows to a range.
    private func asksForIndexedRange(_ predicate: PlanPredicate) -> Bool {
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

    func count(where term: QueryTerm?) throws(LarderError) -> ResolvedQuery {
        let predicate = try predicate(source.predicate(term))
        let count = PlanOperand.aggregate(.count, nil, .int64, name: "count")
        return ResolvedQuery(
            verb: .count, entityName: entity.name, entityNames: entityNames,
            sources: rootScope.sources, predicate: predicate,
            columns: [
                ResolvedQuery.OutputColumn(
                    name: "count", kind: .attribute(.int64), content: .operand(count))
            ])
    }

    private func columns(of fetch: Fetch) throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        let selected = fetch.selection.columns
        if fetch.selection == .objects || fetch.selection == .identifiers {
            guard !fetch.isDistinct else {
                throw LarderError(
                    .unsupported, "a distinct fetch selects columns, not whole objects",
                    hint: "objects are distinct already")
            }
            return fetch.selection == .identifiers ? [] : try objectColumns()
        }
        try Self.checkCount(selected.count, of: "selected columns")
        guard !selected.isEmpty else {
            throw LarderError(.unsupported, "the fetch selects no column")
        }
        try Self.checkNames(selected.map(\.name))
        var columns: [ResolvedQuery.OutputColumn] = []
        for (index, column) in selected.enumerated() {
            let expression = try value(column.term, named: "selected column \(index + 1)")
            if let list = try list(at: expression) {
                guard !fetch.isDistinct else {
                    throw LarderError(
                        .unsupported,
                        "\(entity.name).\(list.name) is a list, "
                            + "which a distinct fetch cannot select")
                }
                columns.append(list.named(column.name))
            } else {
                let operand = try singleValue(expression, orMany: needsSingleStep)
                columns.append(try outputColumn(column.name, operand))
            }
        }
        return columns
    }

    /// The value of an expression for the object. Throws for a key path to many objects.
    func singleValue(
        _ expression: QueryExpression, orMany: (ResolvedKeyPath) -> LarderError
    ) throws(LarderError) -> PlanOperand {
        if case .keyPath(let base, let names) = expression, outputs == nil {
            let path = try keyPath(base, names, in: rootScope)
            guard !path.isToMany else { throw orMany(path) }
        }
        let operand = try operand(expression, in: rootScope)
        guard case .value(var value) = operand, value.type == nil else { return operand }
        value.type = value.constantType
        return .value(value)
    }

    /// The object whose key is the first argument. Nil is all properties.
    func object(properties: [String]?) throws(LarderError) -> ResolvedQuery {
        let names =
            properties ?? entity.attributes.map(\.name) + entity.relationships.map(\.name)
        guard names.count <= Limits.propertiesMax else {
            throw LarderError(
                .resourceExhausted, "a fetch reads at most \(Limits.propertiesMax) properties")
        }
        try Self.checkNames(names)
        let columns = try columns(of: names)
        let key = PlanValue(source: .argument(0), type: .int64, name: entity.name)
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, entityNames: entityNames,
            sources: rootScope.sources,
            predicate: .comparison(.column(rootColumn), .equal, .value(key), options: []),
            hasIdentity: true, columns: columns)
    }

    /// The columns of whole objects in a fetch.
    func objectColumns() throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        try columns(
            of: entity.attributes.map(\.name)
                + entity.relationships.filter { !$0.isToMany }.map(\.name))
    }

    /// The columns of the object's own properties, with to-many relationships as lists.
    private func columns(
        of names: [String]
    ) throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        var columns: [ResolvedQuery.OutputColumn] = []
        for name in names {
            let expression = QueryExpression.keyPath(.object, [name])
            if let list = try list(at: expression) {
                columns.append(list)
            } else {
                columns.append(try outputColumn(name, operand(expression, in: rootScope)))
            }
        }
        return columns
    }

    func outputColumn(
        _ name: String, _ operand: PlanOperand
    ) throws(LarderError) -> ResolvedQuery.OutputColumn {
        guard let type = operand.type else {
            throw LarderError(
                .wrongType,
                "the column \"\(Self.printable(name))\" is an argument alone, "
                    + "whose type is unknown")
        }
        let table = entityTable(of: type)
        if table != nil, case .aggregate(.mode, _, _, _) = operand {
            throw LarderError(
                .unsupported,
                "the mode would be an object of one of several entities",
                hint: "take the mode of an attribute, or group by the object and count")
        }
        return ResolvedQuery.OutputColumn(
            name: name, kind: type.columnKind, content: .operand(operand), entityTable: table)
    }

    /// The table with the entity of an object; nil if the type determines it, or is no object's.
    func entityTable(of type: OperandType) -> String? {
        guard case .object(let name) = type, layout.schema.hasSubentities(name) else { return nil }
        return layout.schema.entity(named: name).map(layout.table)
    }

    /// A list column, if the key path is a to-many relationship of the entity itself.
    private func list(
        at expression: QueryExpression
    ) throws(LarderError) -> ResolvedQuery.OutputColumn? {
        guard case .keyPath(.object, let names) = expression, names.count == 1,
            case .relationship(let relationship) = entity.property(named: names[0]),
            relationship.isToMany
        else { return nil }
        return list(of: relationship)
    }

    func list(of relationship: Relationship) -> ResolvedQuery.OutputColumn {
        let destination = relationship.destination
        let list = PlanList(
            layout.link(for: relationship, of: entity), of: destination,
            entityTable: entityTable(of: .object(entityName: destination)))
        return ResolvedQuery.OutputColumn(
            name: relationship.name, kind: .objects(entityName: destination),
            content: .list(list))
    }

    func needsSingleStep(_ path: ResolvedKeyPath) -> LarderError {
        LarderError(
            .wrongType, "the key path to \(path.name) leads to many objects, not to one value",
            hint: "only to-many relationships of \(entity.name) itself can be selected, as lists")
    }

    // MARK: Limits

    static func checkCount(_ count: Int, of what: String) throws(LarderError) {
        guard count <= Limits.queryColumnsMax else {
            throw LarderError(
                .resourceExhausted, "a query takes at most \(Limits.queryColumnsMax) \(what)")
        }
    }

    static func checkNames(_ names: [String]) throws(LarderError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw LarderError(
                .unsupported, "two columns are named \"\(printable(name))\"",
                hint: "column names must differ")
        }
    }
}

extension ResolvedQuery.OutputColumn {
    func named(_ name: String) -> Self {
        var column = self
        column.name = name
        return column
    }
}
