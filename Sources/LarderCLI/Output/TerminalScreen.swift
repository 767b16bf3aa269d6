import Glibc

/// A terminal whose content is replaced by each report. Nothing needs to be restored when the
/// process is interrupted between two reports.
struct TerminalScreen {
    private static let lineCountDefault = 24

    /// Returns nil if standard output is not a terminal.
    init?() {
        guard StandardOutput.isTerminal else { return nil }
    }

    /// Its height, which may change at any time.
    var lineCount: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else {
            return Self.lineCountDefault
        }
        return Int(size.ws_row)
    }

    /// Clears the screen, and cuts off long lines instead of wrapping them.
    let start = "\u{1B}[H\u{1B}[2J\u{1B}[?7l"
    /// Lets lines wrap again.
    let end = "\u{1B}[?7h"
}
