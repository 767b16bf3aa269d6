import FoundationEssentials

/// An aggregate over records, translated for the client.
struct RecordAggregate<Record: EntityRecord> {
    private var aggregate: Aggregate
    private var parameters: QueryParameters
    /// For each column whether objects are grouped by it.
    private var isGroup: [Bool] = []

    /// - Throws: `unsupportedPredicate`.
    init(
        where predicate: Predicate<Record.Fields>?, having: String?, sort: [SortKey], limit: Int?
    ) throws(LarderError) {
        aggregate = Aggregate(
            Record.entityName, [], having: having.map { .format($0) }, sort: sort)
        parameters = QueryParameters(limit: limit.map(Int64.init))
        if let predicate {
            let bound = try BoundExpression(predicate)
            parameters.arguments = bound.arguments
            aggregate.predicate = .tree(bound.expression)
        }
    }

    /// - Throws: `unsupportedPredicate`; `unsupported` for a group with a filter.
    mutating func append(_ column: ColumnExpression<Record>) throws(LarderError) {
        let name = column.name ?? "column \(isGroup.count + 1)"
        let term = try column.expression?.term(&parameters.arguments)
        isGroup.append(column.function == nil)
        if let function = column.function {
            var filter: QueryTerm?
            if let predicate = column.filter {
                let bound = try BoundExpression(
                    predicate, argumentsFrom: parameters.arguments.count)
                parameters.arguments += bound.arguments
                filter = .tree(bound.expression)
            }
            aggregate.columns.append(
                Aggregate.Column(function, term, where: filter, name: name))
        } else if let term {
            guard column.filter == nil else {
                throw LarderError(
                    .unsupported, "`\(name)` groups objects, so it cannot have a filter",
                    hint: "filter the objects with `where`, or a computed column with `filtered`")
            }
            aggregate.groupBy.append(QueryColumn(term, name: name))
        }
    }

    func rows(_ store: StoreClient) throws(LarderError) -> [AggregateRow] {
        try inOrderOfColumns(
            store.elements(.aggregate(aggregate), parameters) { $0.rows(store: $1) })
    }

    func rows(_ store: StoreClient) async throws(LarderError) -> [AggregateRow] {
        try inOrderOfColumns(
            await store.elements(.aggregate(aggregate), parameters) { $0.rows(store: $1) })
    }

    /// The store returns the groups first.
    private func inOrderOfColumns(_ rows: [Row]) throws(LarderError) -> [AggregateRow] {
        var indexes: [Int] = []
        var (group, value) = (0, aggregate.groupBy.count)
        for isGroup in isGroup {
            indexes.append(isGroup ? group : value)
            if isGroup { group += 1 } else { value += 1 }
        }
        guard rows.allSatisfy({ $0.values.count == indexes.count }) else {
            throw LarderError(
                .malformedMessage, "the server returned other columns than requested")
        }
        return rows.map { row in
            AggregateRow(
                names: indexes.map { row.names[$0] }, values: indexes.map { row.values[$0] })
        }
    }
}

/// A row of an aggregate, whose values are taken in the order of the columns.
struct AggregateRow {
    let names: [String]
    let values: [Value]
    private var index = 0

    init(names: [String], values: [Value]) {
        self.names = names
        self.values = values
    }

    /// - Throws: `wrongType` if the value is not of the column's type.
    mutating func next<Record: EntityRecord, Output: Sendable>(
        _ column: RecordColumn<Record, Output>
    ) throws(LarderError) -> Output {
        defer { index += 1 }
        if let output = column.decode(values[index]) { return output }
        throw LarderError(
            .wrongType,
            "`\(names[index])` of \(Record.entityName) is "
                + "\(values[index].kindWithArticle), not \(Output.self)"
        )
    }
}
