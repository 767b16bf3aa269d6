import FoundationEssentials

/// A reproducible random number generator (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    public let seed: UInt64
    private var state: UInt64

    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Takes the seed from LARDER_SEED, or else from the system, and prints it.
    ///
    /// - Parameter purpose: The use of the numbers, printed with the seed.
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

/// The length of random tests: short in the gate, and RANDOM_TESTS_FACTOR times as long otherwise.
public enum RandomTesting {
    /// The number of cases of a test.
    ///
    /// - Parameter usual: The number in the gate.
    public static func iterations(_ usual: Int = 300) -> Int {
        let factor = ProcessInfo.processInfo.environment["RANDOM_TESTS_FACTOR"].flatMap { Int($0) }
        return usual * max(1, factor ?? 1)
    }
}
