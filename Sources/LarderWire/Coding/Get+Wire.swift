internal import CLarderProto
internal import LarderModel

/// Reads `get` requests field by field, without protobuf-c's structures in between.
///
/// Who asks for one object as a rule asks for the same properties of the same entity again and again;
/// so the texts of the last request are kept.
struct GetReader {
    private var entityName = LastDecoded<String>()
    private var properties = LastDecoded<[String]>()

    mutating func request(_ body: UnsafeRawBufferPointer) throws(LarderError) -> Request {
        var identifierCount = 0
        var properties: [String]?
        var fields = FieldScanner(body)
        while !fields.isAtEnd {
            guard let field = fields.next() else { throw MessageReader.unreadable }
            switch (field.number, field.content) {
            case (1, .bytes): identifierCount += 1
            case (2, .bytes(let bytes)):
                properties = try names(bytes, behind: properties)
            case (1, _), (2, _): throw MessageReader.unreadable
            default: break
            }
        }
        guard identifierCount <= Limits.identifiersMax else {
            throw MessageReader.tooMany(
                "identifiers", identifierCount, maximum: Limits.identifiersMax)
        }
        return .get(try identifiers(body, identifierCount), properties: properties)
    }

    private mutating func identifiers(
        _ body: UnsafeRawBufferPointer, _ count: Int
    ) throws(LarderError) -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(count)
        var fields = FieldScanner(body)
        while let field = fields.next() {
            guard case (1, .bytes(let bytes)) = field else { continue }
            identifiers.append(try identifier(bytes))
        }
        return identifiers
    }

    private mutating func identifier(
        _ bytes: UnsafeRawBufferPointer
    ) throws(LarderError) -> PersistentIdentifier {
        var wire = Larder__V1__Identifier()
        var fields = FieldScanner(bytes)
        while !fields.isAtEnd {
            guard let field = fields.next() else { throw MessageReader.unreadable }
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): wire.store = ProtobufCBinaryData(bytes)
            case (2, .bytes(let bytes)): wire.entity = ProtobufCBinaryData(bytes)
            case (3, .number(let number)):
                wire.name_case = LARDER__V1__IDENTIFIER__NAME_KEY
                wire.key = Int64(bitPattern: number)
            case (4, .bytes(let bytes)):
                wire.name_case = LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME
                wire.temporary_name = ProtobufCBinaryData(bytes)
            case (1...4, _): throw MessageReader.unreadable
            default: break
            }
        }
        let entityName = try entityName.value(of: wire.entity) { (wire) throws(LarderError) in
            try wire.name("the entity of an identifier")
        }
        return try PersistentIdentifier(wire, entityName: entityName)
    }

    /// The names in a list. If it stands there several times, protobuf has them one behind the
    /// other.
    private mutating func names(
        _ bytes: UnsafeRawBufferPointer, behind earlier: [String]?
    ) throws(LarderError) -> [String] {
        let names = try properties.value(of: ProtobufCBinaryData(bytes)) {
            (wire) throws(LarderError) in try Self.names(wire)
        }
        guard let earlier, !earlier.isEmpty else { return names }
        let count = earlier.count + names.count
        guard count <= Limits.propertiesMax else {
            throw MessageReader.tooMany(
                Self.nameKind, count, maximum: Limits.propertiesMax)
        }
        return names.isEmpty ? earlier : earlier + names
    }

    private static func names(_ wire: ProtobufCBinaryData) throws(LarderError) -> [String] {
        var names: [String] = []
        var fields = FieldScanner(UnsafeRawBufferPointer(wire.bytes))
        var count = 0
        while !fields.isAtEnd {
            guard let field = fields.next() else { throw MessageReader.unreadable }
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                count += 1
                guard count <= Limits.propertiesMax else { continue }
                names.append(
                    try ProtobufCBinaryData(bytes).text(nameKind, bytesMax: Limits.nameBytesMax))
            case (1, _): throw MessageReader.unreadable
            default: break
            }
        }
        guard count <= Limits.propertiesMax else {
            throw MessageReader.tooMany(nameKind, count, maximum: Limits.propertiesMax)
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
        of wire: ProtobufCBinaryData,
        _ decode: (ProtobufCBinaryData) throws(LarderError) -> Value
    ) throws(LarderError) -> Value {
        if let value, bytes.withUnsafeBytes({ UnsafeRawBufferPointer(wire.bytes).equals($0) }) {
            return value
        }
        let decoded = try decode(wire)
        if wire.len <= Self.bytesMax {
            bytes = Array(wire.bytes)
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

extension MessageWriter {
    func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__GetRequest> {
        guard identifiers.count <= Limits.identifiersMax else {
            throw MessageReader.tooMany(
                "identifiers", identifiers.count, maximum: Limits.identifiersMax)
        }
        let wire = make(larder__v1__get_request__init)
        wire.pointee.n_identifiers = identifiers.count
        wire.pointee.identifiers = try list(identifiers, identifier)
        if let properties {
            let names = make(larder__v1__property_names__init)
            names.pointee.n_names = properties.count
            names.pointee.names = texts(properties)
            wire.pointee.properties = names
        }
        return wire
    }
}
