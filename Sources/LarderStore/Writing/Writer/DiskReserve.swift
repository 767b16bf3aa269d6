import Glibc
import LarderModel

/// The space that a store leaves free on its disk, so that objects can be deleted when the store
/// has filled the rest.
///
/// A deletion needs space before it frees some: its pages are appended to the log, and a checkpoint
/// appends the pages of earlier transactions to the file. Without any, neither is possible, and the
/// store would stay full. The server's `DiskSpace` is the larger reserve of data besides the store.
struct DiskReserve {
    private static let bytesMax = 64 << 20
    private static let shareOfDisk = 32
    /// No transaction is expected to take more.
    private static let ampleBytes = 1 << 30

    private let freeBytes: Int
    private let reservedBytes: Int

    /// - Returns: nil if there is ample space, or if the file system does not tell.
    init?(in folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let block = Int(clamping: status.f_frsize)
        let free = Int(clamping: status.f_bavail)
        guard free < Self.ampleBytes / max(1, block) else { return nil }
        let diskBytes = Double(status.f_blocks) * Double(block)
        self.init(freeBytes: free * block, diskBytes: Int(clamped: diskBytes))
    }

    init(freeBytes: Int, diskBytes: Int) {
        self.freeBytes = freeBytes
        reservedBytes = min(Self.bytesMax, diskBytes / Self.shareOfDisk)
    }

    /// Whether a transaction that makes the store larger may be committed.
    ///
    /// - Parameters:
    ///   - addedBytes: The pages that the file does not have yet, with those of the transaction.
    ///     They are written to the log first, and then to the file.
    ///   - reusedBytes: The free pages of the file. If they are as many as the reserve, deletions
    ///     have made room, and the log alone needs space.
    func allows(addedBytes: Int, reusedBytes: Int) -> Bool {
        let needed = reusedBytes >= reservedBytes ? reservedBytes / 2 : reservedBytes
        return freeBytes - 2 * addedBytes >= needed
    }
}
