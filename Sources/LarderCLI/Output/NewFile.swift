import Glibc
import LarderFiles
import LarderModel

/// Creates files.
enum NewFile {
    /// Writes the text to a new file. If that fails, no file is left.
    ///
    /// - Parameter permissions: Its permissions; nil is what the umask leaves of 0666.
    /// - Throws: `fileExists`, `storageFull`, `permissionDenied` and `storageFailed`.
    static func write(
        _ text: String, to path: String, permissions: mode_t? = nil
    ) throws(LarderError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw LarderFiles.NewFile.failure(path, errno)
        }
        var rest = Array(text.utf8)[...]
        var failureCode: Int32?
        if let permissions, fchmod(descriptor, permissions) != 0 { failureCode = errno }
        while !rest.isEmpty, failureCode == nil {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                failureCode = errno
            }
        }
        // Some file systems report a full disk only when the file is closed.
        if close(descriptor) != 0, failureCode == nil { failureCode = errno }
        guard let failureCode else { return }
        unlink(path)
        throw LarderFiles.NewFile.failure(path, failureCode)
    }
}
