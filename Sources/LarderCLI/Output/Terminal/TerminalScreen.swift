/// A terminal whose content is replaced by each report. Nothing needs to be restored when the
/// process is interrupted between two reports.
struct TerminalScreen {
    /// Returns nil if standard output is not a terminal.
    init?() {
        guard StandardOutput.isTerminal else { return nil }
    }

    /// Its height, which may change at any time.
    var lineCount: Int { TerminalWindow()?.lineCount ?? 0 }

    /// Clears the screen, and does not wrap lines: a window may become smaller at any time.
    let start = "\u{1B}[H\u{1B}[2J\u{1B}[?7l"
    /// Lets lines wrap again.
    let end = "\u{1B}[?7h"
}
