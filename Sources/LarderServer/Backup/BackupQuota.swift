import LarderModel
import Synchronization

/// The limits that backups share: their number, and the disk space for the copies.
final class BackupQuota: Sendable {
    /// The right to make one backup, which ends with the object.
    final class Slot: Sendable {
        private let quota: BackupQuota
        private let user: UInt32

        fileprivate init(_ quota: BackupQuota, _ user: UInt32) {
            self.quota = quota
            self.user = user
        }

        deinit { quota.backups.withLock { $0.add(-1, to: user) } }

        /// Checks that a copy may take so many more bytes.
        func checkSpace(for bytes: Int) throws(LarderError) {
            guard bytes <= DiskSpace.freeBytes(in: quota.folder) ?? .max else {
                throw LarderError(
                    .storageFull,
                    "there is no disk space for a copy of the store: it needs \(bytes) bytes more",
                    hint: "free disk space where the store is")
            }
        }
    }

    /// The folder of the copies.
    let folder: String
    private let backups: Mutex<UserShares>

    init(folder: String, limits: ServerLimits) {
        self.folder = folder
        backups = Mutex(UserShares(limits.backups))
    }

    /// Admits one more backup.
    func begin(for user: UInt32) throws(LarderError) -> Slot {
        let isAdmitted = backups.withLock { $0.take(1, for: user) }
        guard isAdmitted else {
            throw LarderError(
                .resourceExhausted, "too many backups of this store are being made",
                hint: "wait until one of them has ended")
        }
        return Slot(self, user)
    }

    /// Adds the backups to the load of the server.
    func report(_ load: inout ServerLoad) { load.backupsRunning = Int64(count) }

    private var count: Int { backups.withLock { $0.used } }

    /// Metrics for `stats`.
    var statistics: [Statistic] { [Statistic("backups", .int(Int64(count)))] }
}
