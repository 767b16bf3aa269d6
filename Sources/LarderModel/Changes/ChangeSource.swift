/// The origin of a change set as the server process knows it. The history records it next to the
/// author, which the change set names itself.
public struct ChangeSource: Hashable, Sendable {
    /// The user ID and process ID of the connected peer, as reported by the kernel; nil for changes
    /// that did not arrive over a socket.
    public var userIdentifier: UInt32?
    public var processIdentifier: Int32?
    /// The name that the client gave at the handshake; empty if it gave none.
    public var clientName: String

    public init(
        userIdentifier: UInt32? = nil, processIdentifier: Int32? = nil, clientName: String = ""
    ) {
        self.userIdentifier = userIdentifier
        self.processIdentifier = processIdentifier
        self.clientName = clientName
    }
}

/// A change set with its origin, as passed to the store.
public struct SaveRequest: Sendable {
    public var changeSet: ChangeSet
    public var source: ChangeSource
    /// Identifies the content of a change set that has an idempotency key, so that the store can
    /// detect a key that is reused for different changes. The receiver of the set computes it;
    /// ignored without a key.
    public var digest: UInt64
    /// The deadline and the cancellation of the save. After one of them it fails with
    /// `ErrorCode.timeout` or `ErrorCode.cancelled`, and nothing is stored, unless its commit has
    /// begun. Nil for no limit.
    public var budget: ReadBudget?
    /// The maximum size of the encoded result: a save with a larger one fails with
    /// `ErrorCode.resourceExhausted`, and nothing is stored. Nil for no limit.
    public var answerBytesMax: Int?
    /// The view for whose clients the set is saved: names that its schema does not have are errors.
    /// Nil for the view with the current schema.
    public var view: (any StoreView)?

    public init(
        _ changeSet: ChangeSet, from source: ChangeSource = ChangeSource(), digest: UInt64 = 0,
        budget: ReadBudget? = nil, answerBytesMax: Int? = nil, view: (any StoreView)? = nil
    ) {
        self.changeSet = changeSet
        self.source = source
        self.digest = digest
        self.budget = budget
        self.answerBytesMax = answerBytesMax
        self.view = view
    }
}
