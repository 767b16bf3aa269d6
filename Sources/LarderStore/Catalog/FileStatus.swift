import CLinux
import Glibc

/// The identity and size of the file at a path, without its times.
///
/// A call of `stat` makes Linux give the next write to the file a time of its own, and `fdatasync`
/// then writes the inode too: for a log, one more access to the disk for each commit. `statx` can
/// leave the times out.
struct FileStatus {
    struct Identity: Hashable, Sendable {
        fileprivate let deviceMajor: UInt32
        fileprivate let deviceMinor: UInt32
        let inode: UInt64
    }

    let identity: Identity
    /// The number of its names.
    let linkCount: Int
    /// `S_IFREG` and so on.
    let type: mode_t

    /// - Returns: nil, with the reason in `errno`, if there is no file.
    init?(at path: String) {
        var status = statx()
        let mask = STATX_TYPE | STATX_NLINK | STATX_INO
        // By `withCString`, because passing the string would copy it for each commit.
        guard path.withCString({ larder_statx($0, mask, &status) }) == 0 else { return nil }
        identity = Identity(
            deviceMajor: status.stx_dev_major, deviceMinor: status.stx_dev_minor,
            inode: status.stx_ino)
        linkCount = Int(status.stx_nlink)
        type = mode_t(status.stx_mode) & S_IFMT
    }
}
