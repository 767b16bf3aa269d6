import Glibc
import LarderPrograms

/// The size of a terminal, which may change at any time.
struct TerminalWindow {
    private static let columnCountDefault = 80
    private static let lineCountDefault = 24

    let columnCount: Int
    let lineCount: Int

    /// Returns nil if standard output is not a terminal.
    init?() {
        guard StandardOutput.isTerminal else { return nil }
        self.init(of: StandardOutput.terminal)
    }

    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        columnCount = isKnown && size.ws_col > 0 ? Int(size.ws_col) : Self.columnCountDefault
        lineCount = isKnown && size.ws_row > 0 ? Int(size.ws_row) : Self.lineCountDefault
    }

    /// A text as lines of the window, or as it is if standard output is not a terminal.
    static func wrapped(_ text: String) -> String {
        guard let window = TerminalWindow() else { return text }
        return DisplayWidth.lines(TerminalText.shown(text), width: window.columnCount)
            .joined(separator: "\n")
    }
}
