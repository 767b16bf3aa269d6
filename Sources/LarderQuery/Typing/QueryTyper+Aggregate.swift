import LarderModel

extension QueryTyper {
    func aggregate(_ aggregate: Aggregate) throws(LarderError) -> TypedQuery {
        try Self.checkCount(aggregate.groupBy.count + aggregate.columns.count, of: "columns")
        try Self.checkCount(aggregate.sort.count, of: "sort keys")
        guard !aggregate.columns.isEmpty || !aggregate.groupBy.isEmpty else {
            throw LarderError(.unsupported, "the aggregate has no column")
        }
        try Self.checkNames(aggregate.groupBy.map(\.name) + aggregate.columns.map(\.name))
        let predicate = try predicate(source.predicate(aggregate.predicate))
        var columns: [TypedQuery.OutputColumn] = []
        var groups: [TypedOperand] = []
        for (index, group) in aggregate.groupBy.enumerated() {
            let expression = try value(group.term, named: "group key \(index + 1)")
            let operand = try singleValue(expression) { path in
                manyObjects(path, "groups need")
            }
            groups.append(operand)
            columns.append(try outputColumn(group.name, operand))
        }
        for (index, column) in aggregate.columns.enumerated() {
            columns.append(try outputColumn(column.name, self.column(column, number: index + 1)))
        }
        let having = try source.predicate(aggregate.having, named: "having")
        let havingPredicate = try withOutputs(columns) { () throws(LarderError) in
            try self.predicate(having)
        }
        return TypedQuery(
            verb: .aggregate, entity: entity, includesSubentities: includesSubentities,
            predicate: predicate, groupBy: groups, having: havingPredicate, columns: columns,
            order: try groupOrder(aggregate, columns))
    }

    /// Types an expression over the outputs of an aggregate instead of its objects.
    func withOutputs<Result>(
        _ columns: [TypedQuery.OutputColumn], _ type: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        var outputs: [String: TypedOperand] = [:]
        for column in columns {
            if case .operand(let operand) = column.content { outputs[column.name] = operand }
        }
        self.outputs = outputs
        defer { self.outputs = nil }
        return try type()
    }

    private func manyObjects(_ path: TypedKeyPath, _ need: String) -> LarderError {
        LarderError(
            .wrongType,
            "the key path to \(path.name) leads to many objects; \(need) one value for each object")
    }

    private func column(
        _ column: Aggregate.Column, number: Int
    ) throws(LarderError) -> TypedOperand {
        guard column.name.utf8.count <= Limits.keyPathStepsMax * (Limits.nameBytesMax + 1) else {
            throw LarderError(
                .resourceExhausted, "a column's name is too long", hint: "give it a shorter one")
        }
        let function = column.function
        let term = try column.term.map { (term) throws(LarderError) in
            try value(term, named: "aggregate \(number)")
        }
        let filter = try source.predicate(column.filter, named: "filter \(number)")
        guard term != nil || function == .count else {
            throw LarderError(
                .unsupported, "\(function.rawValue) needs an expression",
                hint: "as in \(function.rawValue):KEYPATH")
        }
        guard let expression = term ?? filter.map({ _ in .constant(.int(1)) }) else {
            return .aggregate(.count, nil, .int64, name: column.name)
        }
        let counted = try singleValue(expression) { path in
            manyObjects(path, "\(function.rawValue) needs")
        }
        let (operand, type) = try Self.aggregated(counted, by: function)
        guard let filter else { return .aggregate(function, operand, type, name: column.name) }
        // The filter turns other values into nil, which is ignored.
        let filtered = TypedOperand.function(
            .conditional,
            [.predicate(try self.predicate(filter)), operand, .value(.null(named: operand.name))],
            operand.type ?? .int64, name: operand.name)
        return .aggregate(function, filtered, type, name: column.name)
    }
}
