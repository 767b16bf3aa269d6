#if PostgreSQL
import Foundation
import Glibc
import LarderPostgres

/// A PostgreSQL that a test starts, with a folder and a socket of its own. It ends with the object,
/// or with the process.
final class PostgresServer: Sendable {
    struct NotStarted: Error {}

    static let notInstalled = "the programs of the Debian package postgresql are not installed"

    /// The folder of the server's programs; nil if they are not installed.
    static let programs: String? = {
        let top = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: top)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(top)/\($0)/bin" }
        return folders.first {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
                && FileManager.default.isExecutableFile(atPath: "\($0)/postgres")
        }
    }()

    static var isInstalled: Bool { programs != nil }

    /// The server of all tests that do not end one.
    static let shared = Result { try PostgresServer() }

    let folder: String
    let password = "secret-\(UInt64.random(in: .min ... .max))"
    private let input = Pipe()
    private let process = Process()

    init() throws {
        guard let programs = Self.programs else { throw NotStarted() }
        let output = Pipe()
        process.executableURL = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "postgres-server")
        process.arguments = [programs, password]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // The descriptor that this process has would keep the server from ending.
        try input.fileHandleForReading.close()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let part = output.fileHandleForReading.availableData
            if part.isEmpty { throw NotStarted() }
            line += part
        }
        folder = String(decoding: line.dropLast(), as: UTF8.self)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func address(
        user: String = "owner", password: String? = nil, database: String = "postgres"
    ) throws -> PostgresAddress {
        let words = "host='\(folder)' user=\(user) dbname=\(database)"
        return try PostgresAddress("\(words) password='\(password ?? self.password)'")
    }

    func connect() throws -> PostgresConnection {
        try PostgresConnection.open(address(), deadline: .soon)
    }

    /// A connection to the shared server.
    static func connection() throws -> PostgresConnection { try shared.get().connect() }
}

extension ContinuousClock.Instant {
    /// Later than anything that the tests wait for.
    static var soon: Self { .now + .seconds(120) }
}

extension PostgresConnection {
    @discardableResult func run(
        _ text: String, _ parameters: PostgresValue...
    ) throws(PostgresError) -> PostgresRows {
        try run(PostgresStatement(text, parameters), deadline: .soon)
    }
}
#endif
