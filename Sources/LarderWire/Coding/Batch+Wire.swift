internal import CLarderProto
internal import LarderModel

extension Batch {
    /// Takes a batch over, its arrays by one copy each, and checks it as a whole.
    init(_ wire: Larder__V1__Batch) throws(LarderError) {
        self.init(
            rowCount: Int(wire.row_count),
            identity: try wire.identity.map { (identity) throws(LarderError) -> Identity in
                try Identity(identity.pointee)
            },
            columns: try MessageReader.list(
                wire.columns, wire.n_columns, "columns of a batch", maximum: Batch.columnsMax,
                Column.init),
            relatedBy: wire.related_by.len == 0
                ? nil
                : try wire.related_by.text(
                    "a prefetched key path", bytesMax: ProtobufCBinaryData.keyPathBytesMax))
        guard rowCount == 0 || identity != nil || !columns.isEmpty else {
            throw MessageReader.malformed("a batch has rows and no columns")
        }
        try check()
    }

    /// What a query may group by and compute, and what an entity may have.
    private static let columnsMax = max(Limits.propertiesMax, 2 * Limits.queryColumnsMax)
}

extension Batch.Identity {
    init(_ wire: Larder__V1__Identity) throws(LarderError) {
        self.init(
            entityName: try wire.entity.name("the entity of a batch"),
            keys: MessageReader.numbers(wire.keys, wire.n_keys),
            versions: MessageReader.numbers(wire.versions, wire.n_versions),
            subentities: try Subentities(
                names: (wire.subentities, wire.n_subentities),
                indexes: (wire.entity_indexes, wire.n_entity_indexes)))
    }
}

extension Subentities {
    init(
        names: (items: UnsafeMutablePointer<ProtobufCBinaryData>?, count: Int),
        indexes: (items: UnsafeMutablePointer<UInt32>?, count: Int)
    ) throws(LarderError) {
        self.init(
            names: try MessageReader.texts(
                names.items, names.count, "sub-entities of a batch", maximum: Limits.entitiesMax,
                bytesMax: Limits.nameBytesMax),
            indexes: MessageReader.numbers(indexes.items, indexes.count))
    }
}

extension Column {
    init(_ wire: Larder__V1__Column) throws(LarderError) {
        let kind = try Kind(wire)
        self.init(
            name: try wire.name.text("a column's name"), kind: kind,
            storage: Storage(wire, kind), nulls: Array(wire.nulls.bytes),
            subentities: try Subentities(
                names: (wire.subentities, wire.n_subentities),
                indexes: (wire.entity_indexes, wire.n_entity_indexes)))
    }
}

extension Column.Storage {
    /// The arrays that the kind uses; others are passed over.
    init(_ wire: Larder__V1__Column, _ kind: Column.Kind) {
        switch kind {
        case .attribute(.bool), .attribute(.int16), .attribute(.int32), .attribute(.int64), .object:
            self = .integers(MessageReader.numbers(wire.integers, wire.n_integers))
        case .attribute(.float), .attribute(.double), .attribute(.date):
            self = .doubles(MessageReader.numbers(wire.doubles, wire.n_doubles))
        case .objects:
            self = .lists(
                keys: MessageReader.numbers(wire.integers, wire.n_integers),
                ends: MessageReader.numbers(wire.ends, wire.n_ends))
        case .attribute(.decimal), .attribute(.string), .attribute(.uuid), .attribute(.url),
            .attribute(.data), .attribute(.json):
            self = .bytes(
                heap: Array(wire.heap.bytes), ends: MessageReader.numbers(wire.ends, wire.n_ends))
        }
    }
}

extension Column.Kind {
    init(_ wire: Larder__V1__Column) throws(LarderError) {
        switch wire.type {
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
            self = .object(entityName: try wire.entity.name("a column's entity"))
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS:
            self = .objects(entityName: try wire.entity.name("a column's entity"))
        default:
            guard let type = AttributeType.allCases.first(where: { $0.wireType == wire.type })
            else { throw MessageReader.malformed("a column has no type that is known") }
            self = .attribute(type)
        }
    }
}

extension AttributeType {
    var wireType: Larder__V1__ColumnType {
        switch self {
        case .bool: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_BOOL
        case .int16: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT16
        case .int32: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT32
        case .int64: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT64
        case .float: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_FLOAT
        case .double: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DOUBLE
        case .decimal: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DECIMAL
        case .string: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_STRING
        case .date: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATE
        case .uuid: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_UUID
        case .url: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_URL
        case .data: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATA
        case .json: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_JSON
        }
    }
}
