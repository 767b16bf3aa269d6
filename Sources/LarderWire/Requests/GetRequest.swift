internal import LarderModel

// The messages `GetRequest` and `PropertyNames`.

extension Request {
    static func get(decoding bytes: RawSpan) throws(LarderError) -> Request {
        var fields = FieldScanner(bytes)
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(
            try fields.count(of: 1, "identifiers", maximum: Limits.identifiersMax))
        var properties: [String]?
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                identifiers.append(try PersistentIdentifier(decoding: bytes))
            case (2, .bytes(let bytes)):
                try appendPropertyNames(decoding: bytes, to: &properties)
            case (1...2, _): throw .unreadable
            default: break
            }
        }
        return .get(identifiers, properties: properties)
    }

    /// The names of several lists are one list, as protobuf merges them.
    private static func appendPropertyNames(
        decoding bytes: RawSpan, to properties: inout [String]?
    ) throws(LarderError) {
        let what = "names of properties"
        var names = properties ?? []
        properties = nil
        var fields = FieldScanner(bytes)
        let count = try fields.count(of: 1, what, maximum: Limits.propertiesMax)
        guard names.count + count <= Limits.propertiesMax else {
            throw .tooMany(what, names.count + count, maximum: Limits.propertiesMax)
        }
        if names.isEmpty { names.reserveCapacity(count) }
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                names.append(
                    try bytes.text("the name of a property", bytesMax: Limits.nameBytesMax))
            case (1, _): throw .unreadable
            default: break
            }
        }
        properties = names
    }
}

extension MessageBuffer {
    func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) {
        guard identifiers.count <= Limits.identifiersMax else {
            throw .tooMany("identifiers", identifiers.count, maximum: Limits.identifiersMax)
        }
        for object in identifiers { try identifier(1, object) }
        guard let properties else { return }
        try message(2) { for name in properties { element(1, name) } }
    }
}
