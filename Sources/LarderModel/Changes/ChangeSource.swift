/// Where a change set came from, as far as the store's own process knows it: what the history says
/// beside the author, whom the change set names itself.
public struct ChangeSource: Hashable, Sendable {
    /// The user and the process that connected, as the kernel says; nil where nobody did.
    public var userIdentifier: UInt32?
    public var processIdentifier: Int32?
    /// What the client calls itself; empty if it does not.
    public var clientName: String

    public init(
        userIdentifier: UInt32? = nil, processIdentifier: Int32? = nil, clientName: String = ""
    ) {
        self.userIdentifier = userIdentifier
        self.processIdentifier = processIdentifier
        self.clientName = clientName
    }
}

/// A change set, and where it came from.
public struct ReceivedChangeSet: Sendable {
    public var changeSet: ChangeSet
    public var source: ChangeSource
    /// By which the store sees whether a set that comes under a known idempotency key is the same
    /// one. Of use only if the set has a key; whoever received it makes it.
    public var digest: UInt64
    /// Past its deadline a set with changes by predicate ends with `ErrorCode.timeout`, and nothing
    /// is done. nil sets no bound.
    public var budget: ReadBudget?

    public init(
        _ changeSet: ChangeSet, from source: ChangeSource = ChangeSource(), digest: UInt64 = 0,
        budget: ReadBudget? = nil
    ) {
        self.changeSet = changeSet
        self.source = source
        self.digest = digest
        self.budget = budget
    }
}
