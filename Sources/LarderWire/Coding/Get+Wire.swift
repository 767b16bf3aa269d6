internal import CLarderProto
internal import LarderModel

/// Reads `get` requests field by field, without protobuf-c's structures in between.
///
/// Who asks for one object as a rule asks for the same properties of the same entity again and
/// again; so the texts of the last request are kept.
struct GetReader {
    private var entityNames = LastDecoded<String>()
    private var properties = LastDecoded<[String]>()

    mutating func request(_ body: UnsafeRawBufferPointer) throws(LarderError) -> Request {
        var fields = FieldScanner(body)
        let identifierCount = try fields.count(
            of: 1, "identifiers", maximum: Limits.identifiersMax)
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(identifierCount)
        var properties: [String]?
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                identifiers.append(try PersistentIdentifier(encoded: bytes, &entityNames))
            case (2, .bytes(let bytes)): properties = try names(bytes, behind: properties)
            case (1...2, _): throw FieldScanner.unreadable
            default: break
            }
        }
        return .get(identifiers, properties: properties)
    }

    /// The names in a list. If it stands there several times, protobuf has them one behind the
    /// other.
    private mutating func names(
        _ bytes: UnsafeRawBufferPointer, behind earlier: [String]?
    ) throws(LarderError) -> [String] {
        let names = try properties.value(of: bytes) { (bytes) throws(LarderError) in
            try Self.names(bytes)
        }
        guard let earlier, !earlier.isEmpty else { return names }
        let count = earlier.count + names.count
        guard count <= Limits.propertiesMax else {
            throw MessageReader.tooMany(Self.nameKind, count, maximum: Limits.propertiesMax)
        }
        return names.isEmpty ? earlier : earlier + names
    }

    private static func names(_ bytes: UnsafeRawBufferPointer) throws(LarderError) -> [String] {
        var fields = FieldScanner(bytes)
        let count = try fields.count(of: 1, nameKind, maximum: Limits.propertiesMax)
        var names: [String] = []
        names.reserveCapacity(count)
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                names.append(try bytes.text(nameKind, bytesMax: Limits.nameBytesMax))
            case (1, _): throw FieldScanner.unreadable
            default: break
            }
        }
        return names
    }

    private static let nameKind = "names of properties"
}

/// What was made of a field last, for when the same bytes come again.
struct LastDecoded<Value> {
    /// The bytes of a longer field are not kept.
    private static var bytesMax: Int { 1 << 10 }

    private var bytes: [UInt8] = []
    private var value: Value?

    mutating func value(
        of field: UnsafeRawBufferPointer,
        _ decode: (UnsafeRawBufferPointer) throws(LarderError) -> Value
    ) throws(LarderError) -> Value {
        if let value, bytes.withUnsafeBytes({ field.equals($0) }) { return value }
        let decoded = try decode(field)
        if field.count <= Self.bytesMax {
            bytes = Array(field)
            value = decoded
        }
        return decoded
    }
}

extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes; eight of them are looked at at once.
    fileprivate func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while place + 8 <= count {
            guard
                loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    == other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            else { return false }
            place += 8
        }
        while place < count {
            guard self[place] == other[place] else { return false }
            place += 1
        }
        return true
    }
}

extension MessageBytes {
    func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) {
        guard identifiers.count <= Limits.identifiersMax else {
            throw MessageReader.tooMany(
                "identifiers", identifiers.count, maximum: Limits.identifiersMax)
        }
        for object in identifiers { try identifier(1, object) }
        guard let properties else { return }
        try message(2) { for name in properties { present(1, name) } }
    }
}
