internal import CLarderProto
internal import LarderModel

// Batches are packed by hand, straight from their arrays: protobuf-c would have each column laid
// out in a structure, and look at all its fields twice. The fields are those of `batch.proto`.
//
// What is written is a list of places and not the batch: to pass on a batch, or a column, is to
// retain and release each of its arrays.

extension Subentities {
    fileprivate var byteCount: Int {
        names.reduce(FieldWriter.byteCount(ofNumbers: indexes)) {
            $0 + FieldWriter.byteCount(ofMessage: $1.utf8.count)
        }
    }

    fileprivate func pack(names: UInt8, indexes: UInt8, into writer: inout FieldWriter) {
        writer.numbers(indexes, self.indexes)
        for name in self.names.reversed() { writer.text(always: names, name) }
    }
}

extension Column.Kind {
    fileprivate var wireType: Larder__V1__ColumnType {
        switch self {
        case .attribute(let type): type.wireType
        case .object: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT
        case .objects: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS
        }
    }

    /// Of the objects that a column refers to; otherwise empty.
    fileprivate var entityName: String {
        switch self {
        case .attribute: ""
        case .object(let entityName), .objects(let entityName): entityName
        }
    }
}

/// Where the parts of a batch are. Whoever makes it keeps the batch, unchanged, for as long as it
/// is used.
struct BatchFields {
    private let rowCount: UInt32
    /// Of no entity where the rows are no objects.
    private let objects: IdentityFields
    private let columns: UnsafeBufferPointer<Column>
    /// Empty for none.
    private let relatedBy: String

    @inline(__always)
    init(_ batch: Batch) {
        rowCount = UInt32(clamping: batch.rowCount)
        objects = IdentityFields(batch.objects)
        columns = batch.columns.withUnsafeBufferPointer { $0 }
        relatedBy = batch.relatedBy ?? ""
    }

    var byteCount: Int {
        var count =
            FieldWriter.byteCount(ofNumber: UInt64(rowCount)) + objects.byteCount
            + FieldWriter.byteCount(ofBytes: relatedBy.utf8.count)
        for place in columns.indices {
            count += FieldWriter.byteCount(ofMessage: ColumnFields(columns[place]).byteCount)
        }
        return count
    }

    func pack(as field: UInt8, into writer: inout FieldWriter) {
        let end = writer.freeByteCount
        pack(into: &writer)
        writer.endMessage(field, end - writer.freeByteCount)
    }

    /// It takes ``byteCount`` bytes.
    func pack(into writer: inout FieldWriter) {
        writer.text(4, relatedBy)
        for place in columns.indices.reversed() {
            ColumnFields(columns[place]).pack(as: 3, into: &writer)
        }
        objects.pack(as: 2, into: &writer)
        writer.number(1, UInt64(rowCount))
    }
}

private struct IdentityFields {
    private let entityName: String
    private let keys: UnsafeRawBufferPointer
    private let versions: UnsafeRawBufferPointer
    private let subentities: Subentities?

    @inline(__always)
    init(_ identity: Batch.Identity) {
        entityName = identity.entityName
        keys = identity.keys.withUnsafeBytes { $0 }
        versions = identity.versions.withUnsafeBytes { $0 }
        subentities = identity.subentities.isEmpty ? nil : identity.subentities
    }

    /// As a field.
    var byteCount: Int {
        guard !entityName.isEmpty else { return 0 }
        return FieldWriter.byteCount(
            ofMessage: FieldWriter.byteCount(ofBytes: entityName.utf8.count)
                + FieldWriter.byteCount(ofBytes: keys.count)
                + FieldWriter.byteCount(ofBytes: versions.count)
                + (subentities?.byteCount ?? 0))
    }

    func pack(as field: UInt8, into writer: inout FieldWriter) {
        guard !entityName.isEmpty else { return }
        let end = writer.freeByteCount
        subentities?.pack(names: 4, indexes: 5, into: &writer)
        writer.bytes(3, versions)
        writer.bytes(2, keys)
        writer.text(1, entityName)
        writer.endMessage(field, end - writer.freeByteCount)
    }
}

private struct ColumnFields {
    private let name: String
    private let kind: Column.Kind
    private let integers: UnsafeRawBufferPointer
    private let doubles: UnsafeRawBufferPointer
    private let heap: UnsafeRawBufferPointer
    private let ends: UnsafeRawBufferPointer
    private let nulls: UnsafeRawBufferPointer
    private let subentities: Subentities?

    @inline(__always)
    init(_ column: Column) {
        name = column.name
        kind = column.kind
        integers = column.integers.withUnsafeBytes { $0 }
        doubles = column.doubles.withUnsafeBytes { $0 }
        heap = column.heap.withUnsafeBytes { $0 }
        ends = column.ends.withUnsafeBytes { $0 }
        nulls = column.nulls.withUnsafeBytes { $0 }
        subentities = column.subentities.isEmpty ? nil : column.subentities
    }

    @inline(__always)
    var byteCount: Int {
        FieldWriter.byteCount(ofBytes: name.utf8.count)
            + FieldWriter.byteCount(ofNumber: UInt64(kind.wireType.rawValue))
            + FieldWriter.byteCount(ofBytes: kind.entityName.utf8.count)
            + FieldWriter.byteCount(ofBytes: integers.count)
            + FieldWriter.byteCount(ofBytes: doubles.count)
            + FieldWriter.byteCount(ofBytes: heap.count)
            + FieldWriter.byteCount(ofBytes: ends.count)
            + FieldWriter.byteCount(ofBytes: nulls.count)
            + (subentities?.byteCount ?? 0)
    }

    @inline(__always)
    func pack(as field: UInt8, into writer: inout FieldWriter) {
        let end = writer.freeByteCount
        subentities?.pack(names: 9, indexes: 10, into: &writer)
        writer.bytes(8, nulls)
        writer.bytes(7, ends)
        writer.bytes(6, heap)
        writer.bytes(5, doubles)
        writer.bytes(4, integers)
        writer.text(3, kind.entityName)
        writer.number(2, UInt64(kind.wireType.rawValue))
        writer.text(1, name)
        writer.endMessage(field, end - writer.freeByteCount)
    }
}
