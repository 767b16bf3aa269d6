import Glibc
import LarderModel

/// Runs the administrator's command for a finished file.
///
/// The command is a text for the shell, in which `$1` is the path of the file and `$2` its name.
/// They are arguments, so that no character in them has a meaning for the shell.
struct ShippingCommand {
    static let secondsMax: Int32 = 300

    let text: String
    var secondsMax = ShippingCommand.secondsMax

    /// - Returns: nil if the command ended with status 0, otherwise what happened.
    func run(path: String, name: String) -> String? {
        // The child has the other end until it ends.
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return SystemError(code: errno).text }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let started = start(["/bin/sh", "-c", text, "larder-archive", path, name], ends[1])
        close(ends[1])
        guard let process = try? started.get() else {
            guard case .failure(let error) = started else { return nil }
            return error.text
        }
        var isLate = false
        var end = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + .seconds(Int64(secondsMax))
        while true {
            let left = deadline - .now
            let milliseconds = left.components.seconds * 1_000
            let result = poll(&end, 1, Int32(clamping: max(0, milliseconds)))
            if result < 0, errno == EINTR { continue }
            isLate = result == 0
            break
        }
        // Its group, with all processes that it has started.
        if isLate { kill(-process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if isLate { return "it took longer than \(secondsMax) seconds" }
        if status & 0x7f != 0 { return "it was ended by signal \(status & 0x7f)" }
        let code = status >> 8 & 0xff
        return code == 0 ? nil : "it ended with status \(code)"
    }

    private func start(
        _ arguments: [String], _ descriptor: Int32
    ) -> Result<pid_t, SystemError> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The server ignores some signals and blocks others in its threads.
        var (ignored, none) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&ignored)
        for signal in [SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGTERM] { sigaddset(&ignored, signal) }
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var words = arguments.map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var process = pid_t()
        let status = posix_spawn(
            &process, arguments[0], &actions, &attributes, words, environ)
        return status == 0 ? .success(process) : .failure(SystemError(code: status))
    }
}
