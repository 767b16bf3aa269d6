import Glibc

/// The disk space that data besides the store may take. It leaves a reserve free, because a full
/// disk rejects every save, deletes included.
enum DiskSpace {
    /// The reserve is an eighth of the file system, but at most this.
    private static let reserveBytesMax = 256 << 20

    /// The bytes that are free besides the reserve; nil if the file system does not tell.
    static func freeBytes(in folder: String) -> Int? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let block = Int(clamping: status.f_frsize)
        let (free, size) = (Int(clamping: status.f_bavail), Int(clamping: status.f_blocks))
        return max(0, free * block - min(reserveBytesMax, size / 8 * block))
    }
}
