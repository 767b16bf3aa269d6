internal import CLarderProto
internal import LarderModel

// The messages `Batch`, `Identity` and `Column`, coded by hand: each array is one copy of the
// frame's bytes.

extension Batch {
    /// Decodes a batch and checks that its columns fit its rows.
    ///
    /// - Throws: `malformedMessage`, `resourceExhausted`.
    init(decoding bytes: RawSpan) throws(LarderError) {
        var fields = FieldScanner(bytes)
        self.init(columns: [])
        columns.reserveCapacity(
            try fields.count(of: 3, "columns in a batch", maximum: Batch.columnsMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): rowCount = Int(UInt32(truncatingIfNeeded: number))
            case (2, .bytes(let bytes)):
                guard identity == nil else { throw .repeated("the identity of a batch") }
                identity = try Identity(decoding: bytes)
            case (3, .bytes(let bytes)): columns.append(try Column(decoding: bytes))
            case (4, .bytes(let bytes)):
                prefetchPath =
                    bytes.isEmpty
                    ? nil
                    : try bytes.text(
                        "the prefetched key path", bytesMax: RawSpan.keyPathBytesMax)
            case (1...4, _): throw .unreadable
            default: break
            }
        }
        guard rowCount == 0 || identity != nil || !columns.isEmpty else {
            throw .malformed("the batch has rows but no columns")
        }
        try check()
    }

    /// The larger of what a query may group by and compute, and what an entity may have.
    private static let columnsMax = max(Limits.propertiesMax, 2 * Limits.queryColumnsMax)
}

extension Batch.Identity {
    fileprivate init(decoding bytes: RawSpan) throws(LarderError) {
        var entity = bytes.extracting(first: 0)
        self.init(entityName: "")
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): entity = bytes
            case (2, let content): try keys.append(decoding: content)
            case (3, let content): try versions.append(decoding: content)
            case (4, .bytes(let bytes)): try subentities.appendName(decoding: bytes)
            case (5, let content): try subentities.appendIndexes(decoding: content)
            case (1...5, _): throw .unreadable
            default: break
            }
        }
        entityName = try entity.name("the entity of a batch")
    }
}

extension Column {
    fileprivate init(decoding bytes: RawSpan) throws(LarderError) {
        var type = UInt32(0)
        var name = bytes.extracting(first: 0)
        var (entity, heap) = (name, name)
        var (integers, doubles, ends): ([Int64], [Double], [UInt32]) = ([], [], [])
        var (nulls, subentities): ([UInt8], Subentities) = ([], Subentities())
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .number(let number)): type = UInt32(truncatingIfNeeded: number)
            case (3, .bytes(let bytes)): entity = bytes
            case (4, let content): try integers.append(decoding: content)
            case (5, let content): try doubles.append(decoding: content)
            case (6, .bytes(let bytes)): heap = bytes
            case (7, let content): try ends.append(decoding: content)
            case (8, .bytes(let bytes)): nulls = bytes.array
            case (9, .bytes(let bytes)): try subentities.appendName(decoding: bytes)
            case (10, let content): try subentities.appendIndexes(decoding: content)
            case (1...10, _): throw .unreadable
            default: break
            }
        }
        let kind = try Kind(wireNumber: type, entity: entity)
        let storage: Storage =
            switch kind.form {
            case .integers: .integers(integers)
            case .doubles: .doubles(doubles)
            case .bytes: .bytes(heap: heap.array, ends: ends)
            case .lists: .lists(keys: integers, ends: ends)
            }
        self.init(
            name: try name.text("the name of a column"), kind: kind, storage: storage,
            nulls: nulls, subentities: subentities)
    }
}

extension Column.Kind {
    /// - Parameters:
    ///   - number: The number of a `ColumnType`.
    ///   - entity: The column's entity.
    init(wireNumber number: UInt32, entity: RawSpan) throws(LarderError) {
        let type = Larder__V1__ColumnType(rawValue: number)
        switch type {
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
            self = .object(entityName: try entity.name("the entity of a column"))
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS:
            self = .objects(entityName: try entity.name("the entity of a column"))
        default:
            guard let type = AttributeType.allCases.first(where: { $0.wire == type })
            else { throw .malformed("the column has no known type") }
            self = .attribute(type)
        }
    }
}

extension AttributeType {
    var wire: Larder__V1__ColumnType {
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

extension Subentities {
    fileprivate mutating func appendName(decoding bytes: RawSpan) throws(LarderError) {
        guard names.count < Limits.entitiesMax else {
            throw .tooMany(
                "subentities of a batch", names.count + 1, maximum: Limits.entitiesMax)
        }
        names.append(
            try bytes.text("the subentity of a batch", bytesMax: Limits.nameBytesMax))
    }

    fileprivate mutating func appendIndexes(
        decoding content: borrowing Field.Content
    ) throws(LarderError) {
        try content.forEachNumber { indexes.append(UInt32(truncatingIfNeeded: $0)) }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Appends numbers of fixed length: one, or several that are packed. `FieldWriter` checks that
    /// the machine is little-endian, as the numbers are.
    fileprivate mutating func append(
        decoding content: borrowing Field.Content
    ) throws(LarderError) {
        let size = MemoryLayout<Element>.size
        switch content {
        case .bytes(let packed) where packed.byteCount % size == 0: appendNumbers(packed)
        case .fixed(let number) where number.byteCount == size: appendNumbers(number)
        default: throw .unreadable
        }
    }

    private mutating func appendNumbers(_ bytes: RawSpan) {
        let size = MemoryLayout<Element>.size
        bytes.withUnsafeBytes { bytes in
            if isEmpty {
                self = Array(unsafeUninitializedCapacity: bytes.count / size) { memory, count in
                    UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
                    count = bytes.count / size
                }
                return
            }
            for offset in stride(from: 0, to: bytes.count, by: size) {
                append(bytes.loadUnaligned(fromByteOffset: offset, as: Element.self))
            }
        }
    }
}
