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

    /// A text with a few of its scalars removed, doubled, swapped, or replaced.
    static func mutated(
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

    /// Characters that parsers tend to trip over.
    static let alphabet = Array(
        "abpt019_-+.,:;/%\\\"'(){}[]<>=!@#$&|* \n\r\t\u{0}\u{301}\u{200D}é日🏳️‍🌈eExXnNuU"
            .unicodeScalars
    )
}
