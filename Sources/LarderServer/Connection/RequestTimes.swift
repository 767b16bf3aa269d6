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
        let kind: RequestKind
        let start: NIODeadline
        /// nil if it has none.
        var query: QueryShape?
    }

    /// A request that has ended.
    struct Ended {
        let kind: RequestKind
        let error: ErrorCode?
    }

    /// The requests that have not had their last reply when their turn was over, by their ids.
    private(set) var open: [UInt64: Entry] = [:]
    /// The request that is being performed, and its id.
    private var current: (id: UInt64, entry: Entry)?
    /// The request that has ended in this turn.
    private var ended: Ended?

    mutating func begin(_ operation: Operation, at start: NIODeadline) {
        current = (operation.id, Entry(kind: operation.kind.requestKind, start: start))
    }

    /// The operation was performed, as far as that takes one turn.
    mutating func suspend(_ operation: Operation) {
        guard let current, current.id == operation.id else { return }
        self.current = nil
        open[current.id] = current.entry
        open[current.id]?.query = operation.kind.queryShape
    }

    /// The last reply to a request has been made.
    ///
    /// - Parameter isInTurn: Whether the turn is running that took it, if it was not open.
    /// - Returns: the request and its time; nil if the end of the turn will have it.
    mutating func end(
        _ id: UInt64, _ error: ErrorCode?, isInTurn: Bool
    ) -> (Ended, TimeAmount)? {
        let entry: Entry
        if let current, current.id == id {
            self.current = nil
            if isInTurn {
                ended = Ended(kind: current.entry.kind, error: error)
                return nil
            }
            entry = current.entry
        } else if let removed = open.removeValue(forKey: id) {
            entry = removed
        } else {
            return nil
        }
        return (Ended(kind: entry.kind, error: error), NIODeadline.now() - entry.start)
    }

    /// A request that had its reply without being performed.
    mutating func endAtOnce(_ kind: RequestKind) { ended = Ended(kind: kind, error: nil) }

    /// Takes the request that has ended in the part of the turn which is over.
    mutating func takeEnded() -> Ended? {
        guard let ended else { return nil }
        self.ended = nil
        return ended
    }
}

extension Operation.Kind {
    fileprivate var queryShape: QueryShape? {
        switch self {
        case .query(let request), .explain(let request): request.shape
        case .observe(let request): request.query.shape
        default: nil
        }
    }
}
