import LarderModel

extension QueryResolver {
    func fetch(_ fetch: Fetch, where expression: QueryExpression?) throws(LarderError)
        -> ResolvedQuery
    {
        try Self.checkCount(fetch.sort.count, of: "sort keys")
        let predicate = try predicate(expression)
        let columns = try columns(of: fetch)
        let order =
            fetch.isDistinct
            ? try distinctOrder(fetch, columns)
            : try order(fetch.sort)
                + [ResolvedQuery.Order(key: .operand(rootOperand), isDescending: false)]
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, sources: rootScope.sources,
            predicate: predicate, hasIdentity: !fetch.isDistinct, columns: columns, order: order,
            isDistinct: fetch.isDistinct,
            hasIndexedRange: fetch.sort.isEmpty && asksForIndexedRange(predicate))
    }

    /// Whether an index narrows the rows to a range.
    private func asksForIndexedRange(_ predicate: PlanPredicate) -> Bool {
        predicate.conjuncts.contains { part in
            let column: PlanColumn
            switch part {
            case .between(.column(let operand), _, _, options: []): column = operand
            case .comparison(.column(let operand), let name, let bound, options: [])
            where bound.isConstant:
                switch name {
                case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith:
                    column = operand
                default: return false
                }
            default: return false
            }
            return column.isIndexed && column.reference.alias == root.key.alias
        }
    }

    func count(where expression: QueryExpression?) throws(LarderError) -> ResolvedQuery {
        let predicate = try predicate(expression)
        let count = PlanOperand.aggregate(.count, nil, .int64, name: "count")
        return ResolvedQuery(
            verb: .count, entityName: entity.name, sources: rootScope.sources,
            predicate: predicate,
            columns: [
                ResolvedQuery.OutputColumn(
                    name: "count", kind: .attribute(.int64), content: .operand(count))
            ])
    }

    private func columns(
        of fetch: Fetch
    ) throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        guard case .keyPaths(let keyPaths) = fetch.selection else {
            guard !fetch.isDistinct else {
                throw LarderError(
                    .unsupported, "a distinct fetch selects key paths, not whole objects",
                    hint: "objects are distinct already")
            }
            return fetch.selection == .identifiers ? [] : try objectColumns()
        }
        try Self.checkCount(keyPaths.count, of: "selected key paths")
        guard !keyPaths.isEmpty else {
            throw LarderError(.unsupported, "the fetch selects no key path")
        }
        try Self.checkNames(keyPaths)
        var columns: [ResolvedQuery.OutputColumn] = []
        for text in keyPaths {
            let path = try keyPath(text)
            if let list = try list(at: path) {
                guard !fetch.isDistinct else {
                    throw LarderError(
                        .unsupported, "\(path.name) is a list, which a distinct fetch cannot select"
                    )
                }
                columns.append(list.named(text))
            } else {
                guard !path.isToMany else { throw needsSingleStep(path) }
                columns.append(outputColumn(text, try column(path)))
            }
        }
        return columns
    }

    /// The object whose key is the first argument; nil is all its properties.
    func object(properties: [String]?) throws(LarderError) -> ResolvedQuery {
        let names =
            properties ?? entity.attributes.map(\.name) + entity.relationships.map(\.name)
        guard names.count <= Limits.propertiesMax else {
            throw LarderError(
                .resourceExhausted, "\(Limits.propertiesMax) properties at most are read at once")
        }
        try Self.checkNames(names)
        let columns = try columns(of: names)
        let key = PlanValue(source: .argument(0), type: .int64, name: entity.name)
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, sources: rootScope.sources,
            predicate: .comparison(rootOperand, .equal, .value(key), options: []),
            hasIdentity: true, columns: columns)
    }

    /// The columns of whole objects in a fetch.
    private func objectColumns() throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        try columns(
            of: entity.attributes.map(\.name)
                + entity.relationships.filter { !$0.isToMany }.map(\.name))
    }

    /// The columns of properties of the object itself, to-many relationships as lists.
    private func columns(
        of names: [String]
    ) throws(LarderError) -> [ResolvedQuery.OutputColumn] {
        var columns: [ResolvedQuery.OutputColumn] = []
        for name in names {
            let path = try keyPath(.object, [name], in: rootScope)
            if let list = try list(at: path) {
                columns.append(list)
            } else {
                columns.append(outputColumn(name, try column(path)))
            }
        }
        return columns
    }

    private func outputColumn(
        _ name: String, _ operand: PlanOperand
    ) -> ResolvedQuery.OutputColumn {
        guard let type = operand.type else { preconditionFailure("a column has a type") }
        return ResolvedQuery.OutputColumn(
            name: name, kind: type.columnKind, content: .operand(operand))
    }

    /// A list column where the key path is a to-many relationship of the entity itself.
    private func list(
        at path: ResolvedKeyPath
    ) throws(LarderError) -> ResolvedQuery.OutputColumn? {
        guard path.steps.count == 1, case .relationship(let relationship) = path.steps[0].property,
            relationship.isToMany
        else { return nil }
        let link = layout.link(for: relationship, of: entity)
        return ResolvedQuery.OutputColumn(
            name: relationship.name, kind: .objects(entityName: relationship.destination),
            content: .list(PlanList(link)))
    }

    func needsSingleStep(_ path: ResolvedKeyPath) -> LarderError {
        LarderError(
            .wrongType, "the key path to \(path.name) leads to many objects, not to one value",
            hint: "only to-many relationships of \(entity.name) itself can be selected, as lists")
    }

    // MARK: Order

    /// The object itself, by its key.
    private var rootOperand: PlanOperand {
        .column(root.keyColumn(name: entity.name))
    }

    private func order(_ keys: [SortKey]) throws(LarderError) -> [ResolvedQuery.Order] {
        var order: [ResolvedQuery.Order] = []
        for key in keys {
            let path = try keyPath(key.keyPath)
            guard !path.isToMany else {
                throw LarderError(
                    .wrongType,
                    "the key path to \(path.name) leads to many objects and gives no order")
            }
            order.append(
                ResolvedQuery.Order(
                    key: .operand(try column(path)), isDescending: key.isDescending))
        }
        return order
    }

    /// Rows that are not objects are ordered by what is asked, and then by all their columns.
    private func distinctOrder(
        _ fetch: Fetch, _ columns: [ResolvedQuery.OutputColumn]
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        try Self.outputOrder(fetch.sort, among: columns.map(\.name), first: columns.count) {
            name throws(LarderError) in
            // A wrong name is an error of its own.
            _ = try keyPath(name)
            return LarderError(
                .unsupported,
                "a distinct fetch is sorted by what it selects, and \"\(name)\" is not",
                hint: "select it too")
        }
    }

    /// Sort keys that name output columns, and then the first columns that none of them named.
    static func outputOrder(
        _ keys: [SortKey], among names: [String], first count: Int,
        unknown: (String) throws(LarderError) -> LarderError
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        var order: [ResolvedQuery.Order] = []
        var used: Set<Int> = []
        for key in keys {
            guard let place = names.firstIndex(of: key.keyPath) else {
                throw try unknown(key.keyPath)
            }
            guard used.insert(place).inserted else { continue }
            order.append(
                ResolvedQuery.Order(key: .output(place), isDescending: key.isDescending))
        }
        for place in 0..<count where !used.contains(place) {
            order.append(ResolvedQuery.Order(key: .output(place), isDescending: false))
        }
        return order
    }

    // MARK: Limits

    static func checkCount(_ count: Int, of what: String) throws(LarderError) {
        guard count <= Limits.queryColumnsMax else {
            throw LarderError(
                .resourceExhausted, "a query has \(Limits.queryColumnsMax) \(what) at most")
        }
    }

    static func checkNames(_ names: [String]) throws(LarderError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw LarderError(
                .unsupported, "two columns are called \"\(printable(name))\"",
                hint: "names of columns must differ")
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
