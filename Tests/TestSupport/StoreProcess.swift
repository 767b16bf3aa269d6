import Foundation
import Glibc

/// Another process, whose output is read line by line. It is killed with the object.
public final class StoreProcess {
    public struct Ended: Error {}

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    /// Opens a store file in an `ObjectStoreProcess`.
    public convenience init(opening path: String) throws {
        try self.init("ObjectStoreProcess", [path])
        while try line() != "open" {}
    }

    public init(_ program: String, _ arguments: [String], reading errors: Bool = false) throws {
        process.executableURL = URL(filePath: try TestProgram.path(of: program))
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if errors { process.standardError = output }
        try process.run()
    }

    deinit { kill() }

    public var identifier: Int32 { process.processIdentifier }

    /// The reply to a command.
    public func callAsFunction(_ command: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        return try line()
    }

    public func line() throws -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Ended() }
            rest += data
        }
    }

    /// Ends the process as the system does when it has no memory.
    public func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Lets the process end by itself.
    public func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
