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
        let process = try start(socket: socket, session: session)
        let end: ChildProcess.End
        do throws(SystemError) {
            end = try ChildProcess.end(of: process)
        } catch {
            throw failure("is lost: \(error.text)")
        }
        switch end {
        case .exited(0): return
        case .exited(let status): throw failure("ended with status \(status)")
        case .killed(let signal): throw failure("was ended by signal \(signal)")
        }
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

    private func failure(_ event: String) -> LarderError {
        LarderError(
            .cancelled, "\(arguments[0]) of \(place) \(event); nothing was changed",
            hint: "the program performs its stage completely, and ends with status 0")
    }
}
