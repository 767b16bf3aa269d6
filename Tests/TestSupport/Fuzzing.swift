/// Valid input, damaged at a few offsets.
public enum Fuzzing {
    /// The bytes with a few ranges changed, removed, duplicated, copied from another input, or
    /// replaced by an extreme integer.
    public static func mutated(
        _ bytes: [UInt8], donor: [UInt8], using generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let offset = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, offset + Int.random(in: 0...12, using: &generator))
            switch Int.random(in: 0..<9, using: &generator) {
            case 0 where offset < bytes.count:
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where offset < bytes.count:
                bytes[offset] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
            case 2: bytes.removeSubrange(offset..<end)
            case 3: bytes.insert(contentsOf: bytes[offset..<end], at: offset)
            case 4:
                let from = Int.random(in: 0...donor.count, using: &generator)
                bytes.insert(contentsOf: donor[from...].prefix(40), at: offset)
            case 5 where offset < bytes.count: bytes[offset] &+= 1
            case 6: bytes.insert(contentsOf: ExtremeIntegers.bytes(using: &generator), at: offset)
            case 7:
                let integer = ExtremeIntegers.bytes(using: &generator)
                let end = min(bytes.count, offset + integer.count)
                bytes.replaceSubrange(offset..<end, with: integer)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: offset)
            }
        }
        return bytes
    }
}
