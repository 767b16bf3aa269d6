internal import CLarderProto
internal import LarderModel

extension Fetch {
    init(_ wire: Larder__V1__FetchQuery) throws(LarderError) {
        let columns = try ProtobufReader.list(
            wire.columns, wire.n_columns, "selected columns", maximum: Limits.queryColumnsMax,
            QueryColumn.init)
        self.init(
            try wire.entity.name("the entity of a query"),
            where: try QueryTerm.optional(wire.predicate, "a predicate"),
            sort: try SortKey.list(wire.sort, wire.n_sort),
            selection: try Selection(wire.selection, columns),
            isDistinct: wire.distinct != 0,
            prefetch: try ProtobufReader.texts(
                wire.prefetch, wire.n_prefetch, "prefetched key paths",
                maximum: Limits.prefetchedRelationshipsMax,
                bytesMax: RawSpan.keyPathBytesMax),
            includesSubentities: wire.exclude_subentities == 0)
    }
}

extension Fetch.Selection {
    init(_ wire: Larder__V1__Selection, _ columns: [QueryColumn]) throws(LarderError) {
        switch wire {
        case LARDER__V1__SELECTION__SELECTION_OBJECTS: self = .objects
        case LARDER__V1__SELECTION__SELECTION_IDENTIFIERS: self = .identifiers
        case LARDER__V1__SELECTION__SELECTION_COLUMNS: self = .columns(columns)
        case LARDER__V1__SELECTION__SELECTION_VALUES: self = .values(columns)
        default: throw .malformed("the fetch has no known selection")
        }
        guard self.columns.count == columns.count else {
            throw .malformed("the fetch has columns but does not select columns")
        }
    }
}

extension ProtobufWriter {
    func fetch(
        _ fetch: Fetch, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__FetchQuery> {
        let wire = make(larder__v1__fetch_query__init)
        wire.pointee.entity = text(fetch.entityName)
        wire.pointee.predicate = try term(fetch.predicate, &flattener)
        switch fetch.selection {
        case .objects:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_OBJECTS
        case .identifiers:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_IDENTIFIERS
        case .columns:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_COLUMNS
        case .values:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_VALUES
        }
        let columns = fetch.selection.columns
        wire.pointee.n_columns = columns.count
        wire.pointee.columns = try self.columns(columns, &flattener)
        wire.pointee.n_sort = fetch.sort.count
        wire.pointee.sort = try sort(fetch.sort, &flattener)
        wire.pointee.exclude_subentities = fetch.includesSubentities ? 0 : 1
        wire.pointee.distinct = fetch.isDistinct ? 1 : 0
        wire.pointee.n_prefetch = fetch.prefetch.count
        wire.pointee.prefetch = texts(fetch.prefetch)
        return wire
    }
}
