import Glibc

/// An error number of the operating system (`errno`).
package struct SystemError: Error, Hashable, Sendable {
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The system's message for the code, such as `No such file or directory`.
    package var text: String { String(cString: strerror(code)) }
}
