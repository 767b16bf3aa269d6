import Glibc

/// Standard error, unbuffered.
package enum StandardError {
    private static let isTerminal = TerminalText.isTerminal(STDERR_FILENO)

    /// Writes the text, as a terminal may show it if there is one.
    package static func write(_ text: String) {
        write(control: isTerminal ? TerminalText.shown(text) : text)
    }

    /// Writes the program's own text with control sequences. A failure is ignored, because there is
    /// no other channel to report it on.
    package static func write(control text: String) {
        StandardStreams.write(text, to: STDERR_FILENO)
    }
}
