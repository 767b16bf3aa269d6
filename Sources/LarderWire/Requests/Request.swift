package import LarderModel

/// A request, and the id under which it is answered.
package struct RequestEnvelope: Hashable, Sendable {
    /// Chosen by the client, unique among its unanswered requests; not 0.
    package var id: UInt64
    /// How long the client waits, in milliseconds; 0 leaves it to the server's own limit.
    package var timeoutMilliseconds: UInt32
    /// For a read: the id of the ``Request/openSnapshot`` in whose snapshot to read; 0 reads the
    /// latest state.
    package var snapshot: UInt64
    /// The id of the client's choice for the server's log; empty for none. See ``RequestTrace``.
    package var trace: String
    package var request: Request

    package init(
        id: UInt64, timeoutMilliseconds: UInt32 = 0, snapshot: UInt64 = 0, trace: String = "",
        request: Request
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.snapshot = snapshot
        self.trace = trace
        self.request = request
    }
}

/// One operation of the protocol.
///
/// Large and rare cases are indirect, so that a request is cheap to pass on: an event with a
/// request has at most 128 bytes, which are moved without a call.
package enum Request: Hashable, Sendable {
    /// Opens a connection. It is the first request, and is sent once.
    indirect case hello(Hello)
    /// Reads those of the objects that exist; `properties` nil reads all.
    case get([PersistentIdentifier], properties: [String]?)
    case query(QueryRequest)
    case explain(QueryRequest)
    /// Runs a query and says what that took, without its rows.
    case analyze(QueryRequest)
    case save(ChangeSet)
    /// Opens a save whose change set arrives as ``savePart(requestID:_:isLast:)``.
    case saveInParts
    /// A part of such a change set. Has no reply of its own.
    case savePart(requestID: UInt64, [UInt8], isLast: Bool)
    /// Opens a stream of new objects, which arrive as ``rows(requestID:_:isLast:)``.
    case insertRows(Insertion)
    /// Rows of such a stream, or none. Has no reply of its own.
    indirect case rows(requestID: UInt64, Batch?, isLast: Bool)
    /// Reads transactions of the history, once or continuously.
    indirect case history(HistoryRequest)
    case deleteHistory(HistoryDeletion)
    /// Pins the current state of the store for several reads.
    case openSnapshot
    /// Runs a query and keeps its result up to date.
    indirect case observe(ObserveRequest)
    /// Makes a copy of the store. `credit` is the number of replies that the server may send before
    /// it waits for more credit; 0 is unlimited.
    case backup(credit: UInt32)
    /// Changes the store to a new schema, or says what that would do.
    case migrate(MigrateRequest)
    /// Reads the store's schema file.
    case schema
    case statistics
    case activity
    /// Reads the metrics of the server as text.
    case metrics
    /// Reads the statistics of queries. Those of all users begin again if `reset`.
    case queryStatistics(reset: Bool)
    /// Ends one running request of a connection, or with the id 0 all of them.
    case endRequests(connection: Int64, request: UInt64)
    /// Verifies the integrity of the whole store.
    case check
    /// Answered after a round trip through the reader and the writer queue.
    case ping
    /// Allows the stream that answers this request more batches. Has no reply of its own.
    case credit(requestID: UInt64, batches: UInt32)
    /// Ends the stream that answers this request. Has no reply of its own.
    case cancel(requestID: UInt64)
}

package enum WireProtocol {
    /// The only version so far.
    package static let version: UInt32 = 1

    /// The capability of a server that accepts ``Request/saveInParts``.
    package static let savesInParts = "saveInParts"
    /// The capability of a server that undoes the changes of a set with ``ChangeSet/isDryRun``.
    package static let dryRuns = "dryRun"
}
