/// How a store is opened.
public struct StoreOptions: Hashable, Sendable {
    /// When a commit is acknowledged.
    public enum Synchronous: String, Hashable, Sendable, CaseIterable {
        /// Once it is on disk.
        case full
        /// Once the system has it: a loss of power may take the last commits, never more.
        case normal
    }

    public var synchronous: Synchronous
    /// Refuses every change set. The process still owns the file, and needs the right to write it,
    /// since SQLite keeps its log beside it.
    public var isReadOnly: Bool

    public init(synchronous: Synchronous = .full, isReadOnly: Bool = false) {
        self.synchronous = synchronous
        self.isReadOnly = isReadOnly
    }
}
