import Glibc

/// The type of a file, as an error names one that is where a file of Larder belongs.
///
/// To open a named pipe or to write through a symbolic link is not what a program means that opens
/// a file beside a store: the first may wait for ever, the second change any file.
package struct FileType: Sendable {
    private let type: UInt32

    /// - Parameter mode: `st_mode` of the file.
    package init(mode: UInt32) { type = mode & S_IFMT }

    package var isRegular: Bool { type == S_IFREG }

    package var text: String {
        switch type {
        case S_IFREG: "a regular file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    /// The error for a path at which there is another type of file.
    ///
    /// - Parameter role: The file that belongs there: "the log of the store".
    package func obstacle(at path: String, insteadOf role: String) -> LarderError {
        LarderError(
            .storageFailed, "\(path) is \(text), and \(role) would be there",
            hint: "move it to another folder; Larder has not made it")
    }
}
