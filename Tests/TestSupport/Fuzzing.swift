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

extension Fuzzing {
    /// A text with a few of its scalars removed, duplicated, swapped or replaced.
    public static func mutated(
        _ text: String, alphabet: [Unicode.Scalar], using generator: inout SeededGenerator
    ) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let place = Int.random(in: 0...scalars.count, using: &generator)
            let other = Int.random(in: 0...scalars.count, using: &generator)
            let scalar = alphabet.randomElement(using: &generator) ?? "x"
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where place < scalars.count: scalars.remove(at: place)
            case 1 where place < scalars.count: scalars[place] = scalar
            case 2 where place < other: scalars.removeSubrange(place..<other)
            case 3 where place < other && other - place < 200:
                scalars.insert(contentsOf: scalars[place..<other], at: place)
            default: scalars.insert(scalar, at: place)
            }
        }
        var mutated = String.UnicodeScalarView()
        mutated.append(contentsOf: scalars)
        return String(mutated)
    }

    /// Characters that often break parsers.
    public static let alphabet = Array(
        "abpt019_-+.,:;/%\\\"'(){}[]<>=!@#$&|* \n\r\t\u{0}\u{301}\u{200D}é日🏳️‍🌈eExXnNuU"
            .unicodeScalars
    )
}
