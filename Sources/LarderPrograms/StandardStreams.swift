import Glibc

/// Descriptors 0 to 2 and the signals that concern them.
package enum StandardStreams {
    /// Prepares the process. Both programs call it first.
    ///
    /// - Opens descriptors 0 to 2 if the parent process passed them closed. Otherwise a socket or
    ///   a database file could get one of these numbers and receive what the program prints. The
    ///   access mode is the wrong one on purpose: reading standard input and writing standard
    ///   output fail, as they do on a closed descriptor.
    /// - Ignores SIGPIPE and SIGXFSZ, so that a closed connection and a file size limit are
    ///   reported as errors.
    package static func prepare() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free descriptor. It is this one: those below are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Writes a text.
    ///
    /// - Returns: false if a part of it could not be written.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, Array(rest), rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
