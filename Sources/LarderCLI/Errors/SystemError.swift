import Glibc

/// What the system calls an error number.
enum SystemError {
    static func sentence(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}
