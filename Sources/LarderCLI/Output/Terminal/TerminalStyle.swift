import Glibc
import LarderPrograms

/// Colours on a terminal that shows them, unless the user has switched them off.
///
/// The conventions are those of no-color.org and clig.dev: `NO_COLOR` that is not empty, a `TERM`
/// that is not set, and `TERM=dumb` switch them off.
enum TerminalStyle: String {
    case heading = "1"
    case error = "1;31"
    case warning = "1;33"
    case hint = "36"

    /// The text in this style, without control sequences of its own.
    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

    static func isShown(on descriptor: Int32) -> Bool {
        guard TerminalText.isTerminal(descriptor), Environment.value("NO_COLOR") == nil
        else { return false }
        return isTerminalCapable
    }

    /// Whether the terminal obeys control sequences.
    static var isTerminalCapable: Bool {
        Environment.value("TERM").map { $0 != "dumb" } ?? false
    }
}
