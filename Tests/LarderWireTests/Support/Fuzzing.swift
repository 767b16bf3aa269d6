import FoundationEssentials

/// A generator whose numbers follow from its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Short random runs in each test run; LARDER_SEED and LARDER_FUZZ_ITERATIONS set others.
enum Fuzzing {
    static let iterations =
        ProcessInfo.processInfo.environment["LARDER_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? 2_000

    /// A generator, its seed printed so that a failure can be repeated.
    static func generator(_ name: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(name): LARDER_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

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
