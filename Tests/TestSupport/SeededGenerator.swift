import FoundationEssentials

/// Random numbers that can be had again (SplitMix64): the seed comes from LARDER_SEED, or from the
/// system, and is printed.
public struct SeededGenerator: RandomNumberGenerator {
    public let seed: UInt64
    private var state: UInt64

    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// - Parameter purpose: what the numbers are for, printed beside the seed.
    public static func fromEnvironment(_ purpose: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(purpose): LARDER_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// How long random tests run: briefly in each test run, longer with LARDER_FUZZ_ITERATIONS.
public enum RandomTesting {
    public static func iterations(_ usual: Int = 2_000) -> Int {
        ProcessInfo.processInfo.environment["LARDER_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? usual
    }
}
