internal import FoundationEssentials
internal import LarderModel

// Change sets as nearly all are, read straight from their bytes: for protobuf-c an insert of three
// values is eight messages with a table each, which took as long as all else in the decoding.
//
// What is seldom there (edits, changes by predicate, lists), what has a field twice or one that is
// not known, and what is wrong gives nil: then protobuf-c reads the set, and says what is wrong.

extension ChangeSet {
    init?(plain bytes: UnsafeRawBufferPointer) {
        var fields = FieldScanner(bytes)
        var changes: [Change] = []
        var policy = UniqueConflictPolicy?.none
        var (author, key) = (String?.none, String?.none)
        while !fields.isAtEnd {
            guard let field = fields.next() else { return nil }
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                guard changes.count < Limits.changesMax, let change = Change(plain: bytes)
                else { return nil }
                changes.append(change)
            case (2, .number(1)) where policy == nil: policy = .upsert
            case (4, .bytes(let bytes)) where author == nil:
                author = bytes.count <= Limits.authorBytesMax ? bytes.text : nil
                if author == nil { return nil }
            case (5, .bytes(let bytes)) where key == nil:
                key = bytes.count <= Limits.idempotencyKeyBytesMax ? bytes.text : nil
                if key == nil { return nil }
            default: return nil
            }
        }
        self.init(
            changes, onUniqueConflict: policy ?? .error, author: author ?? "",
            idempotencyKey: key ?? "")
    }
}

extension Change {
    fileprivate init?(plain bytes: UnsafeRawBufferPointer) {
        var fields = FieldScanner(bytes)
        var kind: UInt64 = 0
        var identifier: PersistentIdentifier?
        var version: Int64?
        var values: [String: Value] = [:]
        while !fields.isAtEnd {
            guard let field = fields.next() else { return nil }
            switch (field.number, field.content) {
            case (1, .number(let number)) where kind == 0: kind = number
            case (2, .bytes(let bytes)) where identifier == nil:
                identifier = PersistentIdentifier(plain: bytes)
                if identifier == nil { return nil }
            case (3, .number(let number)) where version == nil:
                version = Int64(bitPattern: number)
            case (4, .bytes(let bytes)):
                if values.isEmpty,
                    let others = try? fields.count(
                        of: 4, "values", maximum: Limits.propertiesMax)
                {
                    values = Dictionary(minimumCapacity: 1 + others)
                }
                guard values.count < Limits.propertiesMax,
                    let (name, value) = Self.property(bytes),
                    values.updateValue(value, forKey: name) == nil
                else { return nil }
            default: return nil
            }
        }
        guard let identifier else { return nil }
        switch kind {
        case 1 where version == nil: self = .insert(identifier, values: values)
        case 2: self = .update(identifier, ifVersion: version, values: values)
        case 3 where values.isEmpty: self = .delete(identifier, ifVersion: version)
        default: return nil
        }
    }

    private static func property(_ bytes: UnsafeRawBufferPointer) -> (String, Value)? {
        var fields = FieldScanner(bytes)
        guard let first = fields.next(), first.number == 1, case .bytes(let name) = first.content,
            let second = fields.next(), second.number == 2,
            case .bytes(let value) = second.content, fields.isAtEnd,
            let name = name.plainName, let value = Value(plain: value)
        else { return nil }
        return (name, value)
    }
}

extension PersistentIdentifier {
    fileprivate init?(plain bytes: UnsafeRawBufferPointer) {
        var fields = FieldScanner(bytes)
        var store: UUID?
        var entityName: String?
        while !fields.isAtEnd {
            guard let field = fields.next() else { return nil }
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)) where store == nil && bytes.count == 16:
                store = UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
            case (2, .bytes(let bytes)) where entityName == nil: entityName = bytes.plainName
            case (3, .number(let key)):
                // The name comes last, as it is written, or protobuf-c reads it.
                guard let store, let entityName, key > 0, fields.isAtEnd,
                    let key = Int64(exactly: key)
                else { return nil }
                self.init(store: store, entityName: entityName, key: key)
                return
            case (4, .bytes(let bytes)):
                guard store == nil, let entityName, fields.isAtEnd, let name = bytes.plainName
                else { return nil }
                self.init(temporary: name, entityName: entityName)
                return
            default: return nil
            }
        }
        return nil
    }
}

extension Value {
    fileprivate init?(plain bytes: UnsafeRawBufferPointer) {
        var fields = FieldScanner(bytes)
        guard let field = fields.next(), fields.isAtEnd else { return nil }
        switch (field.number, field.content) {
        case (1, .number): self = .null
        case (2, .number(let number)) where number <= 1: self = .bool(number == 1)
        case (3, .number(let number)):
            // Zigzag: the sign is the lowest bit.
            self = .int(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
        case (4, .fixed(let bytes)) where bytes.count == 4:
            let float = Float(
                bitPattern: UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            if float.isNaN { return nil }
            self = .float(float)
        case (5, .fixed(let bytes)) where bytes.count == 8:
            let double = bytes.double
            if double.isNaN { return nil }
            self = .double(double)
        case (7, .bytes(let bytes)):
            guard let text = bytes.text else { return nil }
            self = .string(text)
        case (8, .fixed(let bytes)) where bytes.count == 8:
            let seconds = bytes.double
            guard seconds.isFinite else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (9, .bytes(let bytes)) where bytes.count == 16:
            self = .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case (11, .bytes(let bytes)): self = .data(Data(bytes))
        case (13, .bytes(let bytes)):
            guard let identifier = PersistentIdentifier(plain: bytes) else { return nil }
            self = .object(identifier)
        case (6, .bytes(let bytes)):
            guard let text = bytes.text, let decimal = Decimal(exactly: text) else { return nil }
            self = .decimal(decimal)
        case (10, .bytes(let bytes)):
            guard let text = bytes.text,
                let url = URL(string: text, encodingInvalidCharacters: false)
            else { return nil }
            self = .url(url)
        case (12, .bytes(let bytes)):
            guard let text = bytes.text, let json = try? Value.json(checking: text)
            else { return nil }
            self = json
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Of eight bytes.
    fileprivate var double: Double {
        Double(bitPattern: UInt64(littleEndian: loadUnaligned(as: UInt64.self)))
    }

    /// As the name of an entity or a property; nil if it cannot be one.
    fileprivate var plainName: String? {
        count > 0 && count <= Limits.nameBytesMax ? text : nil
    }
}
