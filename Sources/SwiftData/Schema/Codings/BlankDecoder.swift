internal import Foundation

/// Decodes a value from nothing: each member has the value that its type has for nothing.
///
/// It makes values for objects that have none, such as those that were deleted before they were
/// ever read. Decoding fails for a type that refuses these values.
struct BlankDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    static func value<Member: Decodable>(of type: Member.Type) -> Member? {
        try? decode(type)
    }

    static func anyValue(of type: any Decodable.Type) -> Any? { value(of: type) }

    fileprivate static func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        if let scalar = ScalarCodings.coding(of: type) ?? rawCoding(of: type),
            let value = scalar.blank() as? Member
        {
            return value
        }
        if let first = (type as? any CaseIterable.Type)?.anyFirst as? Member { return first }
        return try Member(from: BlankDecoder())
    }

    private static func rawCoding(of type: any Any.Type) -> AttributeCoding? {
        let coding = AttributeCoding.coding(of: type)
        return coding.form == .rawValue ? coding : nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(BlankObject<Key>())
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { BlankArray() }

    func singleValueContainer() -> any SingleValueDecodingContainer { BlankValue() }
}

extension CaseIterable {
    fileprivate static var anyFirst: Any? { allCases.first }
}

private struct BlankObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey] = []

    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type, forKey key: Key) throws -> Member {
        try BlankDecoder.decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { BlankArray() }

    func superDecoder() -> any Decoder { BlankDecoder() }

    func superDecoder(forKey key: Key) -> any Decoder { BlankDecoder() }
}

/// A list without elements.
private struct BlankArray: UnkeyedDecodingContainer {
    let codingPath: [any CodingKey] = []
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        // A type such as a vector decodes a known number of elements.
        try BlankDecoder.decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>())
    }

    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { BlankArray() }

    func superDecoder() -> any Decoder { BlankDecoder() }
}

private struct BlankValue: SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        try BlankDecoder.decode(type)
    }
}
