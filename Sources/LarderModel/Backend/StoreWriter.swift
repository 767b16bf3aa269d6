public protocol StoreWriter: AnyObject {
    /// Applies each set on its own, commits once, then returns an outcome for each, in order. A set
    /// that fails leaves nothing; a commit that fails fails them all. Each that changes anything is
    /// one transaction of the history.
    ///
    /// - Parameter more: Asked before the commit for sets that have come meanwhile and go with it,
    ///   until it gives none; their outcomes follow the others'.
    func save(
        _ sets: [ReceivedChangeSet], more: () -> [ReceivedChangeSet]
    ) -> [Result<SaveResult, LarderError>]

    /// Saves one set by itself, where that is short. nil, with nothing done, if it takes more than
    /// the budget allows, or if the storage has to be tried first.
    func save(_ set: ReceivedChangeSet, within: ReadBudget) -> Result<SaveResult, LarderError>?

    /// Inserts the rows of a source, all of them or none, as one transaction, which is committed
    /// before this returns. Rows are read one batch at a time, and not gathered.
    ///
    /// - Parameter firstRow: The place of the source's first row in its stream, for faults: they
    ///   name the place of their row as that of a change.
    func insert(
        _ insertion: ReceivedInsertion, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError>

    /// Whether the log has grown so far that ``checkpointIfNeeded()`` has something to do.
    var needsCheckpoint: Bool { get }

    /// Moves the log into the file as far as readers allow, between groups when it has grown.
    func checkpointIfNeeded()

    /// The final checkpoint and the end of the writer.
    func close()
}

extension StoreWriter {
    public func save(_ sets: [ReceivedChangeSet]) -> [Result<SaveResult, LarderError>] {
        save(sets, more: { [] })
    }

    /// Change sets that came from nowhere else.
    public func save(_ sets: [ChangeSet]) -> [Result<SaveResult, LarderError>] {
        save(sets.map { ReceivedChangeSet($0) })
    }
}

/// Where the rows of an insertion come from, batch by batch; used on one thread.
public protocol RowSource: AnyObject {
    /// The next rows; nil after the last.
    ///
    /// - Throws: why there will be no more of them, and nothing is to be stored.
    func next() throws(LarderError) -> Batch?
}
