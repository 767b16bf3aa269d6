/// Durations as the system's calls want them. Whatever the caller gave, nothing overflows.
extension Duration {
    /// The longest that anything waits; longer is the same as for ever.
    static let waitMax = Duration.seconds(365 * 24 * 3_600)

    /// Not negative, and not beyond ``waitMax``.
    var waiting: Duration { Swift.min(Swift.max(self, .zero), .waitMax) }

    var wholeSecondsAndNanoseconds: (seconds: Int, nanoseconds: Int) {
        let parts = waiting.components
        return (Int(parts.seconds), Int(parts.attoseconds / 1_000_000_000))
    }

    /// Rounded up, so that what waits this long has waited long enough.
    var wholeMilliseconds: Int32 {
        let parts = waiting.components
        let part = (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: parts.seconds * 1_000 + part)
    }
}
