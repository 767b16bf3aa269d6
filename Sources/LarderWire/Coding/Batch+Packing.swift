internal import CLarderProto
internal import LarderModel

// Batches are packed by hand, straight from their arrays: protobuf-c would have each column laid out
// in a structure, and look at all its fields twice. The fields are those of `batch.proto`.

extension Batch {
    var packedByteCount: Int {
        var count = FieldWriter.byteCount(ofNumber: UInt64(UInt32(clamping: rowCount)))
        if let identity {
            count += FieldWriter.byteCount(ofMessage: identity.packedByteCount)
        }
        columns.withUnsafeBufferPointer { columns in
            for place in columns.indices {
                count += FieldWriter.byteCount(ofMessage: columns[place].packedByteCount)
            }
        }
        return count + FieldWriter.byteCount(ofBytes: relatedBy?.utf8.count ?? 0)
    }

    /// Writes it in front of what was written; it takes ``packedByteCount`` bytes.
    func pack(into writer: inout FieldWriter) {
        if let relatedBy { writer.text(4, relatedBy) }
        columns.withUnsafeBufferPointer { columns in
            for place in columns.indices.reversed() {
                let end = writer.freeByteCount
                columns[place].pack(into: &writer)
                writer.endMessage(3, end - writer.freeByteCount)
            }
        }
        if let identity {
            let end = writer.freeByteCount
            identity.pack(into: &writer)
            writer.endMessage(2, end - writer.freeByteCount)
        }
        writer.number(1, UInt64(UInt32(clamping: rowCount)))
    }
}

extension Batch.Identity {
    fileprivate var packedByteCount: Int {
        FieldWriter.byteCount(ofBytes: entityName.utf8.count)
            + FieldWriter.byteCount(ofBytes: keys.count * MemoryLayout<Int64>.size)
            + FieldWriter.byteCount(ofBytes: versions.count * MemoryLayout<Int64>.size)
            + subentities.packedByteCount
    }

    fileprivate func pack(into writer: inout FieldWriter) {
        subentities.pack(into: &writer, names: 4, indexes: 5)
        writer.array(3, versions)
        writer.array(2, keys)
        writer.text(1, entityName)
    }
}

extension Subentities {
    fileprivate var packedByteCount: Int {
        names.reduce(FieldWriter.byteCount(ofNumbers: indexes)) {
            $0 + FieldWriter.byteCount(ofMessage: $1.utf8.count)
        }
    }

    fileprivate func pack(into writer: inout FieldWriter, names field: UInt8, indexes: UInt8) {
        writer.numbers(indexes, self.indexes)
        for name in names.reversed() { writer.text(always: field, name) }
    }
}

extension Column {
    fileprivate var packedByteCount: Int {
        FieldWriter.byteCount(ofBytes: name.utf8.count)
            + FieldWriter.byteCount(ofNumber: UInt64(wireType.rawValue))
            + FieldWriter.byteCount(ofBytes: entityName?.utf8.count ?? 0)
            + FieldWriter.byteCount(ofBytes: integers.count * MemoryLayout<Int64>.size)
            + FieldWriter.byteCount(ofBytes: doubles.count * MemoryLayout<Double>.size)
            + FieldWriter.byteCount(ofBytes: heap.count)
            + FieldWriter.byteCount(ofBytes: ends.count * MemoryLayout<UInt32>.size)
            + FieldWriter.byteCount(ofBytes: nulls.count)
            + subentities.packedByteCount
    }

    fileprivate func pack(into writer: inout FieldWriter) {
        subentities.pack(into: &writer, names: 9, indexes: 10)
        writer.array(8, nulls)
        writer.array(7, ends)
        writer.array(6, heap)
        writer.array(5, doubles)
        writer.array(4, integers)
        if let entityName { writer.text(3, entityName) }
        writer.number(2, UInt64(wireType.rawValue))
        writer.text(1, name)
    }

    private var wireType: Larder__V1__ColumnType {
        switch kind {
        case .attribute(let type): type.wireType
        case .object: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT
        case .objects: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS
        }
    }

    /// Of the objects that the column refers to.
    private var entityName: String? {
        switch kind {
        case .attribute: nil
        case .object(let entityName), .objects(let entityName): entityName
        }
    }
}
