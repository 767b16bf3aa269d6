import LarderModel

extension QueryResolver {
    func aggregate(
        _ aggregate: Aggregate, where expression: QueryExpression?, having: QueryExpression?
    ) throws(LarderError) -> ResolvedQuery {
        try Self.checkCount(aggregate.groupBy.count + aggregate.columns.count, of: "columns")
        try Self.checkCount(aggregate.sort.count, of: "sort keys")
        guard !aggregate.columns.isEmpty || !aggregate.groupBy.isEmpty else {
            throw LarderError(.unsupported, "the aggregate has no column")
        }
        let names = aggregate.groupBy + aggregate.columns.map(\.name)
        try Self.checkNames(names)
        let predicate = try predicate(expression)
        var outputs: [PlanOperand] = []
        for text in aggregate.groupBy { outputs.append(try groupColumn(text)) }
        for column in aggregate.columns { outputs.append(try self.column(column)) }
        let havingPredicate = try self.having(having, over: zip(names, outputs))
        var columns: [ResolvedQuery.OutputColumn] = []
        for (name, output) in zip(names, outputs) {
            guard let type = output.type else { preconditionFailure("an output has a type") }
            columns.append(
                ResolvedQuery.OutputColumn(
                    name: name, kind: type.columnKind, content: .operand(output)))
        }
        let order = try Self.outputOrder(
            aggregate.sort, among: names, first: aggregate.groupBy.count
        ) { name in Self.unknownOutput(name, among: names) }
        return ResolvedQuery(
            verb: .aggregate, entityName: entity.name, sources: rootScope.sources,
            predicate: predicate, groupBy: Array(outputs.prefix(aggregate.groupBy.count)),
            having: havingPredicate, columns: columns, order: order)
    }

    private func having(
        _ expression: QueryExpression?, over outputs: some Sequence<(String, PlanOperand)>
    ) throws(LarderError) -> PlanPredicate {
        self.outputs = Dictionary(outputs, uniquingKeysWith: { first, _ in first })
        defer { self.outputs = nil }
        return try predicate(expression)
    }

    private func groupColumn(_ text: String) throws(LarderError) -> PlanOperand {
        let path = try keyPath(text)
        guard !path.isToMany else {
            throw LarderError(
                .wrongType,
                "the key path to \(path.name) leads to many objects; "
                    + "groups need one value for each object")
        }
        return try column(path)
    }

    private func column(_ column: Aggregate.Column) throws(LarderError) -> PlanOperand {
        guard column.name.utf8.count <= Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) else {
            throw LarderError(.resourceExhausted, "a column's name is too long")
        }
        guard let text = column.keyPath else {
            guard column.function == .count else {
                throw LarderError(
                    .unsupported, "\(column.function.rawValue) needs a key path",
                    hint: "as in \(column.function.rawValue):KEYPATH")
            }
            return .aggregate(.count, nil, .int64, name: column.name)
        }
        let path = try keyPath(text)
        guard !path.isToMany else {
            throw LarderError(
                .wrongType,
                "the key path to \(path.name) leads to many objects; "
                    + "\(column.function.rawValue) needs one value for each object")
        }
        let (operand, type) = try Self.aggregated(try self.column(path), by: column.function)
        return .aggregate(column.function, operand, type, name: column.name)
    }
}
