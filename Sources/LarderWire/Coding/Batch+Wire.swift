internal import CLarderProto
internal import LarderModel

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

extension MessageWriter {
    func batches(
        _ batches: [Batch], more: Bool
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__BatchesReply> {
        let wire = make(larder__v1__batches_reply__init)
        wire.pointee.n_batches = batches.count
        wire.pointee.batches = try list(batches, batch)
        wire.pointee.more = more ? 1 : 0
        return wire
    }

    func batch(
        _ batch: Batch
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Batch> {
        let wire = make(larder__v1__batch__init)
        wire.pointee.row_count = UInt32(clamping: batch.rowCount)
        if let identity = batch.identity { wire.pointee.identity = self.identity(identity) }
        wire.pointee.n_columns = batch.columns.count
        wire.pointee.columns = try list(batch.columns, column)
        if let keyPath = batch.relatedBy { wire.pointee.related_by = text(keyPath) }
        return wire
    }

    private func identity(
        _ identity: Batch.Identity
    ) -> UnsafeMutablePointer<Larder__V1__Identity> {
        let wire = make(larder__v1__identity__init)
        wire.pointee.entity = text(identity.entityName)
        wire.pointee.n_keys = identity.keys.count
        wire.pointee.keys = pointing(at: identity.keys)
        wire.pointee.n_versions = identity.versions.count
        wire.pointee.versions = pointing(at: identity.versions)
        wire.pointee.n_subentities = identity.subentities.names.count
        wire.pointee.subentities = texts(identity.subentities.names)
        wire.pointee.n_entity_indexes = identity.subentities.indexes.count
        wire.pointee.entity_indexes = pointing(at: identity.subentities.indexes)
        return wire
    }

    private func column(_ column: Column) -> UnsafeMutablePointer<Larder__V1__Column> {
        let wire = make(larder__v1__column__init)
        wire.pointee.name = text(column.name)
        switch column.kind {
        case .attribute(let type):
            wire.pointee.type = type.wireType
        case .object(let entityName):
            wire.pointee.type = LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT
            wire.pointee.entity = text(entityName)
        case .objects(let entityName):
            wire.pointee.type = LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS
            wire.pointee.entity = text(entityName)
        }
        switch column.storage {
        case .integers(let integers):
            wire.pointee.n_integers = integers.count
            wire.pointee.integers = pointing(at: integers)
        case .doubles(let doubles):
            wire.pointee.n_doubles = doubles.count
            wire.pointee.doubles = pointing(at: doubles)
        case .bytes(let heap, let ends):
            wire.pointee.heap = pointing(at: heap)
            wire.pointee.n_ends = ends.count
            wire.pointee.ends = pointing(at: ends)
        case .lists(let keys, let ends):
            wire.pointee.n_integers = keys.count
            wire.pointee.integers = pointing(at: keys)
            wire.pointee.n_ends = ends.count
            wire.pointee.ends = pointing(at: ends)
        }
        wire.pointee.nulls = pointing(at: column.nulls)
        wire.pointee.n_subentities = column.subentities.names.count
        wire.pointee.subentities = texts(column.subentities.names)
        wire.pointee.n_entity_indexes = column.subentities.indexes.count
        wire.pointee.entity_indexes = pointing(at: column.subentities.indexes)
        return wire
    }
}
