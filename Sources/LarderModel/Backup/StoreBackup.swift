public import FoundationEssentials

/// A backup that was made: a file with a copy of the store as it was at one moment.
public struct StoreBackup: Hashable, Sendable {
    /// The path of the file, as it was given.
    public var path: String
    /// The length of the file.
    public var byteCount: Int64
    /// The position in the history: the copy contains every transaction up to here, and no other.
    public var position: HistoryToken

    package init(path: String, byteCount: Int64, position: HistoryToken) {
        self.path = path
        self.byteCount = byteCount
        self.position = position
    }

    /// The UUID of the store.
    public var store: UUID { position.store }
}

/// A part of a backup that a server sends, or only its progress.
package struct BackupPart: Hashable, Sendable {
    /// The next bytes of the file; empty if the part reports progress only.
    package var content: [UInt8]
    /// The length of the file, as far as it is known: while pages are copied, the store may grow.
    package var byteCount: Int64
    /// The number of the last transaction in the copy; 0 while that is unknown.
    package var transaction: Int64

    package init(content: [UInt8] = [], byteCount: Int64, transaction: Int64 = 0) {
        self.content = content
        self.byteCount = byteCount
        self.transaction = transaction
    }
}
