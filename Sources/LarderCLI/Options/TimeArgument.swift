import ArgumentParser
import FoundationEssentials
import LarderModel

/// A time as an argument: ISO 8601, or a duration before now such as `90s`, `15m`, `2h` or `7d`.
struct TimeArgument: ExpressibleByArgument {
    let date: Date

    /// A thousand years, in seconds. An earlier time would select the same transactions.
    private static let secondsMax = 31_556_952_000.0
    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Returns nil for any other text. ArgumentParser then reports the option.
    init?(argument: String) {
        if let date = Date(text: argument) {
            self.date = date
            return
        }
        guard let unit = argument.last.flatMap({ Self.units[$0] }),
            let number = Int64(argument.dropLast()), number >= 0,
            Double(number) * unit <= Self.secondsMax
        else { return nil }
        self.date = Date() - Double(number) * unit
    }
}
