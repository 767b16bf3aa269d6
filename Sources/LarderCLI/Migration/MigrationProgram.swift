import Glibc
import LarderModel
import LarderPrograms

/// A stage that another program performs. It finds the server and the session in the variables
/// that `larder` reads too: `LARDER_SOCKET` and `LARDER_MIGRATION_SESSION`.
struct MigrationProgram {
    /// The program and its arguments. Without a slash it is looked for in `PATH`.
    let arguments: [String]
    /// Where it stands in the plan: `stages[1].didMigrate`.
    let place: String

    /// Runs the program to its end. What it writes to standard output goes to standard error,
    /// because the output is that of `migrate`.
    ///
    /// - Throws: `cancelled` if it cannot be started or does not end with status 0.
    func run(socket: String, session: String) throws(LarderError) {
        let status = try wait(for: start(socket: socket, session: session))
        // The macros of the system's header.
        let signal = status & 0x7f
        guard status != 0 else { return }
        throw failure(
            signal == 0
                ? "ended with status \(status >> 8 & 0xff)" : "was ended by signal \(signal)")
    }

    private func start(socket: String, session: String) throws(LarderError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        setenv(Environment.socket, socket, 1)
        setenv(Environment.migrationSession, session, 1)
        defer { unsetenv(Environment.migrationSession) }
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let result = posix_spawnp(&process, arguments[0], &actions, nil, words, environ)
        guard result == 0 else {
            throw failure("cannot be started: \(SystemError(code: result).text)")
        }
        return process
    }

    private func wait(for process: pid_t) throws(LarderError) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw failure("is lost: \(SystemError(code: errno).text)")
            }
        }
        return status
    }

    private func failure(_ event: String) -> LarderError {
        LarderError(
            .cancelled, "\(arguments[0]) of \(place) \(event); nothing was changed",
            hint: "the program performs its stage completely, and ends with status 0")
    }
}
