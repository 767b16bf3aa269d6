import LarderModel

/// Reads a store. Each read sees one committed state of the data.
package protocol StoreReader: AnyObject {
    /// The existing objects among these, as one batch per entity, rows in the order of the
    /// identifiers. `properties` nil selects every attribute and relationship, to-many included.
    ///
    /// An identifier of another store, a temporary identifier, an unknown entity and an unknown
    /// property are errors.
    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch]

    /// The stamp of an object, taken before these properties of it are read. The values are valid
    /// as long as the stamp is current, provided that the object exists.
    ///
    /// - Returns: nil while the object is being changed, or if these properties also depend on
    ///   other objects.
    func stamp(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp?

    /// Opens a cursor over the rows of a query. The cursor keeps its snapshot until it is closed. A
    /// reader has at most one open cursor. The budget limits the conversion of the parameters.
    ///
    /// - Parameter workers: Take a part of the read, if that is long, before this returns; nil for
    ///   none.
    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget,
        workers: (any ReadWorkers)?
    ) throws(ReadFailure) -> any ResultCursor

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation

    /// Pins the current state of the data: every read sees this state until ``unpinSnapshot()``. A
    /// state that is pinned already is pinned once more.
    ///
    /// - Returns: the number of the last transaction in it.
    func pinSnapshot() throws(LarderError) -> Int64

    func unpinSnapshot()

    /// The transactions of one part of the history, and where the next part begins. Each page has a
    /// snapshot of its own.
    func history(
        _ request: HistoryPageRequest, budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage

    /// The steps of a migration of the store to a schema.
    ///
    /// - Throws: `migrationRefused` with every reason that does not depend on the objects,
    ///   `malformedSchema` for a schema that cannot be stored.
    func migrationSummary(
        to schema: Schema, budget: ReadBudget
    ) throws(ReadFailure) -> MigrationSummary

    /// Verifies every object and every link of the store in one snapshot.
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport

    /// Releases the memory that the last reads needed. Reads afterwards are slower at first, so
    /// this is for a reader that becomes idle.
    func releaseMemory()

    /// Limits the memory for data that was read and may be read again. Prepared statements may take
    /// a quarter of it.
    func setCacheBytes(_ bytes: Int) throws(LarderError)

    /// The store's metrics for `stats`, in display order.
    func statistics() throws(LarderError) -> [Statistic]
}

extension StoreReader {
    package func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> any ResultCursor {
        try open(plan, parameters, budget: budget, workers: nil)
    }
}

/// Threads with readers of the same store, for parts of one long read.
package protocol ReadWorkers: Sendable {
    /// Runs work on the threads that are idle, once on each, with a reader of its own.
    ///
    /// - Returns: the number of threads.
    func start(_ work: @escaping @Sendable (any StoreReader, ReadBudget) -> Void) -> Int

    /// Returns when all of the work has ended.
    func wait()
}

/// The rows of a query, read batch by batch.
package protocol ResultCursor: AnyObject {
    /// The next rows: at least one, and about `bytesMax` bytes at most. `isLast` is true if no rows
    /// follow. A query without rows returns one empty batch, which has its columns.
    func next(bytesMax: Int, budget: ReadBudget) throws(ReadFailure) -> (batch: Batch, isLast: Bool)

    /// Releases the snapshot. It must be called once, also after an error.
    func close()

    /// The work of the database for the rows so far. After another read of the same reader, it is
    /// that of both.
    var work: ReadWork { get }
}
