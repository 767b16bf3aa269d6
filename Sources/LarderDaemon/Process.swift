import Glibc

/// The process before it serves.
enum Process {
    /// Makes the process fit to own a store: descriptors 0 to 2 are occupied, so that nothing
    /// printed can ever land in a database file; a peer that has gone and a file that may not
    /// grow are errors to be answered, not signals; and the descriptors that the system allows may
    /// be used.
    static func prepare() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor is the one that is missing.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// A line on standard error.
    static func say(_ line: String) {
        LineWriter.write(line)
    }
}

/// Lines on standard error, each written whole.
enum LineWriter {
    static func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // Who does not read what is said must not stop the server.
            guard count > 0 else { return }
            written += count
        }
    }
}
