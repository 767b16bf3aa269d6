import FoundationEssentials
import Glibc

/// Runs the repository's own scripts, as a developer would.
enum Scripts {
    /// The folder that holds Package.swift, found from this file's place.
    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The exit status of a script with arguments; what it says goes to the test's own output.
    static func run(_ script: String, _ arguments: [String] = []) -> Int32 {
        let words = ["\(repository)/\(script)"] + arguments
        let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        let status = system(command.joined(separator: " "))
        // The exit status stands in the second byte, a signal in the first.
        return status & 0x7f == 0 ? status >> 8 & 0xff : -1
    }
}
