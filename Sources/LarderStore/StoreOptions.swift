import FoundationEssentials
import LarderModel

/// How a store is opened.
package struct StoreOptions: Sendable {
    /// When a commit is acknowledged.
    package enum Synchronous: String, Hashable, Sendable, CaseIterable {
        /// After it is on disk: a commit survives a power failure.
        case full
        /// After the system has it: a power failure may lose the latest commits, and nothing else.
        case normal
    }

    package var synchronous: Synchronous
    /// Whether every change set is rejected. The process still owns the file and needs write
    /// permission, because SQLite creates its log next to it.
    package var isReadOnly: Bool

    /// Whether the store gets a new identifier, because it is a copy of another store.
    package var assignsNewIdentifier: Bool
    /// Whether the history begins a new epoch, because the store is a restored backup.
    var beginsNewEpoch = false
    /// Whether the store is a working copy, whose file is not recorded in the catalog.
    var isWorkingCopy = false

    /// Whether a store with another schema is migrated to the given one when it is opened.
    package var migrates: Bool
    /// Whether a given schema that the store had before a migration is ignored, because its file
    /// was not replaced. Otherwise it is an error, or with ``migrates`` the store is migrated back.
    package var ignoresPastSchemas = false

    /// The size up to which an object can be read and written; at least that of a frame.
    package var objectBytesMax = Limits.objectBytesMax

    /// A table with a smaller range of keys is read by one connection. Several read a quarter of
    /// this range at a time.
    package var parallelKeysMin: Int64 = 1 << 16

    /// The identifier of a store that is created; nil is a random one.
    package var newIdentifier: UUID?
    /// The time of transactions in the history, and the value of `now()`. It is called on any
    /// thread.
    package var clock: @Sendable () -> Date = { Date() }

    package init(
        synchronous: Synchronous = .full, isReadOnly: Bool = false,
        assignsNewIdentifier: Bool = false, migrates: Bool = false
    ) {
        self.synchronous = synchronous
        self.isReadOnly = isReadOnly
        self.assignsNewIdentifier = assignsNewIdentifier
        self.migrates = migrates
    }
}
