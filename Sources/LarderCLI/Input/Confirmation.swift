import Glibc
import LarderPrograms

/// A question to a person at the terminal.
enum Confirmation {
    /// Whether a person can answer.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks whether to continue.
    ///
    /// - Parameter sentence: What will happen.
    static func isGiven(_ sentence: String) -> Bool {
        StandardError.write("\(sentence) Continue? [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased()
        return answer == "y" || answer == "yes"
    }
}
