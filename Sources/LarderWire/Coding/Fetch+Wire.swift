internal import CLarderProto
internal import LarderModel

extension Fetch {
    init(_ wire: Larder__V1__FetchQuery) throws(LarderError) {
        let keyPaths = try MessageReader.texts(
            wire.key_paths, wire.n_key_paths, "selected key paths", maximum: Limits.queryColumnsMax,
            bytesMax: ProtobufCBinaryData.keyPathBytesMax)
        self.init(
            try wire.entity.name("the entity of a query"),
            where: try QueryPredicate.optional(wire.predicate),
            sort: try SortKey.list(wire.sort, wire.n_sort),
            selection: try Selection(wire.selection, keyPaths),
            isDistinct: wire.distinct != 0)
    }
}

extension Fetch.Selection {
    init(_ wire: Larder__V1__Selection, _ keyPaths: [String]) throws(LarderError) {
        switch wire {
        case LARDER__V1__SELECTION__SELECTION_OBJECTS: self = .objects
        case LARDER__V1__SELECTION__SELECTION_IDENTIFIERS: self = .identifiers
        case LARDER__V1__SELECTION__SELECTION_KEY_PATHS: self = .keyPaths(keyPaths)
        default: throw MessageReader.malformed("a fetch has no selection that is known")
        }
        guard keyPaths.isEmpty || self == .keyPaths(keyPaths) else {
            throw MessageReader.malformed("a fetch lists key paths and does not select them")
        }
    }
}

extension MessageWriter {
    func fetch(
        _ fetch: Fetch, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__FetchQuery> {
        let wire = make(larder__v1__fetch_query__init)
        wire.pointee.entity = text(fetch.entityName)
        wire.pointee.predicate = try predicate(fetch.predicate, &flattener)
        wire.pointee.n_sort = fetch.sort.count
        wire.pointee.sort = try sort(fetch.sort)
        switch fetch.selection {
        case .objects:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_OBJECTS
        case .identifiers:
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_IDENTIFIERS
        case .keyPaths(let keyPaths):
            wire.pointee.selection = LARDER__V1__SELECTION__SELECTION_KEY_PATHS
            wire.pointee.n_key_paths = keyPaths.count
            wire.pointee.key_paths = texts(keyPaths)
        }
        wire.pointee.distinct = fetch.isDistinct ? 1 : 0
        return wire
    }
}
