internal import FoundationEssentials
internal import LarderModel

extension Record {
    /// Decodes the object in a batch of one row, without the arrays of a ``Batch``.
    ///
    /// This is a fast path for a read of one object: it takes 8,000 instructions, and decoding a
    /// ``Batch`` takes 22,300. It is used only by ``EncodedBatches/records(store:)``, and
    /// decodes only what encoders write for one object of the named entity: packed arrays and no
    /// unknown fields.
    ///
    /// - Returns: nil for any other batch, and for a malformed one; decode it as a ``Batch``.
    init?(onlyRowOf bytes: RawSpan, store: UUID) {
        do throws(LarderError) {
            guard let record = try Self.onlyRow(of: bytes, store) else { return nil }
            self = record
        } catch {
            return nil
        }
    }

    private static func onlyRow(of bytes: RawSpan, _ store: UUID) throws(LarderError) -> Record? {
        var fields = FieldScanner(bytes)
        var rowCount: UInt64 = 0
        var identity: (entityName: String, key: Int64, version: Int64)?
        var values = [String: Value](
            minimumCapacity: try fields.count(
                of: 3, "columns of an object", maximum: Limits.propertiesMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): rowCount = number
            case (2, .bytes(let bytes)):
                guard identity == nil, let only = try onlyIdentity(in: bytes) else { return nil }
                identity = only
            case (3, .bytes(let bytes)):
                guard let (name, value) = try onlyValue(in: bytes, store) else { return nil }
                values[name] = value
            default: return nil
            }
        }
        guard rowCount == 1, let identity else { return nil }
        return Record(
            identifier: PersistentIdentifier(
                store: store, entityName: identity.entityName, key: identity.key),
            version: identity.version, values: values)
    }

    private static func onlyIdentity(
        in bytes: RawSpan
    ) throws(LarderError) -> (entityName: String, key: Int64, version: Int64)? {
        var fields = FieldScanner(bytes)
        var (entityName, key, version): (String?, Int64?, Int64?)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)) where entityName == nil:
                entityName = try bytes.name("the entity of a batch")
            case (2, .bytes(let bytes)) where key == nil: key = bytes.only()
            case (3, .bytes(let bytes)) where version == nil: version = bytes.only()
            default: return nil
            }
        }
        guard let entityName, let key, let version else { return nil }
        return (entityName, key, version)
    }

    private static func onlyValue(
        in bytes: RawSpan, _ store: UUID
    ) throws(LarderError) -> (name: String, value: Value)? {
        var type = UInt32(0)
        var name = bytes.extracting(first: 0)
        var (entity, integers, doubles, heap) = (name, name, name, name)
        var (ends, nulls) = (name, name)
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): name = bytes
            case (2, .number(let number)): type = UInt32(truncatingIfNeeded: number)
            case (3, .bytes(let bytes)): entity = bytes
            case (4, .bytes(let bytes)) where integers.isEmpty: integers = bytes
            case (5, .bytes(let bytes)) where doubles.isEmpty: doubles = bytes
            case (6, .bytes(let bytes)): heap = bytes
            case (7, .bytes(let bytes)) where ends.isEmpty: ends = bytes
            case (8, .bytes(let bytes)): nulls = bytes
            default: return nil
            }
        }
        guard nulls.byteCount <= 1, let name = name.text else { return nil }
        let value: Value?
        switch try Column.Kind(wireNumber: type, entity: entity) {
        case .object(let entityName):
            guard doubles.isEmpty, ends.isEmpty else { return nil }
            value = integers.only().map {
                .object(PersistentIdentifier(store: store, entityName: entityName, key: $0))
            }
        case .objects(let entityName):
            // The lengths fit, because they are those of parts of a frame.
            guard doubles.isEmpty, integers.byteCount % 8 == 0,
                ends.only() == UInt32(integers.byteCount / 8)
            else { return nil }
            value = .objects(integers.identifiers(entityName, store))
        case .attribute(let type) where type.isNumber:
            guard ends.isEmpty, integers.isEmpty || doubles.isEmpty else { return nil }
            value = Value(type, integer: integers.only(), double: doubles.only())
        case .attribute(let type):
            // The length fits, too.
            guard integers.isEmpty, doubles.isEmpty, ends.only() == UInt32(heap.byteCount) else {
                return nil
            }
            value = Value(type, heap)
        }
        guard let value else { return nil }
        return (name, nulls.isEmpty || nulls[0] & 1 == 0 ? value : .null)
    }
}

extension AttributeType {
    /// Whether a column of the type has an array of numbers, and not a heap.
    fileprivate var isNumber: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .date: true
        case .decimal, .string, .uuid, .url, .data, .json: false
        }
    }
}

extension Value {
    /// The value of a number in a column, from the array that the type uses.
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

    /// The value of a row's part of a heap.
    fileprivate init?(_ type: AttributeType, _ heap: RawSpan) {
        switch type {
        case .data: self = .data(heap.data)
        case .uuid:
            guard let uuid = try? heap.uuid("a UUID") else { return nil }
            self = .uuid(uuid)
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

extension RawSpan {
    /// The number in an array of one; nil for any other length.
    fileprivate func only<Number: BitwiseCopyable>() -> Number? {
        byteCount == MemoryLayout<Number>.size ? unsafeLoadUnaligned(as: Number.self) : nil
    }

    /// The objects whose keys are in an array.
    fileprivate func identifiers(_ entityName: String, _ store: UUID) -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(byteCount / 8)
        for offset in stride(from: 0, to: byteCount, by: 8) {
            let key = unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self)
            identifiers.append(
                PersistentIdentifier(store: store, entityName: entityName, key: key))
        }
        return identifiers
    }
}
