import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A process of one of the built programs.
final class ChildProcess {
    private let processIdentifier: pid_t
    private var status: Int32?

    /// - Parameters:
    ///   - output: The descriptor for standard output; nil is /dev/null.
    ///   - errors: The file for standard error.
    init(
        _ name: String, _ arguments: [String], environment: [String: String] = [:],
        output: Int32?, errors: String
    ) throws {
        // LARDER_BIN_DIR names another folder than that of the running tests.
        let path = try TestProgram.path(
            of: name, in: ProcessInfo.processInfo.environment["LARDER_BIN_DIR"])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_addopen(
            &actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let argumentTexts = ([path] + arguments).map { strdup($0) } + [nil]
        let variableTexts = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argumentTexts + variableTexts { free(text) } }
        var identifier = pid_t()
        let status = posix_spawn(
            &identifier, path, &actions, nil, argumentTexts, variableTexts)
        try #require(status == 0, "\(path) cannot be started: error number \(status)")
        processIdentifier = identifier
    }

    deinit {
        if status == nil {
            kill(processIdentifier, SIGKILL)
            wait()
        }
    }

    var identifier: Int { Int(processIdentifier) }

    func send(_ signal: Int32) {
        if status == nil { kill(processIdentifier, signal) }
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: its exit status, or 128 plus the number of the signal that ended it.
    @discardableResult
    func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(processIdentifier, &raw, 0) < 0 && errno == EINTR {}
        let ended = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F
        status = ended
        return ended
    }
}

/// The result of a process that has ended.
struct ProcessResult {
    var status: Int32
    var output: String
    var errors: String
}
