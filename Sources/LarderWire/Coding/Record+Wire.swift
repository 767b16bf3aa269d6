internal import FoundationEssentials
internal import LarderModel

extension Record {
    /// The object in a batch of one row that stands as encoders write it: each array packed, and
    /// the object of the entity that is named.
    ///
    /// - Returns: nil for any other batch, a faulty one too. It is to be read as a ``Batch``.
    init?(onlyRowOf bytes: UnsafeRawBufferPointer, store: UUID) {
        var fields = FieldScanner(bytes)
        guard
            let columnCount = try? fields.count(
                of: 3, "columns of an object", maximum: Limits.propertiesMax)
        else { return nil }
        var rowCount: UInt64 = 0
        var identity: (entityName: String, key: Int64, version: Int64)?
        var values = [String: Value](minimumCapacity: columnCount)
        while !fields.isAtEnd {
            guard let field = fields.next() else { return nil }
            switch (field.number, field.content) {
            case (1, .number(let number)): rowCount = number
            case (2, .bytes(let bytes)):
                guard identity == nil, let only = Self.onlyIdentity(in: bytes) else { return nil }
                identity = only
            case (3, .bytes(let bytes)):
                guard let (name, value) = Self.onlyValue(in: bytes, store) else { return nil }
                values[name] = value
            default: return nil
            }
        }
        guard rowCount == 1, let identity else { return nil }
        self.init(
            identifier: PersistentIdentifier(
                store: store, entityName: identity.entityName, key: identity.key),
            version: identity.version, values: values)
    }

    private static func onlyIdentity(
        in bytes: UnsafeRawBufferPointer
    ) -> (entityName: String, key: Int64, version: Int64)? {
        var fields = FieldScanner(bytes)
        var (entityName, key, version): (String?, Int64?, Int64?)
        while !fields.isAtEnd {
            switch fields.next() {
            case (1, .bytes(let bytes))? where entityName == nil:
                entityName = try? bytes.name("the entity of a batch")
            case (2, .bytes(let bytes))? where key == nil: key = bytes.only()
            case (3, .bytes(let bytes))? where version == nil: version = bytes.only()
            default: return nil
            }
        }
        guard let entityName, let key, let version else { return nil }
        return (entityName, key, version)
    }

    private static func onlyValue(
        in bytes: UnsafeRawBufferPointer, _ store: UUID
    ) -> (name: String, value: Value)? {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        var (type, name, entity) = (UInt32(0), nothing, nothing)
        var (integers, doubles, heap, ends, nulls) = (nothing, nothing, nothing, nothing, nothing)
        var fields = FieldScanner(bytes)
        while !fields.isAtEnd {
            switch fields.next() {
            case (1, .bytes(let bytes))?: name = bytes
            case (2, .number(let number))?: type = UInt32(truncatingIfNeeded: number)
            case (3, .bytes(let bytes))?: entity = bytes
            case (4, .bytes(let bytes))? where integers.isEmpty: integers = bytes
            case (5, .bytes(let bytes))? where doubles.isEmpty: doubles = bytes
            case (6, .bytes(let bytes))?: heap = bytes
            case (7, .bytes(let bytes))? where ends.isEmpty: ends = bytes
            case (8, .bytes(let bytes))?: nulls = bytes
            default: return nil
            }
        }
        guard nulls.count <= 1, let name = name.text,
            let kind = try? Column.Kind(type: type, entity: entity)
        else { return nil }
        let value: Value?
        switch kind {
        case .object(let entityName):
            guard doubles.isEmpty, ends.isEmpty else { return nil }
            value = integers.only().map {
                .object(PersistentIdentifier(store: store, entityName: entityName, key: $0))
            }
        case .objects(let entityName):
            guard doubles.isEmpty, ends.only() == UInt32(integers.count / 8),
                integers.count % 8 == 0
            else { return nil }
            value = .objects(
                stride(from: 0, to: integers.count, by: 8).map { place in
                    PersistentIdentifier(
                        store: store, entityName: entityName,
                        key: integers.loadUnaligned(fromByteOffset: place, as: Int64.self))
                })
        case .attribute(let type) where type.isNumber:
            guard ends.isEmpty, integers.isEmpty || doubles.isEmpty else { return nil }
            value = Value(type, integer: integers.only(), double: doubles.only())
        case .attribute(let type):
            guard integers.isEmpty, doubles.isEmpty, ends.only() == UInt32(heap.count) else {
                return nil
            }
            value = Value(type, heap)
        }
        guard let value else { return nil }
        return (name, nulls.first.map { $0 & 1 == 0 } ?? true ? value : .null)
    }
}

extension AttributeType {
    /// Whether a column of it has an array of numbers, and not a heap.
    fileprivate var isNumber: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .date: true
        case .decimal, .string, .uuid, .url, .data, .json: false
        }
    }
}

extension Value {
    /// What a number in a column means, in the array that is its type's.
    fileprivate init?(_ type: AttributeType, integer: Int64?, double: Double?) {
        switch (type, integer, double) {
        case (.bool, let integer?, _): self = .bool(integer != 0)
        case (.int16, let integer?, _), (.int32, let integer?, _), (.int64, let integer?, _):
            self = .int(integer)
        case (.float, _, let double?): self = .float(Float(double))
        case (.double, _, let double?): self = .double(double)
        case (.date, _, let double?): self = .date(Date(timeIntervalSinceReferenceDate: double))
        default: return nil
        }
    }

    /// What a row's part of a heap means.
    fileprivate init?(_ type: AttributeType, _ heap: UnsafeRawBufferPointer) {
        switch type {
        case .data: self = .data(Data(heap))
        case .uuid:
            guard heap.count == MemoryLayout<uuid_t>.size else { return nil }
            self = .uuid(UUID(uuid: heap.loadUnaligned(as: uuid_t.self)))
        default:
            guard let text = heap.text else { return nil }
            switch type {
            case .string: self = .string(text)
            case .json: self = .json(text)
            case .url:
                guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                    return nil
                }
                self = .url(url)
            case .decimal:
                guard let decimal = Decimal(exactly: text) else { return nil }
                self = .decimal(decimal)
            default: return nil
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The number in an array of one.
    fileprivate func only<Number: BitwiseCopyable>() -> Number? {
        count == MemoryLayout<Number>.size ? loadUnaligned(as: Number.self) : nil
    }
}
