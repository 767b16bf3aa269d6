import Glibc
import LarderModel

/// A program that this one has started.
enum ChildProcess {
    /// How a process has ended.
    enum End {
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
}
