/// Durations in the units of system calls. No duration overflows.
extension Duration {
    /// The longest wait, one year. A longer one is clamped.
    static let waitMax = Duration.seconds(365 * 24 * 3_600)

    /// The duration clamped to 0…``waitMax``.
    var clampedToWait: Duration { Swift.min(Swift.max(self, .zero), .waitMax) }

    var wholeSecondsAndNanoseconds: (seconds: Int, nanoseconds: Int) {
        let parts = clampedToWait.components
        return (Int(parts.seconds), Int(parts.attoseconds / 1_000_000_000))
    }
}
