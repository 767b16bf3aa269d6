import FoundationEssentials

/// How long random tests run: briefly in each test run, longer with LARDER_FUZZ_ITERATIONS.
enum Randomness {
    static func iterations(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["LARDER_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? usual
    }
}
