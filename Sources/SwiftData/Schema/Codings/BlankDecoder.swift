internal import Foundation

/// Decodes a value from nothing: each member has the value that its type has for nothing.
///
/// It makes values for objects that have none, such as those that were deleted before they were
/// ever read. Decoding fails for a type that refuses these values.
struct BlankDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// Gets the keys of the outermost value.
    private var keys: KeyList?
    /// The number of values around this one.
    private let depth: Int

    private static let depthMax = 32

    private init(depth: Int) { self.depth = depth }

    static func value<Member: Decodable>(of type: Member.Type) -> Member? {
        try? decode(type, 0)
    }

    static func anyValue(of type: any Decodable.Type) -> Any? { value(of: type) }

    /// The keys of a type that is encoded with keys; nil for another type.
    static func keys(of type: any Decodable.Type) -> Set<String>? {
        let list = KeyList()
        var decoder = BlankDecoder(depth: 0)
        decoder.keys = list
        guard (try? type.init(from: decoder)) != nil, !list.names.isEmpty else { return nil }
        return list.names
    }

    /// - Throws: what the type throws, and an error for a type whose values contain each other
    ///   without an end.
    fileprivate static func decode<Member: Decodable>(
        _ type: Member.Type, _ depth: Int
    ) throws -> Member {
        guard depth < depthMax else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "\(type) is nested too deeply"))
        }
        if let scalar = ScalarCodings.coding(of: type) ?? rawCoding(of: type),
            let value = scalar.blank() as? Member
        {
            return value
        }
        if let first = (type as? any CaseIterable.Type)?.anyFirst as? Member { return first }
        do {
            return try Member(from: BlankDecoder(depth: depth + 1))
        } catch {
            guard let zero = TrivialValue.zero(of: type) else { throw error }
            return zero
        }
    }

    private static func rawCoding(of type: any Any.Type) -> AttributeCoding? {
        let coding = AttributeCoding.coding(of: type)
        return coding.form == .rawValue ? coding : nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(BlankObject<Key>(keys: keys, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { BlankArray(depth: depth) }

    func singleValueContainer() -> any SingleValueDecodingContainer { BlankValue(depth: depth) }

    fileprivate static func nested(_ depth: Int) -> BlankDecoder { BlankDecoder(depth: depth + 1) }
}

extension CaseIterable {
    fileprivate static var anyFirst: Any? { allCases.first }
}

/// The keys for which a type asked.
private final class KeyList {
    var names: Set<String> = []
}

private struct BlankObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey] = []
    var keys: KeyList?
    let depth: Int

    /// The synthesized decoding of an enum takes the case that the only key names.
    var allKeys: [Key] { TrivialValue.firstKey(of: Key.self).map { [$0] } ?? [] }

    func contains(_ key: Key) -> Bool {
        keys?.names.insert(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        keys?.names.insert(key.stringValue)
        return true
    }

    func decode<Member: Decodable>(_ type: Member.Type, forKey key: Key) throws -> Member {
        keys?.names.insert(key.stringValue)
        return try BlankDecoder.decode(type, depth)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>(depth: depth + 1))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        BlankArray(depth: depth + 1)
    }

    func superDecoder() -> any Decoder { BlankDecoder.nested(depth) }

    func superDecoder(forKey key: Key) -> any Decoder { BlankDecoder.nested(depth) }
}

/// A list without elements.
private struct BlankArray: UnkeyedDecodingContainer {
    let codingPath: [any CodingKey] = []
    let depth: Int
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        // A type such as a vector decodes a known number of elements.
        try BlankDecoder.decode(type, depth)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>(depth: depth + 1))
    }

    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        BlankArray(depth: depth + 1)
    }

    func superDecoder() -> any Decoder { BlankDecoder.nested(depth) }
}

private struct BlankValue: SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []
    let depth: Int

    func decodeNil() -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        try BlankDecoder.decode(type, depth)
    }
}
