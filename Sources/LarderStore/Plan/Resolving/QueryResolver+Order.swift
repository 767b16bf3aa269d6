import LarderModel

extension QueryResolver {
    /// The object itself, by its key.
    var rootColumn: PlanColumn { root.keyColumn(name: entity.name) }

    /// The order of objects: the sort keys, then the objects' keys.
    func order(_ keys: [SortKey]) throws(LarderError) -> [ResolvedQuery.Order] {
        var order: [ResolvedQuery.Order] = []
        for (index, key) in keys.enumerated() {
            let expression = try value(key.term, named: Self.sortKeyName(index))
            let operand = try singleValue(expression) { path in
                LarderError(
                    .wrongType,
                    "the key path to \(path.name) leads to many objects and has no order")
            }
            order.append(try self.order(key, .operand(operand), operand.type, operand.name))
        }
        order.append(ResolvedQuery.Order(key: .operand(.column(rootColumn))))
        return order
    }

    /// The order of distinct rows: the sort keys, then all columns.
    func distinctOrder(
        _ keys: [SortKey], _ columns: [ResolvedQuery.OutputColumn]
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        try outputOrder(keys, among: columns, first: columns.count) {
            (expression) throws(LarderError) in
            // An unknown name is another error.
            let operand = try singleValue(expression, orMany: needsSingleStep)
            guard let place = columns.firstIndex(where: { $0.content == .operand(operand) }) else {
                throw LarderError(
                    .unsupported,
                    "a distinct fetch can be sorted only by selected columns, "
                        + "and \(operand.name) is not selected", hint: "select it too")
            }
            return .output(place)
        }
    }

    /// The order of groups: outputs or expressions over them, then the group keys.
    func groupOrder(
        _ aggregate: Aggregate, _ columns: [ResolvedQuery.OutputColumn]
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        try outputOrder(aggregate.sort, among: columns, first: aggregate.groupBy.count) {
            (expression) throws(LarderError) in
            let operand = try withOutputs(columns) { () throws(LarderError) -> PlanOperand in
                try self.operand(expression, in: rootScope)
            }
            let place = columns.firstIndex { $0.content == .operand(operand) }
            return place.map { .output($0) } ?? .operand(operand)
        }
    }

    /// Sort keys, which name output columns or are resolved, then the first columns that they do
    /// not name.
    private func outputOrder(
        _ keys: [SortKey], among columns: [ResolvedQuery.OutputColumn], first count: Int,
        resolve: (QueryExpression) throws(LarderError) -> ResolvedQuery.Order.Key
    ) throws(LarderError) -> [ResolvedQuery.Order] {
        var order: [ResolvedQuery.Order] = []
        var used: Set<Int> = []
        for (index, key) in keys.enumerated() {
            let place = columns.firstIndex { key.term == .format($0.name) }
            let resolved: ResolvedQuery.Order.Key
            if let place {
                resolved = .output(place)
            } else {
                resolved = try resolve(value(key.term, named: Self.sortKeyName(index)))
            }
            switch resolved {
            case .output(let place):
                guard used.insert(place).inserted else { continue }
                let column = columns[place]
                order.append(
                    try self.order(key, .output(place), column.type, "\"\(column.name)\""))
            case .operand(let operand):
                order.append(try self.order(key, .operand(operand), operand.type, operand.name))
            }
        }
        for place in 0..<count where !used.contains(place) {
            order.append(ResolvedQuery.Order(key: .output(place)))
        }
        return order
    }

    private static func sortKeyName(_ index: Int) -> String { "sort key \(index + 1)" }

    private func order(
        _ key: SortKey, _ resolved: ResolvedQuery.Order.Key, _ type: OperandType?, _ name: String
    ) throws(LarderError) -> ResolvedQuery.Order {
        guard let type else {
            throw LarderError(
                .wrongType, "a sort key must depend on the object; an argument is constant")
        }
        guard key.stringOrder == .plain || type.isString else {
            throw LarderError(
                .wrongType,
                "only strings have a string order, and \(name) is \(type.nounWithArticle)")
        }
        return ResolvedQuery.Order(
            key: resolved, isDescending: key.isDescending, nilComesFirst: key.nilComesFirst,
            stringOrder: key.stringOrder)
    }
}

extension ResolvedQuery.OutputColumn {
    /// nil for a list.
    fileprivate var type: OperandType? {
        if case .operand(let operand) = content { operand.type } else { nil }
    }
}
