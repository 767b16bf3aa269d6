import LarderModel

/// A store as a server sees it, in the vocabulary only: plans in, rows out; change sets in, results
/// out. It names no SQL, no encoded bytes, no files and no sockets.
///
/// The backend and its plans may be used from any thread. A reader with its cursors, and the
/// writer, are used from one thread at a time.
///
/// As a ``StoreView`` it has the current schema.
package protocol StoreBackend: StoreView {
    /// The length of the write-ahead log on disk; 0 if there is none.
    var logByteCount: Int { get }

    /// Whether reads wait for another process, so that no event loop may perform one.
    var readsWait: Bool { get }

    /// The view of clients that were built for a former schema which the current one only adds to.
    ///
    /// - Parameters:
    ///   - version: The version of the former schema; empty for any.
    ///   - fingerprint: Its fingerprint; empty for any.
    /// - Returns: the latest one; nil if there is none.
    func formerView(version: String, fingerprint: String) -> (any StoreView)?

    /// The view of a user with limited rights.
    ///
    /// - Parameter former: The view of the clients of a former schema, to whose names the rights
    ///   are limited; nil for clients of the current one.
    /// - Throws: an error of a rule that does not fit the schema.
    func limitedView(
        _ rights: Rights, for former: (any StoreView)?
    ) throws(LarderError) -> any StoreView

    /// A new reader with its own connection to the data. Cheap enough for one per thread.
    func makeReader() throws(LarderError) -> any StoreReader

    /// The only writer; a second call is a bug in the caller.
    func makeWriter() throws(LarderError) -> any StoreWriter

    /// Begins a copy of a store that has no writer; see ``StoreWriter/makeCopy(in:)``.
    func makeCopy(in folder: String) throws(LarderError) -> any StoreCopy

    /// Whether a stamp that one of the store's readers returned is still current. See
    /// ``ObjectStamp``.
    func isCurrent(_ stamp: ObjectStamp) -> Bool

    /// Keeps other processes from opening the store until ``reopened(_:progress:)``, also while its
    /// writer and its readers are closed.
    ///
    /// - Throws: `unsupported` if it cannot be reopened.
    func prepareToReopen() throws(LarderError)

    /// Copies the store, after its writer and all readers have been closed, to a store of its own.
    /// ``reopened(_:progress:)`` stores the contents of the copy in this store; otherwise the copy
    /// disappears with its last reference.
    ///
    /// - Throws: also `cancelled`.
    func makeWorkingCopy(
        stoppedBy cancellation: ReadCancellation
    ) throws(LarderError) -> any StoreBackend

    /// Opens the store again, after its writer and all readers have been closed.
    ///
    /// - Parameter progress: Called before each step of a change.
    /// - Throws: `migrationRefused` with every object that a schema does not permit, `cancelled`
    ///   before a change has been committed, or a failure of the storage. The store is then as it
    ///   was, and can be opened again without a change.
    func reopened(
        _ change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend
}

/// How a store changes when it is opened again.
package enum ReopeningChange: Sendable {
    case none
    /// It is migrated to this schema.
    case migration(Schema, stoppedBy: ReadCancellation)
    /// It gets the contents of its working copy, whose writer and readers have been closed.
    case contents(of: any StoreBackend, stoppedBy: ReadCancellation)
}

/// A store that cannot be migrated uses these.
extension StoreBackend {
    package var readsWait: Bool { false }

    package func formerView(version: String, fingerprint: String) -> (any StoreView)? { nil }

    package func limitedView(_ rights: Rights) throws(LarderError) -> any StoreView {
        try limitedView(rights, for: nil)
    }

    package func limitedView(
        _ rights: Rights, for former: (any StoreView)?
    ) throws(LarderError) -> any StoreView {
        throw LarderError(.unsupported, "this store has no policies")
    }

    private static var cannotBeMigrated: LarderError {
        LarderError(.unsupported, "this store cannot be migrated while it is served")
    }

    package func prepareToReopen() throws(LarderError) { throw Self.cannotBeMigrated }

    package func makeWorkingCopy(
        stoppedBy cancellation: ReadCancellation
    ) throws(LarderError) -> any StoreBackend {
        throw Self.cannotBeMigrated
    }

    package func reopened(
        _ change: ReopeningChange, progress: @escaping @Sendable (MigrationProgress) -> Void
    ) throws(LarderError) -> any StoreBackend {
        throw Self.cannotBeMigrated
    }
}

/// A resolved query. Any reader of its store can execute it any number of times.
package protocol QueryPlan: AnyObject, Sendable {
    /// Whether the plan contains argument values (`%K`), so that other arguments need another plan.
    var dependsOnArguments: Bool { get }

    /// Whether the plan is that of the query with these parameters. The types of some arguments
    /// decide those of functions.
    func serves(_ parameters: QueryParameters) -> Bool

    /// Roughly the memory that the plan takes now. It grows while the plan is used with parameters
    /// of other kinds, within a bound.
    var byteCount: Int { get }
}
