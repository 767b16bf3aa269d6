import Glibc

/// An error number of the operating system, such as `ENOENT`.
package struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno` after the call that failed.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The system's description of the error: "No such file or directory".
    package var text: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let memory = buffer.baseAddress,
                strerror_r(code, memory, buffer.count) == 0
            else { return "unknown error \(code)" }
            return String(cString: memory)
        }
    }
}
