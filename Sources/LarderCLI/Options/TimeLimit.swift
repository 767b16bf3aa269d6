import ArgumentParser

/// A duration as an argument: a number followed by `ms`, `s` or `m`.
struct TimeLimit: ExpressibleByArgument {
    let duration: Duration

    /// Ten days. A longer limit would have no purpose.
    private static let millisecondsMax: Int64 = 864_000_000
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000),
    ]

    init(duration: Duration) { self.duration = duration }

    /// The duration as an argument.
    var argument: String { "\(Int64(clamped: duration / .milliseconds(1)))ms" }

    /// Returns nil unless the text is a positive integer with a unit. ArgumentParser then reports
    /// the option.
    init?(argument: String) {
        guard let unit = Self.units.first(where: { argument.hasSuffix($0.suffix) }),
            let number = Int64(argument.dropLast(unit.suffix.count)), number > 0,
            number <= Self.millisecondsMax / unit.milliseconds
        else { return nil }
        self.duration = .milliseconds(number * unit.milliseconds)
    }
}
