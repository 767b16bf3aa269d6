internal import CLarderProto
internal import LarderModel

// A batch is read from where it stands in its frame: each array by one copy, without structures
// between. Fields that are not known are passed over; a field that is known and of another form
// than its own is refused.

extension Batch {
    /// Reads a batch, and checks it as a whole.
    ///
    /// - Throws: `malformedMessage`, `resourceExhausted`.
    init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        var fields = FieldScanner(bytes)
        self.init(columns: [])
        columns.reserveCapacity(
            try fields.count(of: 3, "columns of a batch", maximum: Batch.columnsMax))
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .number(let number)): rowCount = Int(UInt32(truncatingIfNeeded: number))
            case (2, .bytes(let bytes)):
                guard identity == nil else {
                    throw MessageReader.malformed("a batch has two identities")
                }
                identity = try Identity(encoded: bytes)
            case (3, .bytes(let bytes)): columns.append(try Column(encoded: bytes))
            case (4, .bytes(let bytes)):
                relatedBy =
                    bytes.isEmpty
                    ? nil
                    : try bytes.text(
                        "a prefetched key path", bytesMax: ProtobufCBinaryData.keyPathBytesMax)
            case (1...4, _): throw FieldScanner.unreadable
            default: break
            }
        }
        guard rowCount == 0 || identity != nil || !columns.isEmpty else {
            throw MessageReader.malformed("a batch has rows and no columns")
        }
        try check()
    }

    /// What a query may group by and compute, and what an entity may have.
    private static let columnsMax = max(Limits.propertiesMax, 2 * Limits.queryColumnsMax)
}

extension Batch.Identity {
    fileprivate init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        var entity = UnsafeRawBufferPointer(start: nil, count: 0)
        self.init(entityName: "")
        var fields = FieldScanner(bytes)
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): entity = bytes
            case (2, let content): try keys.append(encoded: content)
            case (3, let content): try versions.append(encoded: content)
            case (4, .bytes(let bytes)): try subentities.appendName(encoded: bytes)
            case (5, let content): try subentities.appendIndexes(encoded: content)
            case (1...5, _): throw FieldScanner.unreadable
            default: break
            }
        }
        entityName = try entity.name("the entity of a batch")
    }
}

extension Column {
    fileprivate init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        var (type, name, entity, heap) = (UInt32(0), nothing, nothing, nothing)
        var (integers, doubles, ends): ([Int64], [Double], [UInt32]) = ([], [], [])
        var (nulls, subentities): ([UInt8], Subentities) = ([], Subentities())
        var fields = FieldScanner(bytes)
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .number(let number)): type = UInt32(truncatingIfNeeded: number)
            case (3, .bytes(let bytes)): entity = bytes
            case (4, let content): try integers.append(encoded: content)
            case (5, let content): try doubles.append(encoded: content)
            case (6, .bytes(let bytes)): heap = bytes
            case (7, let content): try ends.append(encoded: content)
            case (8, .bytes(let bytes)): nulls = Array(bytes)
            case (9, .bytes(let bytes)): try subentities.appendName(encoded: bytes)
            case (10, let content): try subentities.appendIndexes(encoded: content)
            case (1...10, _): throw FieldScanner.unreadable
            default: break
            }
        }
        let kind = try Kind(type: type, entity: entity)
        let storage: Storage =
            switch kind.form {
            case .integers: .integers(integers)
            case .doubles: .doubles(doubles)
            case .bytes: .bytes(heap: Array(heap), ends: ends)
            case .lists: .lists(keys: integers, ends: ends)
            }
        self.init(
            name: try name.text("a column's name"), kind: kind, storage: storage, nulls: nulls,
            subentities: subentities)
    }
}

extension Column.Kind {
    /// - Parameters:
    ///   - type: The number of a `ColumnType`.
    ///   - entity: What the column names as the entity of its objects.
    init(type: UInt32, entity: UnsafeRawBufferPointer) throws(LarderError) {
        let type = Larder__V1__ColumnType(rawValue: type)
        switch type {
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
            self = .object(entityName: try entity.name("a column's entity"))
        case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS:
            self = .objects(entityName: try entity.name("a column's entity"))
        default:
            guard let type = AttributeType.allCases.first(where: { $0.wireType == type })
            else { throw MessageReader.malformed("a column has no type that is known") }
            self = .attribute(type)
        }
    }
}

extension Subentities {
    fileprivate mutating func appendName(
        encoded bytes: UnsafeRawBufferPointer
    ) throws(LarderError) {
        let what = "sub-entities of a batch"
        guard names.count < Limits.entitiesMax else {
            throw MessageReader.tooMany(what, names.count + 1, maximum: Limits.entitiesMax)
        }
        names.append(try bytes.text(what, bytesMax: Limits.nameBytesMax))
    }

    fileprivate mutating func appendIndexes(
        encoded content: FieldScanner.Content
    ) throws(LarderError) {
        try content.forEachNumber { indexes.append(UInt32(truncatingIfNeeded: $0)) }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Appends numbers of fixed size, one by itself or some that are packed. The bytes are in this
    /// machine's order, as they are wherever Larder runs.
    fileprivate mutating func append(encoded content: FieldScanner.Content) throws(LarderError) {
        let size = MemoryLayout<Element>.size
        let bytes: UnsafeRawBufferPointer
        switch content {
        case .bytes(let packed) where packed.count % size == 0: bytes = packed
        case .fixed(let number) where number.count == size: bytes = number
        default: throw FieldScanner.unreadable
        }
        let numberCount = bytes.count / size
        if isEmpty {
            self = Array(unsafeUninitializedCapacity: numberCount) { memory, count in
                UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
                count = numberCount
            }
        } else {
            for place in 0..<numberCount {
                append(bytes.loadUnaligned(fromByteOffset: place * size, as: Element.self))
            }
        }
    }
}
