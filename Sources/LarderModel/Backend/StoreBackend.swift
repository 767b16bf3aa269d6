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

    /// Whether what was read of an object would be read again; the mark is a reader's.
    func isCurrent(_ mark: ObjectMark) -> Bool
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

/// One figure of `stats`.
public struct Statistic: Hashable, Sendable {
    public var name: String
    public var value: Value

    public init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}
