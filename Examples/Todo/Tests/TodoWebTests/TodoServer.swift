import Chromium
import Foundation

/// A process of the program `todo`, which is next to the tests. It ends with its last reference.
final class TodoServer: Sendable {
    let url: URL
    private let process: Process

    /// Starts the program, and waits until it has a port.
    ///
    /// - Parameter store: The file of the store; nil for mocks.
    init(store: URL?) async throws {
        let program = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "todo")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw ServerError(
                description: "the program todo is not at \(program.path); `swift build` builds it")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = ["--port", "0"] + (store.map { ["--store", $0.path] } ?? [])
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = await output.firstLine()
        guard let url = URL(string: line), url.port != nil else {
            throw ServerError(description: "todo has printed \"\(line)\" instead of a URL")
        }
        self.url = url
        self.process = process
    }

    deinit { process.terminate() }

    /// Ends the process, and waits for that.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    func page(_ path: String) -> URL { URL(string: path, relativeTo: url)?.absoluteURL ?? url }
}

struct ServerError: Error, CustomStringConvertible {
    var description: String
}
