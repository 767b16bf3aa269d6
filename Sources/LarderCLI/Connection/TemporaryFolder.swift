import Glibc
import LarderModel

/// Folders for one command, which only its user can enter.
enum TemporaryFolder {
    /// Creates an empty folder in `TMPDIR`, or else in `/tmp`. The caller removes it.
    ///
    /// - Parameter purpose: What it is for, in the error: `a socket`.
    static func make(for purpose: String) throws(LarderError) -> String {
        // The system replaces the six letters.
        var path = Array("\(Environment.value("TMPDIR") ?? "/tmp")/larder-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else {
            throw LarderError(
                .storageFailed,
                "cannot create a folder for \(purpose): \(SystemError(code: errno).text)",
                hint: "set TMPDIR to a folder with room")
        }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes a folder with a store in it, as far as it exists.
    static func remove(_ folder: String, with store: String) {
        for ending in ["", "-wal", "-journal"] { unlink(store + ending) }
        rmdir(folder)
    }
}
