import FoundationEssentials
import Glibc
import LarderClient
import TestSupport
import Testing

/// A larderd process with a schema and a store in a temporary folder.
///
/// Safe to share: the test starts and stops the process in one thread at a time.
final class TestDaemon: @unchecked Sendable {
    let folder: String
    var socket: String { "\(folder)/socket" }
    var store: String { "\(folder)/school.store" }
    private var process: ChildProcess?

    /// - Parameter starts: Whether the process is started at once.
    init(starts: Bool = true, schema: String = TestDaemon.schema) throws {
        var template = Array("/tmp/larder-end-to-end-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try schema.write(toFile: "\(folder)/schema.json", atomically: true, encoding: .utf8)
        if starts { try start() }
    }

    deinit {
        process = nil
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts the process, and returns when it is ready.
    ///
    /// - Parameter more: Options with their values, in place of those of ``arguments`` or besides.
    func start(_ more: [String] = []) throws {
        let readiness = try ReadinessSocket(path: "\(folder)/notify")
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { close(ends[0]) }
        // Only the process has the other end, so its end can be read from this one.
        let process = try ChildProcess(
            "larderd", Self.arguments(arguments, replacing: more),
            environment: ["NOTIFY_SOCKET": readiness.path],
            output: ends[1], errors: errorsPath)
        close(ends[1])
        guard readiness.wait(unlessEnded: ends[0]) else {
            process.send(SIGKILL)
            process.wait()
            throw NotReady(description: "larderd did not start: \(errors)")
        }
        self.process = process
    }

    /// Stops the process gracefully.
    ///
    /// - Returns: its exit status.
    func stop() -> Int32? {
        process?.send(SIGTERM)
        defer { process = nil }
        return process?.wait()
    }

    /// Kills the process.
    func kill() {
        process?.send(SIGKILL)
        process?.wait()
        process = nil
    }

    var processIdentifier: Int? { process?.identifier }

    /// The standard error of all processes that were started.
    var errors: String {
        (try? String(contentsOfFile: errorsPath, encoding: .utf8)) ?? ""
    }

    func connect(
        requestTimeout: Duration = .seconds(900), reconnectWait: Duration = .seconds(900)
    ) throws -> StoreClient {
        var options = StoreClient.Options()
        options.clientName = "end-to-end"
        options.requestTimeout = requestTimeout
        options.connectTimeout = .seconds(900)
        options.reconnectWait = reconnectWait
        return try StoreClient.connect(to: socket, options: options)
    }

    /// Runs a program to its end.
    func run(_ name: String, _ arguments: [String]) throws -> ProcessResult {
        let path = "\(folder)/output-\(UUID().uuidString)"
        let output = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(output >= 0)
        let process = try ChildProcess(name, arguments, output: output, errors: path + ".errors")
        close(output)
        let status = process.wait()
        return ProcessResult(
            status: status, output: try String(contentsOfFile: path, encoding: .utf8),
            errors: try String(contentsOfFile: path + ".errors", encoding: .utf8))
    }

    /// The idle exit ends the process if the test run is interrupted. A task of a test may wait
    /// for a thread until many other tests have ended, so a query may take long.
    var arguments: [String] {
        [
            "--store", store, "--schema", "\(folder)/schema.json", "--socket", socket,
            "--idle-exit", "300", "--query-timeout", "3600",
        ]
    }

    /// The options, of which each may be given once.
    private static func arguments(_ all: [String], replacing more: [String]) -> [String] {
        var kept = all
        for name in more where name.hasPrefix("--") {
            if let index = kept.firstIndex(of: name) { kept.removeSubrange(index...index + 1) }
        }
        return kept + more
    }

    private var errorsPath: String { "\(folder)/daemon-errors" }

    struct NotReady: Error, CustomStringConvertible {
        let description: String
    }
}

extension TestDaemon {
    static let schema = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Student",
              "attributes": [
                { "name": "name", "type": "string" },
                { "name": "birthOfYear", "type": "int64", "indexed": true },
                { "name": "visits", "type": "int64", "default": 0, "minimum": 0 } ] },
            { "name": "Article",
              "attributes": [
                { "name": "title", "type": "string" },
                { "name": "wordCount", "type": "int64", "default": 0 } ],
              "relationships": [
                { "name": "category", "destination": "Category", "inverse": "articles" },
                { "name": "collection", "destination": "ArticleCollection",
                  "inverse": "articles" } ] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string", "unique": true } ],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,
                  "inverse": "category" } ] },
            { "name": "ArticleCollection",
              "attributes": [ { "name": "name", "type": "string" } ],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,
                  "inverse": "collection", "deleteRule": "cascade" } ] } ] }
        """
}

/// The socket on which a process reports that it is ready.
private final class ReadinessSocket {
    let path: String
    private let descriptor: Int32

    init(path: String) throws {
        self.path = path
        descriptor = try boundSocket(SOCK_DGRAM, at: path)
    }

    deinit { close(descriptor) }

    /// - Returns: false if the process ended, or sent nothing for a minute.
    func wait(unlessEnded pipe: Int32) -> Bool {
        while true {
            var descriptors = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, 60_000) > 0 else { return false }
            if descriptors[0].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
                if text.split(separator: "\n").contains("READY=1") { return true }
            } else if descriptors[1].revents != 0 {
                return false
            }
        }
    }
}
