import Glibc
import LarderModel

/// The file of a store that was closed completely, as the archive records it.
///
/// If the file is unchanged when the store is opened again, the archive continues. A program that
/// changes the file changes the time in its inode, which no program can set.
struct ClosedStore: Hashable {
    let inode: UInt64
    let byteCount: Int64
    let changeSeconds: Int64
    let changeNanoseconds: Int64

    /// nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        changeSeconds = Int64(status.st_ctim.tv_sec)
        changeNanoseconds = Int64(status.st_ctim.tv_nsec)
    }

    /// With the identity of the last segment.
    func text(_ identity: UInt64) -> String {
        "\(identity) \(inode) \(byteCount) \(changeSeconds) \(changeNanoseconds)\n"
    }
}
