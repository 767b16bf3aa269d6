import Glibc
import LarderModel

/// A program that this one has started.
enum ChildProcess {
    /// How a process has ended.
    enum End: Equatable {
        case exited(_ status: Int32)
        case killed(_ signal: Int32)
    }

    /// Waits for the end of a child.
    static func end(of process: pid_t) throws(SystemError) -> End {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw SystemError(code: errno) }
        }
        // The macros of the system's header.
        let signal = status & 0x7f
        return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
    }

    // MARK: Input and output of the terminal

    /// Runs a program to its end with the output of this process, and returns its exit status, as
    /// a shell does: that of a signal is 128 and its number. The program has the default actions
    /// of signals.
    ///
    /// - Parameter sharesInput: Whether it has the input of this process too, or none.
    static func run(
        _ path: String, _ arguments: [String], sharesInput: Bool
    ) throws(SystemError) -> Int32 {
        let process = try start(path, arguments) { actions in
            guard !sharesInput else { return }
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        switch try end(of: process) {
        case .exited(let status): return status
        case .killed(let signal): return 128 + signal
        }
    }

    /// Starts a program that has the default actions of the signals that this process may ignore.
    ///
    /// - Parameter setDescriptors: Sets the descriptors that differ from those of this process.
    static func start(
        _ path: String, _ arguments: [String],
        setDescriptors: (inout posix_spawn_file_actions_t) -> Void
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        setDescriptors(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGPIPE, SIGXFSZ, SIGINT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let result = posix_spawn(&process, path, &actions, &attributes, words, environ)
        guard result == 0 else { throw SystemError(code: result) }
        return process
    }

    // MARK: Output

    /// Runs a program to its end. Without a slash it is looked for in `PATH`.
    ///
    /// - Returns: How it ended, and the first bytes of what it wrote, errors included.
    static func run(
        _ arguments: [String]
    ) throws(SystemError) -> (end: End, output: String) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let process = try start(arguments, writingTo: ends[1])
        let output = readToEnd(ends[0])
        return (try end(of: process), String(decoding: output, as: UTF8.self))
    }

    /// Starts a program, and closes the end of the pipe that it writes to, so that reading ends.
    private static func start(
        _ arguments: [String], writingTo end: Int32
    ) throws(SystemError) -> pid_t {
        defer { close(end) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, end, STDERR_FILENO)
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let result = posix_spawnp(&process, arguments[0], &actions, nil, words, environ)
        guard result == 0 else { throw SystemError(code: result) }
        return process
    }

    private static let outputBytesMax = 1 << 20

    /// The first bytes that arrive. Others are read too, so that the program does not wait.
    private static func readToEnd(_ descriptor: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return output }
            output += chunk.prefix(min(count, outputBytesMax - output.count))
        }
    }
}
