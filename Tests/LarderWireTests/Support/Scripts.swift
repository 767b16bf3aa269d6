import FoundationEssentials
import Glibc

/// Runs the repository's scripts.
enum Scripts {
    /// The folder with Package.swift, found from the path of this file.
    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Runs a script; its output is the test's own.
    ///
    /// - Returns: the exit status; -1 after a signal.
    static func run(_ script: String, _ arguments: [String] = []) -> Int32 {
        let words = ["\(repository)/\(script)"] + arguments
        let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        let status = system(command.joined(separator: " "))
        // The exit status is in the second byte, a signal in the first.
        return status & 0x7f == 0 ? status >> 8 & 0xff : -1
    }
}
