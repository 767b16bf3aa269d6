import LarderModel

/// A change set with its origin, as passed to the store.
package struct SaveRequest: Sendable {
    package var changeSet: ChangeSet
    package var source: ChangeSource
    /// Identifies the content of a change set that has an idempotency key, so that the store can
    /// detect a key that is reused for different changes. The receiver of the set computes it;
    /// ignored without a key.
    package var digest: UInt64
    /// The deadline and the cancellation of the save. After one of them it fails with
    /// `ErrorCode.timeout` or `ErrorCode.cancelled`, and nothing is stored, unless its commit has
    /// begun. Nil for no limit.
    package var budget: ReadBudget?
    /// The maximum size of the encoded result: a save with a larger one fails with
    /// `ErrorCode.resourceExhausted`, and nothing is stored. Nil for no limit.
    package var answerBytesMax: Int?
    /// The view for whose clients the set is saved: names that its schema does not have are errors.
    /// Nil for the view with the current schema.
    package var view: (any StoreView)?

    package init(
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

/// An insertion with its origin, as passed to the store.
package struct InsertionRequest: Sendable {
    package var insertion: Insertion
    package var source: ChangeSource
    /// The deadline and the cancellation, and the maximum size of the encoded result, as those of a
    /// ``SaveRequest``.
    package var budget: ReadBudget?
    package var answerBytesMax: Int?
    /// The view for whose clients the rows are inserted; nil for the view with the current schema.
    package var view: (any StoreView)?

    package init(
        _ insertion: Insertion, from source: ChangeSource = ChangeSource(),
        budget: ReadBudget? = nil, answerBytesMax: Int? = nil, view: (any StoreView)? = nil
    ) {
        self.insertion = insertion
        self.source = source
        self.budget = budget
        self.answerBytesMax = answerBytesMax
        self.view = view
    }
}
