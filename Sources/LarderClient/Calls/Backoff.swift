/// How long to pause before the next attempt: not at all at first, then longer and longer.
struct Backoff: Hashable, Sendable {
    static let pauseMin = Duration.milliseconds(10)
    static let pauseMax = Duration.milliseconds(500)

    private var pause = Duration.zero

    mutating func next() -> Duration {
        defer { pause = min(max(pause * 2, Backoff.pauseMin), Backoff.pauseMax) }
        return pause
    }

    /// An attempt led to something: the next one need not wait.
    mutating func reset() { pause = .zero }
}
