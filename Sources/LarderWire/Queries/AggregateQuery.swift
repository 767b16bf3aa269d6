internal import CLarderProto
internal import LarderModel

extension Aggregate {
    init(_ wire: Larder__V1__AggregateQuery) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of a query"),
            where: try QueryTerm.optional(wire.predicate, "a predicate"),
            groupBy: try ProtobufReader.list(
                wire.group_by, wire.n_group_by, "group keys", maximum: Limits.queryColumnsMax,
                QueryColumn.init),
            try ProtobufReader.list(
                wire.columns, wire.n_columns, "aggregate columns",
                maximum: Limits.queryColumnsMax, Column.init),
            having: try QueryTerm.optional(wire.having, "a predicate"),
            sort: try SortKey.list(wire.sort, wire.n_sort),
            includesSubentities: wire.exclude_subentities == 0)
    }
}

extension Aggregate.Column {
    init(_ wire: Larder__V1__AggregateColumn) throws(LarderError) {
        let function = try AggregateFunction(wire.function)
        let term = try QueryTerm.optional(wire.term, "the term of an aggregate")
        guard term != nil || function == .count else {
            throw .malformed("the aggregate `\(function.rawValue)` has no term")
        }
        self.init(
            function, term,
            where: try QueryTerm.optional(wire.filter, "the filter of an aggregate"),
            name: try wire.name.columnName("the name of an aggregate column"))
    }
}

extension ProtobufWriter {
    func aggregate(
        _ aggregate: Aggregate, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__AggregateQuery> {
        let wire = make(larder__v1__aggregate_query__init)
        wire.pointee.entity = text(aggregate.entityName)
        wire.pointee.predicate = try term(aggregate.predicate, &flattener)
        wire.pointee.n_group_by = aggregate.groupBy.count
        wire.pointee.group_by = try columns(aggregate.groupBy, &flattener)
        var items: [UnsafeMutablePointer<Larder__V1__AggregateColumn>] = []
        for column in aggregate.columns {
            let item = make(larder__v1__aggregate_column__init)
            item.pointee.name = text(column.name)
            item.pointee.function = column.function.wireFunction
            item.pointee.term = try term(column.term, &flattener)
            item.pointee.filter = try term(column.filter, &flattener)
            items.append(item)
        }
        wire.pointee.n_columns = items.count
        wire.pointee.columns = try list(items) { $0 }
        wire.pointee.having = try term(aggregate.having, &flattener)
        wire.pointee.n_sort = aggregate.sort.count
        wire.pointee.sort = try sort(aggregate.sort, &flattener)
        wire.pointee.exclude_subentities = aggregate.includesSubentities ? 0 : 1
        return wire
    }
}
