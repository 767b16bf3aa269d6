import ArgumentParser

/// A span of time as it is typed: a number and `ms`, `s` or `m`.
struct TimeLimit: ExpressibleByArgument {
    let duration: Duration

    /// Past it a limit would mean nothing: ten days.
    private static let millisecondsMax: Int64 = 864_000_000
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000),
    ]

    init(duration: Duration) { self.duration = duration }

    /// nil for anything but a whole number from 1 with a unit; the parser then names the option.
    init?(argument: String) {
        guard let unit = Self.units.first(where: { argument.hasSuffix($0.suffix) }),
            let number = Int64(argument.dropLast(unit.suffix.count)), number > 0,
            number <= Self.millisecondsMax / unit.milliseconds
        else { return nil }
        self.duration = .milliseconds(number * unit.milliseconds)
    }
}
