import Foundation
import Magazine
import SwiftData

/// Where a store is.
enum Place: CaseIterable {
    case memory
    case file
    case socket
}

/// A store of a test, which is deleted with it.
final class TestStore {
    let container: ModelContainer
    private let folder: URL
    private let server: Process?

    init(_ place: Place) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "magazine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "magazine.store")
        switch place {
        case .memory:
            container = try magazineContainer(at: nil)
            server = nil
        case .file:
            container = try magazineContainer(at: file)
            server = nil
        case .socket:
            // The program makes the file with its schema, and one reader.
            _ = try Program("magazine", ["bench", file.path, "1"]).output()
            let socket = folder.appending(path: "magazine.socket")
            let program = try Program(
                "larderd", ["--store", file.path, "--socket", socket.path])
            try program.waitForLine(with: socket.path)
            server = program.process
            container = try magazineContainer(at: socket)
            let context = ModelContext(container)
            try context.delete(model: Reader.self)
            try context.save()
        }
    }

    deinit {
        if let server {
            server.terminate()
            server.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A program that is next to the tests.
struct Program {
    struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    let process = Process()
    private let name: String
    private let pipe = Pipe()

    /// Starts the program.
    init(_ name: String, _ arguments: [String]) throws {
        self.name = name
        let program = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw Failed(description: "\(name) is not at \(program.path); `swift build` builds it")
        }
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
    }

    /// The output, when the program has ended with success.
    func output() throws -> String {
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failed(description: "\(name) ended with \(process.terminationStatus): \(text)")
        }
        return text
    }

    /// Waits for a line of the output that contains a text.
    func waitForLine(with part: String) throws {
        var text = ""
        while !text.contains(part) {
            let data = pipe.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failed(description: "\(name) has ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
    }
}
