import LarderModel

extension QueryTyper {
    /// The order of objects by sort keys. Objects with equal keys are ordered by identifier.
    package func order(_ keys: [SortKey]) throws(LarderError) -> [TypedQuery.Order] {
        var order: [TypedQuery.Order] = []
        for (index, key) in keys.enumerated() {
            let expression = try value(key.term, named: Self.sortKeyName(index))
            let operand = try singleValue(expression) { path in
                LarderError(
                    .wrongType,
                    "the key path to \(path.name) leads to many objects and has no order",
                    hint: path.joinHint)
            }
            order.append(try self.order(key, .operand(operand), operand.type, operand.name))
        }
        return order
    }

    /// The order of distinct rows: the sort keys, then all columns.
    func distinctOrder(
        _ keys: [SortKey], _ columns: [TypedQuery.OutputColumn]
    ) throws(LarderError) -> [TypedQuery.Order] {
        try outputOrder(keys, among: columns, first: columns.count) {
            (expression) throws(LarderError) in
            // An unknown name is another error.
            let operand = try singleValue(expression, orMany: needsSingleStep)
            guard let index = columns.firstIndex(where: { $0.contains(operand) }) else {
                throw LarderError(
                    .unsupported,
                    "a distinct fetch can be sorted only by selected columns, "
                        + "and \(operand.name) is not selected", hint: "select it too")
            }
            return .output(index)
        }
    }

    /// The order of groups: outputs or expressions over them, then the group keys.
    func groupOrder(
        _ aggregate: Aggregate, _ columns: [TypedQuery.OutputColumn]
    ) throws(LarderError) -> [TypedQuery.Order] {
        try outputOrder(aggregate.sort, among: columns, first: aggregate.groupBy.count) {
            (expression) throws(LarderError) in
            let operand = try withOutputs(columns) { () throws(LarderError) -> TypedOperand in
                try self.operand(expression)
            }
            let index = columns.firstIndex { $0.contains(operand) }
            return index.map { .output($0) } ?? .operand(operand)
        }
    }

    /// Sort keys, which name output columns or are typed, then the first columns that they do not
    /// name.
    private func outputOrder(
        _ keys: [SortKey], among columns: [TypedQuery.OutputColumn], first count: Int,
        type: (QueryExpression) throws(LarderError) -> TypedQuery.Order.Key
    ) throws(LarderError) -> [TypedQuery.Order] {
        var order: [TypedQuery.Order] = []
        var used: Set<Int> = []
        for (index, key) in keys.enumerated() {
            let named = columns.firstIndex { key.term == .format($0.name) }
            let typed: TypedQuery.Order.Key
            if let named {
                typed = .output(named)
            } else {
                typed = try type(value(key.term, named: Self.sortKeyName(index)))
            }
            switch typed {
            case .output(let output):
                guard used.insert(output).inserted else { continue }
                let column = columns[output]
                order.append(
                    try self.order(key, .output(output), column.type, "\"\(column.name)\""))
            case .operand(let operand):
                order.append(try self.order(key, .operand(operand), operand.type, operand.name))
            }
        }
        for output in 0..<count where !used.contains(output) {
            order.append(TypedQuery.Order(key: .output(output)))
        }
        return order
    }

    private static func sortKeyName(_ index: Int) -> String { "sort key \(index + 1)" }

    private func order(
        _ key: SortKey, _ typed: TypedQuery.Order.Key, _ type: OperandType?, _ name: String
    ) throws(LarderError) -> TypedQuery.Order {
        guard let type else {
            throw LarderError(
                .wrongType, "a sort key must depend on the object; an argument is constant")
        }
        guard key.stringOrder == .plain || type.isString else {
            throw LarderError(
                .wrongType,
                "only strings have a string order, and \(name) is \(type.nounWithArticle)")
        }
        return TypedQuery.Order(
            key: typed, isDescending: key.isDescending, nilComesFirst: key.nilComesFirst,
            stringOrder: key.stringOrder)
    }
}
