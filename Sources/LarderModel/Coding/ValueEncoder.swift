import FoundationEssentials

extension [String: Value] {
    /// The values of an `Encodable` type by property, as `NamedValues.decoded(as:)` reads them.
    ///
    /// A nil is a value: an update sets the property to nil. A ``PersistentIdentifier`` with the
    /// key `id` is left out, because the store assigns identifiers.
    ///
    /// - Throws: `malformedValue` for a type that has no keys, an integer beyond 64 bits, and what
    ///   the type itself refuses.
    public init(encoding value: some Encodable) throws(LarderError) {
        let encoder = ValueEncoder(collectsValues: true)
        do {
            try value.encode(to: encoder)
        } catch let error as LarderError {
            throw error
        } catch {
            throw LarderError(
                .malformedValue,
                "\(type(of: value)) cannot be encoded: \(String(safelyDescribing: error))")
        }
        if let problem = encoder.problem {
            throw LarderError(.malformedValue, "\(type(of: value)) \(problem)")
        }
        guard encoder.form == .keyed else {
            throw LarderError(
                .malformedValue, "\(type(of: value)) is not encoded with keys",
                hint: "the keys are the names of properties")
        }
        self = encoder.values
    }
}

extension Value {
    /// The value as a JSON document.
    ///
    /// - Throws: `malformedValue` if the value cannot be encoded.
    package static func json(encoding value: some Encodable) throws(LarderError) -> Value {
        let encoder = JSONEncoder()
        // Equal values have equal text, so that a save of an unchanged value changes nothing.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .json(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            throw LarderError(
                .malformedValue,
                "a value of \(type(of: value)) cannot be encoded as JSON: "
                    + String(safelyDescribing: error))
        }
    }

    /// The value of a property.
    fileprivate init(encoding value: some Encodable) throws {
        switch value {
        case let value as any ValueConvertible: self = value.storeValue
        case let value as any FixedWidthInteger:
            guard let integer = Int64(exactly: value) else {
                throw LarderError(.malformedValue, "\(value) is beyond 64 bits")
            }
            self = .int(integer)
        default:
            // An enum is encoded as its raw value.
            let encoder = ValueEncoder(collectsValues: false)
            try value.encode(to: encoder)
            self = try encoder.single ?? .json(encoding: value)
        }
    }
}

/// Encodes a value, and learns its form.
private final class ValueEncoder: Encoder {
    enum Form {
        case keyed, list, single
    }

    let collectsValues: Bool
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    var form: Form?
    var values: [String: Value] = [:]
    var single: Value?
    /// Why the value cannot be encoded; a container cannot throw while it is made.
    var problem: String?

    init(collectsValues: Bool) { self.collectsValues = collectsValues }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        form = .keyed
        return KeyedEncodingContainer(KeyedValues(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        form = .list
        // A list is encoded as JSON.
        return IgnoredElements(ValueEncoder(collectsValues: false))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(encoder: self) }

    /// Takes values that are part of a JSON document, or of a value that is refused.
    func ignoring(_ name: String) -> ValueEncoder {
        if collectsValues { problem = "uses a \(name), which is not supported" }
        return ValueEncoder(collectsValues: false)
    }
}

private struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) { set(.null, key) }

    func encode<Member: Encodable>(_ value: Member, forKey key: Key) throws {
        guard encoder.collectsValues, !isIdentifier(Member.self, key) else { return }
        set(try Value(encoding: value), key)
    }

    func encodeIfPresent<Member: Encodable>(_ value: Member?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if !isIdentifier(Member.self, key) { set(.null, key) }
    }

    private func set(_ value: Value, _ key: Key) {
        if encoder.collectsValues { encoder.values[key.stringValue] = value }
    }

    private func isIdentifier(_ type: any Encodable.Type, _ key: Key) -> Bool {
        key.stringValue == "id"
            && (type == PersistentIdentifier.self || type == PersistentIdentifier?.self)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.ignoring("nested container").container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.ignoring("nested container").unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder.ignoring("superclass with a key")
    }
}

/// One value without a key: a raw value, or a value that another type wraps.
private struct SingleValue: SingleValueEncodingContainer {
    let encoder: ValueEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil() {
        encoder.form = .single
        encoder.single = .null
    }

    func encode<Wrapped: Encodable>(_ value: Wrapped) throws {
        let isScalar = value is any ValueConvertible || value is any FixedWidthInteger
        if encoder.collectsValues && !isScalar { return try value.encode(to: encoder) }
        encoder.form = .single
        encoder.single = try Value(encoding: value)
    }
}
