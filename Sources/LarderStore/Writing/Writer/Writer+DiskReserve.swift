import LarderModel
import LarderSQL

extension Writer {
    /// Looks at the free space of the disk, once per group of writes. A store in memory has no
    /// reserve.
    ///
    /// Where space is short, pages that become free are not overwritten: SQLite as Debian builds it
    /// writes zeros to them, so that a deletion would need as much space in the log as it frees.
    func measureDisk() {
        diskReserve = store.memory == nil ? DiskReserve(in: store.folder) : nil
        if diskReserve != nil {
            try? statements?.connection.execute("PRAGMA secure_delete = FAST")
        }
    }

    /// The error of a transaction that would use the reserve of the disk, before it is committed;
    /// nil if it may be committed.
    func reserveError(_ connection: Connection) throws(SQLError) -> LarderError? {
        guard let diskReserve else { return nil }
        func pragma(_ sql: SQL) throws(SQLError) -> Int {
            Int(try connection.integer(sql) ?? 0)
        }
        let pageBytes = try pragma("PRAGMA page_size")
        let bytes = try pragma("PRAGMA page_count") * pageBytes
        let freePageBytes = try pragma("PRAGMA freelist_count") * pageBytes
        let added = max(0, bytes - store.fileByteCount)
        return diskReserve.allows(addedBytes: added, reusedBytes: freePageBytes)
            ? nil : Self.reserveNeeded
    }

    private static let reserveNeeded = LarderError(
        .storageFull, "the disk of the store is full, apart from a reserve for deletions",
        hint: "delete objects, or free disk space; then try again")
}

extension ChangeSet {
    /// Whether the set only deletes objects, and so may use the reserve of the disk.
    var onlyDeletes: Bool {
        changes.allSatisfy { change in
            switch change {
            case .delete, .deleteAll: true
            case .insert, .update, .updateAll: false
            }
        }
    }
}
