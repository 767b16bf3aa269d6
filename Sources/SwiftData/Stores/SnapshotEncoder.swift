internal import Foundation
internal import LarderModel

/// Reads the values of a snapshot of any type, by the names under which the type encodes them:
/// those of the model's properties. Other keys are the store's own.
final class SnapshotEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// Nil for an encoder whose values are not needed.
    private let description: ModelDescription?
    private var values: [String: Value] = [:]
    /// A container cannot throw while it is made.
    private var failure: LarderError?

    private init(_ description: ModelDescription?) { self.description = description }

    /// - Returns: the values by the names that properties have in the store.
    /// - Throws: what the snapshot throws; `malformedValue` for a form that has no values by name.
    static func values(
        of snapshot: some DataStoreSnapshot, _ description: ModelDescription
    ) throws -> [String: Value] {
        let encoder = SnapshotEncoder(description)
        try snapshot.encode(to: encoder)
        if let failure = encoder.failure { throw failure }
        return encoder.values
    }

    /// Takes the values of a snapshot that has them as the store does.
    func take(_ values: [String: Value]) { self.values = values }

    // MARK: - Values

    fileprivate func set(_ value: Any, _ name: String) throws {
        guard let property = description?.property(named: name) else { return }
        values[property.storeName] = try Self.value(value, of: property)
    }

    private static func value(_ value: Any, of property: ModelProperty) throws -> Value {
        var value = value
        while let optional = value as? any OptionalType {
            guard let wrapped = optional.wrappedValue else { return .null }
            value = wrapped
        }
        switch (property.kind, value) {
        case (.attribute(let coding), _):
            if let stored = try? coding.encode(value) { return stored }
            // A snapshot may have a raw value in place of an enum, or another integer. Other values
            // are an error here.
            return try AttributeCoding.coding(of: type(of: value)).encode(value)
        case (.toOne, let target as PersistentIdentifier): return .object(target)
        case (.toMany, let targets as [PersistentIdentifier]): return .objects(targets)
        case (.toMany, let targets as Set<PersistentIdentifier>): return .objects(targets.sorted())
        case (.toOne, _), (.toMany, _):
            throw LarderError(
                .malformedValue,
                "the store returned a \(type(of: value)) for the relationship \(property.name)",
                hint: "a snapshot has the identifiers of related objects")
        }
    }

    // MARK: - Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(SnapshotKeys(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        fail("as a list")
        return IgnoredElements(SnapshotEncoder(nil))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Wrapper(encoder: self) }

    /// An encoder for values without the name of a property.
    fileprivate func ignoring(_ name: String) -> SnapshotEncoder {
        if description?.property(named: name) != nil { fail("with \(name) in parts") }
        return SnapshotEncoder(nil)
    }

    fileprivate func fail(_ form: String) {
        guard let description, failure == nil else { return }
        failure = LarderError(
            .malformedValue,
            "the store returned a snapshot of \(description.entityName) that is encoded \(form)",
            hint: "encode each property as one value, under its name")
    }
}

private struct SnapshotKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SnapshotEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { try encoder.set(Any?.none as Any, key.stringValue) }

    func encode<Member: Encodable>(_ value: Member, forKey key: Key) throws {
        try encoder.set(value, key.stringValue)
    }

    func encodeIfPresent<Member: Encodable>(_ value: Member?, forKey key: Key) throws {
        try encoder.set(value as Any, key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.ignoring(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.ignoring(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// A snapshot around another one, which it encodes as itself.
private struct Wrapper: SingleValueEncodingContainer {
    let encoder: SnapshotEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil() {}

    func encode<Wrapped: Encodable>(_ value: Wrapped) throws { try value.encode(to: encoder) }
}
