import FoundationEssentials

extension NamedValues {
    /// The values as a `Decodable` type, whose coding keys are the names of properties.
    ///
    /// An attribute has the type that ``AttributeValue`` gives it, an enum is read from its raw
    /// value, and any other type from a JSON document. A to-one relationship is a
    /// ``PersistentIdentifier``, optional if it may be nil, and a to-many an array of them. The key
    /// `id` is the identifier of the object, unless a property has that name.
    ///
    /// - Throws: `unknownProperty` if a key has no value, `missingValue` if it is nil, and
    ///   `wrongType` if it is of another type; `malformedValue` for what the type itself refuses.
    public func decoded<Wanted: Decodable>(
        as type: Wanted.Type = Wanted.self
    ) throws(LarderError) -> Wanted {
        do {
            return try Wanted(from: RecordDecoder(values: self))
        } catch let error as LarderError {
            throw error
        } catch {
            throw LarderError(
                .malformedValue,
                "\(valuesDescription) cannot be decoded as \(type): "
                    + String(safelyDescribing: error))
        }
    }
}

/// Decodes named values.
private struct RecordDecoder: Decoder {
    let values: any NamedValues
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordContainer(values: values))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw needsNames([Any].self)
    }

    func needsNames(_ type: Any.Type) -> LarderError {
        LarderError(
            .wrongType, "\(values.valuesDescription) has named values and cannot be a \(type)")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        WholeContainer(decoder: self)
    }
}

/// Values by the coding keys of a type.
private struct RecordContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let values: any NamedValues
    let codingPath: [any CodingKey] = []

    var allKeys: [Key] { values.valueNames.compactMap(Key.init) }

    func contains(_ key: Key) -> Bool { value(key) != nil }

    private func value(_ key: Key) -> Value? {
        if let value = values[key.stringValue] { return value }
        guard key.stringValue == "id", let record = values as? Record else { return nil }
        return .object(record.identifier)
    }

    private func decoder(_ key: Key) throws(LarderError) -> ValueDecoder {
        guard let value = value(key) else { throw values.unknownName(key.stringValue) }
        return ValueDecoder(value: value, name: key.stringValue, owner: values)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode<Wanted: Decodable>(_ type: Wanted.Type, forKey key: Key) throws -> Wanted {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { RecordDecoder(values: values) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// All named values, for a type that wraps another one.
private struct WholeContainer: SingleValueDecodingContainer {
    let decoder: RecordDecoder
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }

    func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
        guard !(type is any AttributeValue.Type), !(type is any FixedWidthInteger.Type) else {
            throw decoder.needsNames(type)
        }
        return try Wanted(from: decoder)
    }
}

/// Decodes one value.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: Value
    let name: String
    let owner: any NamedValues
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func decodeNil() -> Bool { value.isNull }

    func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
        let decoded: Any? =
            switch type {
            case let type as any AttributeValue.Type: type.init(storeValue: value)
            case let type as any FixedWidthInteger.Type: value.integer(type)
            case is PersistentIdentifier.Type:
                if case .object(let identifier) = value { identifier } else { nil }
            case is [PersistentIdentifier].Type:
                if case .objects(let identifiers) = value { identifiers } else { nil }
            default: try Wanted(from: self)
            }
        guard let decoded = decoded as? Wanted else { throw mismatch("\(type)") }
        return decoded
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try jsonDecoder().container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try jsonDecoder().unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The decoder of a JSON document.
    private func jsonDecoder() throws -> any Decoder {
        guard case .json(let text) = value else { throw mismatch("a JSON document") }
        return try JSONDecoder().decode(PassedDecoder.self, from: Data(text.utf8)).decoder
    }

    private func mismatch(_ wanted: String) -> LarderError {
        owner.mismatch(name, value, "a value of the Swift type \(wanted)")
    }
}

/// Gives away the decoder that it is decoded with.
private struct PassedDecoder: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
}

extension Value {
    /// An integer of a type that no attribute has, such as UInt8; nil for one out of its range.
    fileprivate func integer<Wanted: FixedWidthInteger>(_ type: Wanted.Type) -> Wanted? {
        guard case .int(let integer) = self else { return nil }
        return Wanted(exactly: integer)
    }
}
