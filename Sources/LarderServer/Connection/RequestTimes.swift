import LarderModel
import LarderWire
import NIOCore

/// The open requests of one connection, with their times.
///
/// Most requests have their reply within the turn that took them. The turn measures its time
/// anyway, so that they need no clock of their own.
struct RequestTimes {
    /// A request that has begun.
    struct Entry {
        let id: UInt64
        let kind: RequestKind
        let start: NIODeadline
        /// Counts requests of its shape; nil for those without one.
        var record: QueryCounters.RecordNumber?
        /// The id that the client gave it for the log; empty for none.
        let trace: String
        /// nil if it has none.
        var query: QueryShape?
    }

    /// A request that has ended.
    struct Ended {
        let kind: RequestKind
        let error: ErrorCode?
        let record: QueryCounters.RecordNumber?
    }

    /// The requests that have not had their last reply when their turn was over, in any order.
    /// They are few, and the last ones end first, so that a linear search is faster than hashing.
    private(set) var open: [Entry] = []
    /// The request that is being performed.
    private var current: Entry?
    /// The request that has ended in this turn.
    private var ended: Ended?

    mutating func begin(_ operation: Operation, at start: NIODeadline) {
        current = Entry(
            id: operation.id, kind: operation.kind.requestKind, start: start,
            trace: operation.trace)
    }

    /// The request that is being performed is counted in a record.
    mutating func count(in record: QueryCounters.RecordNumber?) { current?.record = record }

    /// A request that is being performed, or is open.
    func entry(of id: UInt64) -> Entry? {
        if let current, current.id == id { return current }
        return open.last { $0.id == id }
    }

    /// The operation was performed, as far as that takes one turn.
    mutating func suspend(_ operation: Operation) {
        guard current?.id == operation.id, var entry = current.take() else { return }
        entry.query = operation.kind.queryShape
        open.append(entry)
    }

    /// The last reply to a request has been made.
    ///
    /// - Parameter isInTurn: Whether the turn is running that took it, if it was not open.
    /// - Returns: the request and its time; nil if the end of the turn will have it.
    mutating func end(
        _ id: UInt64, _ error: ErrorCode?, isInTurn: Bool
    ) -> (Ended, TimeAmount)? {
        let entry: Entry
        if current?.id == id, let performed = current.take() {
            if isInTurn {
                ended = Ended(performed, error)
                return nil
            }
            entry = performed
        } else if let index = open.lastIndex(where: { $0.id == id }) {
            open.swapAt(index, open.count - 1)
            entry = open.removeLast()
        } else {
            return nil
        }
        return (Ended(entry, error), NIODeadline.now() - entry.start)
    }

    /// A request that had its reply without being performed.
    mutating func endAtOnce(_ kind: RequestKind, countedIn record: QueryCounters.RecordNumber?) {
        ended = Ended(kind: kind, error: nil, record: record)
    }

    /// Takes the request that has ended in the part of the turn which is over.
    mutating func takeEnded() -> Ended? {
        ended.take()
    }
}

extension RequestTimes.Ended {
    fileprivate init(_ entry: RequestTimes.Entry, _ error: ErrorCode?) {
        self.init(kind: entry.kind, error: error, record: entry.record)
    }
}

extension Operation.Kind {
    fileprivate var queryShape: QueryShape? {
        switch self {
        case .query(let request), .explain(let request), .analyze(let request): request.shape
        case .observe(let request): request.query.shape
        default: nil
        }
    }
}
