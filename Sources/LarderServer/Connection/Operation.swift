import LarderModel
import LarderWire

/// A request that the server performs and replies to. `ConnectionState` makes it of a message, and
/// handles the other messages (Hello, credit, cancellation, rows) alone.
struct Operation: Equatable {
    /// Large and rare cases are indirect, so that an operation is cheap to pass on.
    enum Kind: Equatable {
        case get([PersistentIdentifier], properties: [String]?)
        case query(QueryRequest)
        case explain(QueryRequest)
        case analyze(QueryRequest)
        case save(ChangeSet)
        case saveInParts
        case insertRows(Insertion)
        indirect case history(HistoryRequest)
        case deleteHistory(HistoryDeletion)
        case openSnapshot
        indirect case observe(ObserveRequest)
        case backup(credit: UInt32)
        case migrate(MigrateRequest)
        case schema
        case statistics
        case queryStatistics(reset: Bool)
        case activity
        case metrics
        case endRequests(connection: Int64, request: UInt64)
        case check
        case ping
    }

    let id: UInt64
    /// The time that the client waits, in milliseconds; 0 leaves it to the server.
    var timeoutMilliseconds: UInt32 = 0
    /// The id of the operation in whose snapshot to read; 0 reads the latest state.
    var snapshot: UInt64 = 0
    /// The id that the client gave it for the log; empty for none.
    var trace = ""
    let kind: Kind

    /// Whether the operation ends only if the client cancels it.
    var follows: Bool {
        switch kind {
        case .history(let request): request.follows
        case .observe: true
        default: false
        }
    }

    /// Whether the operation can read in a snapshot.
    var isRead: Bool {
        switch kind {
        case .get, .query, .explain, .analyze: true
        case .history(let request): !request.follows
        default: false
        }
    }

    /// The time that the operation may take: that of the client, but at most the server's maximum.
    func time(atMost limit: Duration) -> Duration {
        timeoutMilliseconds == 0 ? limit : min(limit, .milliseconds(Int64(timeoutMilliseconds)))
    }
}
