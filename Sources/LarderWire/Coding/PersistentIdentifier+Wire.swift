internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

extension UUID {
    init(_ bytes: UnsafeRawBufferPointer, _ what: String) throws(LarderError) {
        guard bytes.count == MemoryLayout<uuid_t>.size else {
            throw MessageReader.malformed("\(what) has \(bytes.count) bytes instead of 16")
        }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension PersistentIdentifier {
    /// The parts of an identifier as they stand in a message.
    private struct Parts {
        var store = UnsafeRawBufferPointer(start: nil, count: 0)
        var entity = UnsafeRawBufferPointer(start: nil, count: 0)
        // The one of these that came last.
        var key: Int64?
        var temporaryName: UnsafeRawBufferPointer?

        init(store: UnsafeRawBufferPointer, entity: UnsafeRawBufferPointer) {
            (self.store, self.entity) = (store, entity)
        }

        init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
            var fields = FieldScanner(bytes)
            while let field = try fields.field() {
                switch (field.number, field.content) {
                case (1, .bytes(let bytes)): store = bytes
                case (2, .bytes(let bytes)): entity = bytes
                case (3, .number(let number)):
                    (key, temporaryName) = (Int64(bitPattern: number), nil)
                case (4, .bytes(let bytes)): (key, temporaryName) = (nil, bytes)
                case (1...4, _): throw FieldScanner.unreadable
                default: break
                }
            }
        }
    }

    init(_ wire: Larder__V1__Identifier) throws(LarderError) {
        var parts = Parts(store: wire.store.bytes, entity: wire.entity.bytes)
        switch wire.name_case {
        case LARDER__V1__IDENTIFIER__NAME_KEY: parts.key = wire.key
        case LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME:
            parts.temporaryName = wire.temporary_name.bytes
        default: break
        }
        try self.init(parts)
    }

    init(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) {
        try self.init(Parts(encoded: bytes))
    }

    /// - Parameter entityNames: Has the name if it is that of the last identifier.
    init(
        encoded bytes: UnsafeRawBufferPointer, _ entityNames: inout LastDecoded<String>
    ) throws(LarderError) {
        let parts = try Parts(encoded: bytes)
        let entityName = try entityNames.value(of: parts.entity) { (bytes) throws(LarderError) in
            try bytes.name(Self.entityKind)
        }
        try self.init(parts, entityName: entityName)
    }

    private static let entityKind = "the entity of an identifier"

    private init(_ parts: Parts) throws(LarderError) {
        try self.init(parts, entityName: parts.entity.name(Self.entityKind))
    }

    private init(_ parts: Parts, entityName: String) throws(LarderError) {
        if let key = parts.key {
            guard key > 0 else {
                throw LarderError(.malformedIdentifier, "an identifier's key is less than 1")
            }
            let store = try UUID(parts.store, "the store of an identifier")
            self.init(store: store, entityName: entityName, key: key)
        } else if let name = parts.temporaryName {
            guard parts.store.isEmpty else {
                throw LarderError(.malformedIdentifier, "a temporary identifier names a store")
            }
            self.init(
                temporary: try name.name("a temporary identifier's name"), entityName: entityName)
        } else {
            throw LarderError(
                .malformedIdentifier, "an identifier has neither a key nor a temporary name")
        }
    }
}
