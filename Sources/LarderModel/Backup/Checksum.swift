/// A 64-bit FNV-1a hash of bytes that arrive in parts.
///
/// It detects accidental changes and does not resist deliberate collisions.
package struct Checksum: Hashable, Sendable {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func append(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { append(byte) }
    }

    /// The form for the parts of a large file: other modules would call the generic function
    /// without specializing it, which takes many times as long.
    package mutating func append(_ bytes: [UInt8]) {
        // A local copy, so that the loop keeps it in a register.
        var hash = value
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        value = hash
    }
}
