/// The pauses between attempts to connect: none before the first, then growing ones.
struct Backoff: Hashable, Sendable {
    static let pauseMin = Duration.milliseconds(10)
    static let pauseMax = Duration.milliseconds(500)

    private var pause = Duration.zero

    mutating func next() -> Duration {
        defer { pause = min(max(pause * 2, Backoff.pauseMin), Backoff.pauseMax) }
        return pause
    }

    /// The next attempt does not pause, because the last one was successful.
    mutating func reset() { pause = .zero }
}
