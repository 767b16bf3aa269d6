import FoundationEssentials
import LarderModel
import LarderPrograms
import LarderQuery

/// The environment variables that `larder` reads. An option overrides a variable.
enum Environment {
    /// The socket of the server: `--socket`.
    static let socket = "LARDER_SOCKET"
    /// The output format: `--output`.
    static let output = "LARDER_OUTPUT"
    /// The maximum time to wait for a reply: `--timeout`.
    static let timeout = "LARDER_TIMEOUT"
    /// Whether dates without a time zone are in UTC: `--utc`.
    static let utc = "LARDER_UTC"
    /// The id of the requests for the server's log: `--traceparent`. Other programs set it too.
    static let trace = "TRACEPARENT"
    /// Whether commands print how long they took; `larder shell` sets it.
    static let timing = "LARDER_TIMING"
    /// The migration session of which this command performs a part; see `migrate`.
    static let migrationSession = "LARDER_MIGRATION_SESSION"
    private static let prefix = "LARDER_"

    /// The value of a variable; nil if it is not set or empty.
    static func value(_ name: String) -> String? {
        let value = ProcessInfo.processInfo.environment[name]
        return value?.isEmpty == true ? nil : value
    }

    /// Warns about variables that would be ignored, such as a misspelled one.
    static func warnAboutUnknownVariables() {
        let known = [socket, output, timeout, utc, timing, migrationSession]
        let given = ProcessInfo.processInfo.environment.keys
        for name in given.filter({ $0.hasPrefix(prefix) && !known.contains($0) }).sorted() {
            let hint =
                NameSuggestion.hint(for: name, among: known)
                ?? "the variables are \(known.joined(separator: ", "))"
            let message = "\(EscapedText.escaped(name)) is not a variable of larder"
            let warning = FormatWarning(message: message, hint: hint)
            ErrorReport(warning).print(asJSON: LarderCommand.wantsJSON)
        }
    }
}
