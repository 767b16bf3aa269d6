import Glibc

/// What must hold of the process before a command runs.
enum StandardStreams {
    /// Occupies descriptors 0 to 2 where they were given closed, so that no socket takes their
    /// place and receives what is printed. Each is opened the wrong way round: its use then fails
    /// as that of a closed descriptor should. Ignores SIGPIPE (see `StandardOutput`), and SIGXFSZ,
    /// so that a file which may not grow is an error to be told.
    static func prepare() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free descriptor is this one, for those below it are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }
}
