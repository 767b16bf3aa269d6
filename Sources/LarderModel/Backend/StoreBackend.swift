public import FoundationEssentials
import Synchronization

/// What a server needs of a store, in the vocabulary only: plans in, rows out; change sets in,
/// results out. It names no SQL, no bytes and no sockets.
///
/// The backend itself and its plans may be used from any thread; a reader, its cursors, and the
/// writer from one thread at a time.
public protocol StoreBackend: AnyObject, Sendable {
    var storeDescription: StoreDescription { get }

    /// Resolves a query against the schema. Only `%K` arguments are read from the parameters; the
    /// plan says so, and then serves these parameters alone.
    func plan(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> any QueryPlan

    /// A connection of its own for reading; cheap enough to hold one a thread.
    func makeReader() throws(LarderError) -> any StoreReader

    /// The one writer; a second call is a bug in the caller.
    func makeWriter() throws(LarderError) -> any StoreWriter

    /// Differs after each commit; nil while one is under way. What was read between two equal ones
    /// would be read again.
    var dataVersion: UInt64? { get }
}

/// Which store this is.
public struct StoreDescription: Hashable, Sendable {
    public var identifier: UUID
    public var schema: Schema
    /// Sixteen hexadecimal digits that differ where schemas differ.
    public var fingerprint: String
    public var isReadOnly: Bool
    /// Where the store keeps its files, and what is put aside beside them.
    public var folder: String

    public init(
        identifier: UUID, schema: Schema, fingerprint: String, isReadOnly: Bool, folder: String
    ) {
        self.identifier = identifier
        self.schema = schema
        self.fingerprint = fingerprint
        self.isReadOnly = isReadOnly
        self.folder = folder
    }
}

/// A query that is resolved and ready to be asked, any number of times, by any reader of its store.
public protocol QueryPlan: AnyObject, Sendable {
    /// Whether the plan was made of argument values (`%K`), so that others need another plan.
    var dependsOnArguments: Bool { get }

    /// Whether the answer may be another one although nothing was saved; known once it has been
    /// asked.
    var dependsOnTime: Bool { get }
}

/// How much one read may do before it is stopped.
///
/// A class, since a moment of `ContinuousClock` is opaque to the compiler: copying one that is part
/// of a struct is a call, and a read by identifier passes its budget on some ten times.
public final class ReadBudget: Sendable {
    /// Virtual-machine steps of the database; past them the read ends with
    /// ``ReadFailure/stepsExceeded``.
    public let steps: Int?
    /// Past it the read ends in the same way: a step may call a function that takes long. It is
    /// counted from the first time that the read looks at the clock, which short ones never do.
    public let stepsTimeMax: Duration?
    /// Past it the read ends with `ErrorCode.timeout`.
    public let deadline: ContinuousClock.Instant?
    /// Once it is used the read ends with `ErrorCode.cancelled`.
    public let cancellation: ReadCancellation?

    public init(
        steps: Int? = nil, stepsTimeMax: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, cancellation: ReadCancellation? = nil
    ) {
        self.steps = steps
        self.stepsTimeMax = stepsTimeMax
        self.deadline = deadline
        self.cancellation = cancellation
    }

    /// Whether there is anything that it does not allow.
    public var isBounded: Bool {
        steps != nil || stepsTimeMax != nil || cancellation != nil || deadline != nil
    }
}

/// Ends a read that nobody waits for any more, from any thread, also while it computes.
public final class ReadCancellation: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public func cancel() { flag.store(true, ordering: .relaxed) }

    public var isCancelled: Bool { flag.load(ordering: .relaxed) }
}

/// Why a read gave no answer.
public enum ReadFailure: Error {
    /// More steps than the budget allows; nothing is wrong, ask again with a larger one.
    case stepsExceeded
    case failed(LarderError)
}

public protocol StoreReader: AnyObject {
    /// The objects that exist among those named, as one batch an entity, rows in the order asked.
    /// `properties` nil is every attribute and relationship, to-many ones included.
    ///
    /// Another store's identifier, a temporary one, an unknown entity or property is an error.
    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch]

    /// Opens a cursor over the answer. It keeps its snapshot until it is closed; one cursor at a
    /// time.
    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> any ResultCursor

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters
    ) throws(LarderError) -> Explanation

    /// Looks at every object and every link for what must hold of them, in one snapshot.
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport

    /// Figures about the store, for `stats`: name and value, in the order to show them.
    func statistics() throws(LarderError) -> [Statistic]
}

/// An answer that is read batch by batch.
public protocol ResultCursor: AnyObject {
    /// The next rows, up to about this many bytes and at least one row; `isLast` once none follow.
    /// The first batch is given even if it holds no row, so that the columns are known.
    func next(bytesMax: Int, budget: ReadBudget) throws(ReadFailure) -> (batch: Batch, isLast: Bool)

    /// Ends the snapshot. Called once, also after an error.
    func close()
}

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

/// One figure of `stats`.
public struct Statistic: Hashable, Sendable {
    public var name: String
    public var value: Value

    public init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}
