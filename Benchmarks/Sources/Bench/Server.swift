import FoundationEssentials
import Glibc
import LarderClient
import LarderModel

/// A `larderd` on a store of its own, with full durability, started by socket activation: clients
/// may connect at once, and are answered when it is ready.
final class Server {
    let store: String
    let socket: String
    let program: Program
    private let listener: Int32
    private let run: Run

    /// - Parameters:
    ///   - store: an existing store, or nil for a new one.
    ///   - command: what runs `larderd`, if it is not to be run as it is.
    init(
        _ run: Run, store: String? = nil, isYearIndexed: Bool = false, command: [String]? = nil,
        environment: [String: String] = [:]
    ) throws {
        self.run = run
        self.store = store ?? run.path("school.store")
        socket = run.path("socket")
        let schema = run.path("schema.json")
        try School.schema(isYearIndexed: isYearIndexed).write(
            toFile: schema, atomically: true, encoding: .utf8)
        listener = try Self.listener(at: socket)
        let arguments = ["--store", self.store, "--schema", schema, "--log-level", "error"]
        // The shell alone can put the process's own number into its environment.
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
            throw Problem("the path of the socket is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, status == 0, listen(descriptor, 512) == 0 else {
            throw Problem("there is no socket at \(path)")
        }
        return descriptor
    }
}

/// Runs the closure in so many threads at once, and waits for all of them.
///
/// - Throws: what the first of the closures threw that did.
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
        precondition(status == 0, "the system gives no thread")
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
