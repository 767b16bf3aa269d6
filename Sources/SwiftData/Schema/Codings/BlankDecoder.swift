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
    private let place: BlankPlace

    private init(_ place: BlankPlace) { self.place = place }

    /// A value of a type; nil if the type refuses every sample.
    static func value<Member: Decodable>(of type: Member.Type) -> Member? {
        BlankPlace.samples.lazy.compactMap { try? decode(type, BlankPlace(sample: $0)) }.first
    }

    static func anyValue(of type: any Decodable.Type) -> Any? { value(of: type) }

    /// The keys of a type that is encoded with keys; nil for another type.
    static func keys(of type: any Decodable.Type) -> Set<String>? {
        let list = KeyList()
        var decoder = BlankDecoder(BlankPlace(sample: ""))
        decoder.keys = list
        guard (try? type.init(from: decoder)) != nil, !list.names.isEmpty else { return nil }
        return list.names
    }

    /// - Throws: what the type throws, and an error for a type whose values contain each other
    ///   without an end.
    fileprivate static func decode<Member: Decodable>(
        _ type: Member.Type, _ place: BlankPlace
    ) throws -> Member {
        guard place.depth < BlankPlace.depthMax else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "\(type) is nested too deeply"))
        }
        if let sample = place.sample(of: type) { return sample }
        if let scalar = ScalarCodings.coding(of: type) ?? rawCoding(of: type),
            let value = scalar.blank() as? Member
        {
            return value
        }
        if let first = (type as? any CaseIterable.Type)?.anyFirst as? Member { return first }
        do {
            return try Member(from: BlankDecoder(place.inner))
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
        KeyedDecodingContainer(BlankObject<Key>(keys: keys, place: place))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { BlankArray(place) }

    func singleValueContainer() -> any SingleValueDecodingContainer { BlankValue(place: place) }

    fileprivate static func nested(_ place: BlankPlace) -> BlankDecoder {
        BlankDecoder(place.inner)
    }
}

/// Where a value is made, and of what.
private struct BlankPlace {
    /// The strings to try, for types that refuse some: none, and those that programs often expect.
    static let samples = [
        "", "a", "1", "00000000-0000-0000-0000-000000000000", "2001-01-01T00:00:00Z",
        "https://example.org", "a@example.org", "#000000", "en", "EUR",
    ]
    static let depthMax = 32

    let sample: String
    /// The number of values around this one.
    var depth = 0

    var inner: BlankPlace { BlankPlace(sample: sample, depth: depth + 1) }

    /// The sample as a value of a type; nil for the first one, which is nothing.
    func sample<Member>(of type: Member.Type) -> Member? {
        guard !sample.isEmpty else { return nil }
        if type is String.Type { return sample as? Member }
        if let integer = type as? any BinaryInteger.Type { return integer.init(1) as? Member }
        if let number = type as? any BinaryFloatingPoint.Type { return number.init(1) as? Member }
        return nil
    }
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
    let place: BlankPlace

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
        return try BlankDecoder.decode(type, place)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>(place: place.inner))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        BlankArray(place.inner)
    }

    func superDecoder() -> any Decoder { BlankDecoder.nested(place) }

    func superDecoder(forKey key: Key) -> any Decoder { BlankDecoder.nested(place) }
}

/// A list without elements, or with one for the types that refuse an empty one.
private struct BlankArray: UnkeyedDecodingContainer {
    let codingPath: [any CodingKey] = []
    let place: BlankPlace
    let count: Int?
    private(set) var currentIndex = 0

    init(_ place: BlankPlace) {
        self.place = place
        // Types that contain lists of themselves come to an end.
        count = place.sample.isEmpty || place.depth > 4 ? 0 : 1
    }

    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    func decodeNil() -> Bool { true }

    mutating func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        currentIndex += 1
        // A type such as a vector decodes a known number of elements.
        return try BlankDecoder.decode(type, place)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(BlankObject<Nested>(place: place.inner))
    }

    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        BlankArray(place.inner)
    }

    func superDecoder() -> any Decoder { BlankDecoder.nested(place) }
}

private struct BlankValue: SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []
    let place: BlankPlace

    func decodeNil() -> Bool { true }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member {
        try BlankDecoder.decode(type, place)
    }
}
