import ArgumentParser

/// How dates without a time zone are read.
struct DateOptions: ParsableArguments {
    @Flag(
        name: .customLong("utc"),
        help: "Read dates without a time zone as UTC. Default: LARDER_UTC, or reject them.")
    var isGiven = false

    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    var assumesUTC: Bool { isGiven || Self.preference == true }

    mutating func validate() throws {
        guard Self.preference == nil, Environment.value(Environment.utc) != nil else { return }
        throw ValidationError("LARDER_UTC must be true or false")
    }

    /// The value of the environment variable; nil without it and for other text.
    private static var preference: Bool? {
        switch Environment.value(Environment.utc)?.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }
}
