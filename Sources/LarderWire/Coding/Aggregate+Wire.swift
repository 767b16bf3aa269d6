internal import CLarderProto
internal import LarderModel

extension Aggregate {
    init(_ wire: Larder__V1__AggregateQuery) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of a query"),
            where: try QueryPredicate.optional(wire.predicate),
            groupBy: try MessageReader.texts(
                wire.group_by, wire.n_group_by, "group keys", maximum: Limits.queryColumnsMax,
                bytesMax: ProtobufCBinaryData.keyPathBytesMax),
            try MessageReader.list(
                wire.columns, wire.n_columns, "columns of an aggregate",
                maximum: Limits.queryColumnsMax, Column.init),
            having: try QueryPredicate.optional(wire.having),
            sort: try SortKey.list(wire.sort, wire.n_sort))
    }
}

extension Aggregate.Column {
    init(_ wire: Larder__V1__AggregateColumn) throws(LarderError) {
        let function = try AggregateFunction(wire.function)
        let name = try wire.name.keyPath("the name of an aggregate's column")
        let keyPath =
            wire.key_path.len == 0 ? nil : try wire.key_path.keyPath("an aggregate's key path")
        guard keyPath != nil || function == .count else {
            throw MessageReader.malformed("the aggregate `\(function.rawValue)` has no key path")
        }
        self.init(function, keyPath, name: name)
    }
}

extension MessageWriter {
    func aggregate(
        _ aggregate: Aggregate, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__AggregateQuery> {
        let wire = make(larder__v1__aggregate_query__init)
        wire.pointee.entity = text(aggregate.entityName)
        wire.pointee.predicate = try predicate(aggregate.predicate, &flattener)
        wire.pointee.n_group_by = aggregate.groupBy.count
        wire.pointee.group_by = texts(aggregate.groupBy)
        wire.pointee.n_columns = aggregate.columns.count
        wire.pointee.columns = try list(aggregate.columns) { column in
            let item = make(larder__v1__aggregate_column__init)
            item.pointee.name = text(column.name)
            item.pointee.function = column.function.wireFunction
            item.pointee.key_path = text(column.keyPath ?? "")
            return item
        }
        wire.pointee.having = try predicate(aggregate.having, &flattener)
        wire.pointee.n_sort = aggregate.sort.count
        wire.pointee.sort = try sort(aggregate.sort)
        return wire
    }
}
