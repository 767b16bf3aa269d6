/// Values of types that consist of bits alone, such as enums without associated values.
///
/// They are made for objects that have no values, so that reading a property never ends the
/// process. Memory whose bits are all zero is a value of each such type: the first case of an enum,
/// and zero, false and so on for the members of a structure.
enum TrivialValue {
    /// Nil for a type whose values have references.
    static func zero<Member>(of type: Member.Type) -> Member? {
        guard _isPOD(type), type != Never.self else { return nil }
        let layout = MemoryLayout<Member>.self
        // The memory is valid within the closure alone, and the value is copied out of it.
        return withUnsafeTemporaryAllocation(
            byteCount: max(layout.size, 1), alignment: layout.alignment
        ) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Member.self)
        }
    }

    /// A key of an enum of coding keys; nil for keys of another kind.
    static func firstKey<Key: CodingKey>(of type: Key.Type) -> Key? {
        // A type asks for the keys that are there only if it has some.
        _mangledTypeName(type)?.hasSuffix("O") == true ? zero(of: type) : nil
    }
}
