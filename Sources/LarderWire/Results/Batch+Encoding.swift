internal import CLarderProto
internal import LarderModel

// Batches are written straight from their arrays into the frame. protobuf-c would need a structure
// for each column and would visit all its fields twice.

extension Batch {
    /// The length of the encoded message.
    var messageByteCount: Int {
        var count =
            FieldWriter.byteCount(ofNumber: UInt64(UInt32(clamping: rowCount)))
            + objects.fieldByteCount
            + FieldWriter.byteCount(ofBytes: prefetchPath?.utf8.count ?? 0)
        for index in columns.indices {
            count += FieldWriter.byteCount(ofMessage: columns[index].messageByteCount)
        }
        return count
    }

    func write(to writer: inout FieldWriter) {
        writer.text(4, prefetchPath ?? "")
        for index in columns.indices.reversed() { columns[index].write(as: 3, to: &writer) }
        objects.write(as: 2, to: &writer)
        writer.number(1, UInt64(UInt32(clamping: rowCount)))
    }
}

extension Batch.Identity {
    /// The length of the field; 0 for rows that are not objects.
    @inline(__always)
    fileprivate var fieldByteCount: Int {
        guard !entityName.isEmpty else { return 0 }
        return FieldWriter.byteCount(
            ofMessage: FieldWriter.byteCount(ofBytes: entityName.utf8.count)
                + FieldWriter.byteCount(ofPacked: keys) + FieldWriter.byteCount(ofPacked: versions)
                + (subentities.isEmpty ? 0 : subentities.fieldsByteCount))
    }

    @inline(__always)
    fileprivate func write(as field: UInt8, to writer: inout FieldWriter) {
        guard !entityName.isEmpty else { return }
        let end = writer.freeByteCount
        if !subentities.isEmpty { subentities.write(names: 4, indexes: 5, to: &writer) }
        writer.packed(3, versions)
        writer.packed(2, keys)
        writer.text(1, entityName)
        writer.endMessage(field, end - writer.freeByteCount)
    }
}

extension Column {
    @inline(__always)
    fileprivate var messageByteCount: Int {
        FieldWriter.byteCount(ofBytes: name.utf8.count)
            + FieldWriter.byteCount(ofNumber: UInt64(kind.wire.rawValue))
            + FieldWriter.byteCount(ofBytes: kind.entityName.utf8.count)
            + FieldWriter.byteCount(ofPacked: integers) + FieldWriter.byteCount(ofPacked: doubles)
            + FieldWriter.byteCount(ofPacked: heap) + FieldWriter.byteCount(ofPacked: ends)
            + FieldWriter.byteCount(ofPacked: nulls)
            + (subentities.isEmpty ? 0 : subentities.fieldsByteCount)
    }

    @inline(__always)
    fileprivate func write(as field: UInt8, to writer: inout FieldWriter) {
        let end = writer.freeByteCount
        if !subentities.isEmpty { subentities.write(names: 9, indexes: 10, to: &writer) }
        writer.packed(8, nulls)
        writer.packed(7, ends)
        writer.packed(6, heap)
        writer.packed(5, doubles)
        writer.packed(4, integers)
        writer.text(3, kind.entityName)
        writer.number(2, UInt64(kind.wire.rawValue))
        writer.text(1, name)
        writer.endMessage(field, end - writer.freeByteCount)
    }
}

extension Column.Kind {
    fileprivate var wire: Larder__V1__ColumnType {
        switch self {
        case .attribute(let type): type.wire
        case .object: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT
        case .objects: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS
        }
    }

    /// The entity of the objects that a column refers to; empty for an attribute.
    fileprivate var entityName: String {
        switch self {
        case .attribute: ""
        case .object(let entityName), .objects(let entityName): entityName
        }
    }
}

extension Subentities {
    /// The length of both fields.
    fileprivate var fieldsByteCount: Int {
        names.reduce(FieldWriter.byteCount(ofNumbers: indexes)) {
            $0 + FieldWriter.byteCount(ofMessage: $1.utf8.count)
        }
    }

    fileprivate func write(names: UInt8, indexes: UInt8, to writer: inout FieldWriter) {
        writer.numbers(indexes, self.indexes)
        for name in self.names.reversed() { writer.element(names, name) }
    }
}
