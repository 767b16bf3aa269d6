internal import FoundationEssentials
internal import LarderModel

// The message `Identifier`.

extension PersistentIdentifier {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var store = bytes.extracting(first: 0)
        var entity = store
        // The last one of the two applies.
        var key: Int64?
        var temporaryName = store
        var isTemporary = false
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): store = bytes
            case (2, .bytes(let bytes)): entity = bytes
            case (3, .number(let number)): (key, isTemporary) = (Int64(bitPattern: number), false)
            case (4, .bytes(let bytes)):
                (key, isTemporary) = (nil, true)
                temporaryName = bytes
            case (1...4, _): throw .unreadable
            default: break
            }
        }
        let entityName = try entity.name("the entity of an identifier")
        if let key {
            guard key > 0 else {
                throw LarderError(.malformedIdentifier, "the key of an identifier is less than 1")
            }
            self.init(
                store: try store.uuid("the store of an identifier"), entityName: entityName,
                key: key)
        } else if isTemporary {
            guard store.isEmpty else {
                throw LarderError(.malformedIdentifier, "the temporary identifier names a store")
            }
            self.init(
                temporary: try temporaryName.name("the name of a temporary identifier"),
                entityName: entityName)
        } else {
            throw LarderError(
                .malformedIdentifier, "the identifier has neither a key nor a temporary name")
        }
    }
}

extension MessageBuffer {
    func identifier(_ field: UInt32, _ identifier: PersistentIdentifier) throws(LarderError) {
        try message(field) {
            if let store = identifier.store {
                withUnsafeBytes(of: store.uuid) { element(1, $0) }
            }
            text(2, identifier.entityName)
            switch identifier.key {
            case .permanent(let key): member(3, UInt64(bitPattern: key))
            case .temporary(let name): element(4, name)
            }
        }
    }
}
