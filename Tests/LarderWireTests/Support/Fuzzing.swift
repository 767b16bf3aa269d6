import TestSupport

/// Valid input with a few places damaged.
enum Fuzzing {
    /// Bytes with a few places changed, removed, doubled, or taken from another message.
    static func mutated(
        _ bytes: [UInt8], donor: [UInt8], using generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 0...12, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0 where place < bytes.count:
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where place < bytes.count:
                bytes[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4:
                let from = Int.random(in: 0...donor.count, using: &generator)
                bytes.insert(contentsOf: donor[from...].prefix(40), at: place)
            case 5 where place < bytes.count: bytes[place] &+= 1
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
        return bytes
    }
}
