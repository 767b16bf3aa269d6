/// Integers at and next to the ends of the types to which numbers from outside are decoded.
public enum ExtremeIntegers {
    /// As bits of 64-bit words: the last ones are -1 and the least signed integers, too.
    public static let words: [UInt64] = [
        0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001,
        0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 0x1_0000_0001, 1 << 53, 1 << 53 + 1,
        6_200_000_000_000_000_000, 1 << 62 - 1, 1 << 62, 1 << 62 + 1, 1 << 63 - 2, 1 << 63 - 1,
        1 << 63, 1 << 63 + 1, 0xC000_0000_0000_0000, 0xFFFF_FFFF_7FFF_FFFF, 0xFFFF_FFFF_8000_0000,
        .max - 1, .max,
    ]

    public static func random(using generator: inout SeededGenerator) -> UInt64 {
        words.randomElement(using: &generator) ?? 0
    }

    /// One of them, or one that differs from it a little.
    public static func near(using generator: inout SeededGenerator) -> Int64 {
        let change = UInt64.random(in: 0...4, using: &generator)
        let word = random(using: &generator)
        return Int64(
            bitPattern: Bool.random(using: &generator) ? word : word &+ change &- 2)
    }

    /// As protobuf writes it.
    public static func varint(_ word: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = word
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }

    /// A random one in one of the forms in which files and messages have integers.
    public static func bytes(using generator: inout SeededGenerator) -> [UInt8] {
        let word = random(using: &generator)
        func littleEndian(_ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return littleEndian(8)
        case 1: return littleEndian(8).reversed()
        case 2: return littleEndian(4)
        case 3: return littleEndian(4).reversed()
        case 4: return Array("\(Int64(bitPattern: word))".utf8)
        default: return varint(word)
        }
    }
}
