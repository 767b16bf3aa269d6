internal import CLarderProto
internal import LarderModel

// Batches are written straight from their arrays into the frame. protobuf-c would need a structure
// for each column and would visit all its fields twice.
//
// An element of a span is named at each use, because a function or variable that takes a whole
// batch or column would retain and release each of its arrays: 2,900 instructions per read.

extension Span where Element == Batch {
    /// The length of the message of one batch.
    @inline(__always)
    func messageByteCount(at index: Int) -> Int {
        var count =
            FieldWriter.byteCount(ofNumber: UInt64(UInt32(clamping: self[index].rowCount)))
            + FieldWriter.byteCount(ofBytes: self[index].prefetchPath?.utf8.count ?? 0)
        if !self[index].objects.entityName.isEmpty {
            count += FieldWriter.byteCount(ofMessage: identityByteCount(at: index))
        }
        let columns = self[index].columns
        for column in columns.indices {
            count += FieldWriter.byteCount(ofMessage: columns.span.messageByteCount(at: column))
        }
        return count
    }

    @inline(__always)
    private func identityByteCount(at index: Int) -> Int {
        var count =
            FieldWriter.byteCount(ofBytes: self[index].objects.entityName.utf8.count)
            + FieldWriter.byteCount(ofPacked: self[index].objects.keys)
            + FieldWriter.byteCount(ofPacked: self[index].objects.versions)
        if !self[index].objects.subentities.isEmpty {
            count += self[index].objects.subentities.fieldsByteCount
        }
        return count
    }

    /// Writes the fields of one batch.
    @inline(__always)
    func write(at index: Int, to writer: inout FieldWriter) {
        writer.text(4, self[index].prefetchPath ?? "")
        let columns = self[index].columns
        for column in columns.indices.reversed() {
            columns.span.write(at: column, as: 3, to: &writer)
        }
        if !self[index].objects.entityName.isEmpty {
            writeIdentity(at: index, as: 2, to: &writer)
        }
        writer.number(1, UInt64(UInt32(clamping: self[index].rowCount)))
    }

    @inline(__always)
    private func writeIdentity(at index: Int, as field: UInt8, to writer: inout FieldWriter) {
        let end = writer.freeByteCount
        if !self[index].objects.subentities.isEmpty {
            self[index].objects.subentities.write(names: 4, indexes: 5, to: &writer)
        }
        writer.packed(3, self[index].objects.versions)
        writer.packed(2, self[index].objects.keys)
        writer.text(1, self[index].objects.entityName)
        writer.endMessage(field, end - writer.freeByteCount)
    }
}

extension Span where Element == Column {
    /// The length of the message of one column.
    @inline(__always)
    fileprivate func messageByteCount(at index: Int) -> Int {
        var count =
            FieldWriter.byteCount(ofBytes: self[index].name.utf8.count)
            + FieldWriter.byteCount(ofNumber: UInt64(self[index].kind.wire.rawValue))
            + FieldWriter.byteCount(ofBytes: self[index].kind.entityName.utf8.count)
            + FieldWriter.byteCount(ofPacked: self[index].integers)
            + FieldWriter.byteCount(ofPacked: self[index].doubles)
            + FieldWriter.byteCount(ofPacked: self[index].heap)
            + FieldWriter.byteCount(ofPacked: self[index].ends)
            + FieldWriter.byteCount(ofPacked: self[index].nulls)
        if !self[index].subentities.isEmpty {
            count += self[index].subentities.fieldsByteCount
        }
        return count
    }

    @inline(__always)
    fileprivate func write(at index: Int, as field: UInt8, to writer: inout FieldWriter) {
        let end = writer.freeByteCount
        if !self[index].subentities.isEmpty {
            self[index].subentities.write(names: 9, indexes: 10, to: &writer)
        }
        writer.packed(8, self[index].nulls)
        writer.packed(7, self[index].ends)
        writer.packed(6, self[index].heap)
        writer.packed(5, self[index].doubles)
        writer.packed(4, self[index].integers)
        writer.text(3, self[index].kind.entityName)
        writer.number(2, UInt64(self[index].kind.wire.rawValue))
        writer.text(1, self[index].name)
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
