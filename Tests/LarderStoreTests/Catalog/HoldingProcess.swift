import Glibc

/// Another process that has a store file open until it is killed.
final class HoldingProcess {
    struct Failure: Error {
        var reason = "the process did not open the store file"
    }

    let processID: Int32
    private var isRunning = true

    /// Returns once the process has the file.
    ///
    /// - Parameter insertingInto: A table into which the process inserts a row, left in the log.
    init(path: String, insertingInto table: String? = nil) throws {
        let insert = table.map { "c.execute('INSERT INTO \($0) (_version) VALUES (1)');" } ?? ""
        let program = """
            import sqlite3, sys, time
            c = sqlite3.connect('file:' + sys.argv[1] + '?vfs=unix-excl', uri=True, timeout=0,
                                isolation_level=None)
            c.execute('SELECT count(*) FROM _larder').fetchall();\(insert)
            print('ready', flush=True)
            while True: time.sleep(3600)
            """
        var pipes: [Int32] = [0, 0]
        guard pipe(&pipes) == 0 else { throw Failure(reason: "no pipe can be opened") }
        defer { close(pipes[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclose(&actions, pipes[0])
        var arguments: [UnsafeMutablePointer<CChar>?] =
            ["python3", "-c", program, path].map { (text: String) in strdup(text) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let result = posix_spawnp(&child, "python3", &actions, nil, &arguments, environ)
        close(pipes[1])
        guard result == 0 else {
            throw Failure(reason: "python3 cannot be started; `scripts/test` installs it")
        }
        processID = child
        // The read ends with the output or with the process.
        var byte: UInt8 = 0
        guard read(pipes[0], &byte, 1) == 1 else {
            end()
            throw Failure()
        }
    }

    /// Kills the process and waits for its end.
    func end() {
        guard isRunning else { return }
        isRunning = false
        kill(processID, SIGKILL)
        var status: Int32 = 0
        waitpid(processID, &status, 0)
    }

    deinit { end() }
}
