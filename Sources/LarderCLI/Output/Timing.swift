import LarderPrograms

/// How long a command works with its store, without the start of the process and the connection.
enum Timing {
    /// Runs the body, and prints its time to standard error if the environment says so.
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard Environment.value(Environment.timing) != nil else { return try body() }
        let start = ContinuousClock.now
        defer {
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            let tenths = (milliseconds * 10).rounded() / 10
            StandardError.write("time: \(tenths) ms\n")
        }
        return try body()
    }
}
