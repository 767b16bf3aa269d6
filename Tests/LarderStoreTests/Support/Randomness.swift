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
enum Randomness {
    static func iterations(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["LARDER_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? usual
    }

    /// A generator, its seed printed so that a failure can be repeated.
    static func generator(_ name: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(name): LARDER_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }
}
