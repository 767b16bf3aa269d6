/// A list whose elements are not needed, for an encoder that learns the form of a value only.
package struct IgnoredElements: UnkeyedEncodingContainer {
    package let codingPath: [any CodingKey] = []
    package private(set) var count = 0
    /// Encodes the parts of an element, without effect.
    private let encoder: any Encoder

    package init(_ encoder: any Encoder) { self.encoder = encoder }

    package mutating func encodeNil() { count += 1 }

    package mutating func encode<Element: Encodable>(_ value: Element) { count += 1 }

    package mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        count += 1
        return encoder.container(keyedBy: type)
    }

    package mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return encoder.unkeyedContainer()
    }

    package mutating func superEncoder() -> any Encoder { encoder }
}
