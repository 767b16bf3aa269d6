import FoundationEssentials
import Glibc
import LarderClient
import LarderModel

/// A `larderd` with a store of its own and full durability. It is started by socket activation, so
/// that clients can connect at once; the server answers as soon as it is ready.
final class Server {
    let store: String
    let socket: String
    let program: Program
    private let listener: Int32
    private let run: Run

    /// - Parameters:
    ///   - store: An existing store, or nil for a new one.
    ///   - schema: The text of the schema file; nil is that of the school.
    ///   - policy: The text of a policy; nil for none.
    ///   - command: The command that runs `larderd`, if it is not the program itself.
    init(
        _ run: Run, store: String? = nil, schema: String? = nil, policy: String? = nil,
        command: [String]? = nil, environment: [String: String] = [:]
    ) throws {
        self.run = run
        self.store = store ?? run.path("school.store")
        socket = run.path("socket")
        let schemaFile = run.path("schema.json")
        try (schema ?? School.schema(isYearIndexed: false)).write(
            toFile: schemaFile, atomically: true, encoding: .utf8)
        listener = try Self.listener(at: socket)
        var arguments = ["--store", self.store, "--schema", schemaFile, "--log-level", "error"]
        if let policy {
            let policyFile = run.path("policy.json")
            try policy.write(toFile: policyFile, atomically: true, encoding: .utf8)
            arguments += ["--policy", policyFile]
        }
        // LISTEN_PID is the process's own id, which only the shell can put into its environment.
        program = try Program(
            "/bin/sh",
            ["-c", "LISTEN_PID=$$ exec \"$0\" \"$@\""]
                + (command ?? [run.program("larderd")]) + arguments,
            descriptors: [nil, STDERR_FILENO, STDERR_FILENO, listener],
            environment: environment.merging(["LISTEN_FDS": "1"]) { $1 })
    }

    deinit {
        program.end()
        close(listener)
    }

    func connect(timeout: Duration = .seconds(300)) throws -> StoreClient {
        try Self.connect(to: socket, timeout: timeout)
    }

    static func connect(
        to socket: String, timeout: Duration = .seconds(300)
    ) throws -> StoreClient {
        var options = StoreClient.Options()
        options.clientName = "bench"
        options.requestTimeout = timeout
        options.connectTimeout = .seconds(60)
        options.reconnectWait = .zero
        return try StoreClient.connect(to: socket, options: options)
    }

    private static func listener(at path: String) throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Problem("the socket's path \(path) is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, status == 0, listen(descriptor, 512) == 0 else {
            throw Problem("a socket cannot be created at \(path)")
        }
        return descriptor
    }
}

/// Runs the closure in this number of threads, and waits for all of them.
///
/// - Throws: the error of the first thread that failed.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let works = (0..<count).map { ThreadWork($0, body) }
    let threads = works.map { work in
        var thread = pthread_t()
        let argument = Unmanaged.passUnretained(work).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<ThreadWork>.fromOpaque(argument).takeUnretainedValue().run()
                }
                return nil
            }, argument)
        precondition(status == 0, "a thread cannot be created")
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
    for work in works { if let error = work.error { throw error } }
}

/// Protected by `inThreads`, which reads the error after the thread has ended.
private final class ThreadWork: @unchecked Sendable {
    private(set) var error: (any Error)?
    private let number: Int
    private let body: @Sendable (Int) throws -> Void

    init(_ number: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
        self.number = number
        self.body = body
    }

    func run() {
        do { try body(number) } catch { self.error = error }
    }
}
