package import LarderModel

/// A request to run a query and to keep its result up to date.
package struct ObserveRequest: Hashable, Sendable {
    package var query: QueryRequest
    /// The shortest time between two changes; 0 reports each commit.
    package var intervalMilliseconds: UInt32
    /// Whether the first sort key of the fetch divides its rows into sections.
    package var isSectioned: Bool

    package init(
        _ query: QueryRequest, intervalMilliseconds: UInt32 = 0, isSectioned: Bool = false
    ) {
        self.query = query
        self.intervalMilliseconds = intervalMilliseconds
        self.isSectioned = isSectioned
    }
}

/// The result of an observed query, or a change of it.
package struct ObserveReply: Hashable, Sendable {
    /// Whether the reply begins or ends a whole result.
    package var begins: Bool
    package var ends: Bool
    /// The next rows of a whole result, or the placed rows of a change.
    package var rows: Batch?
    /// The section of each of the rows, as one column; nil if there are no sections or no rows.
    package var sections: Batch?
    /// Changes only. It has a placement for each row.
    package var newIndexes: [UInt32]
    /// Changes only: the old indexes of the rows, each plus 1; 0 for an inserted row.
    package var oldIndexes: [UInt32]
    package var moved: [Bool]
    package var deleted: [UInt32]
    /// The position in the history to which the result belongs.
    package var position: HistoryToken

    package init(
        _ rows: Batch?, sections: Batch? = nil, at position: HistoryToken, begins: Bool = false,
        ends: Bool = false, newIndexes: [UInt32] = [], oldIndexes: [UInt32] = [],
        moved: [Bool] = [], deleted: [UInt32] = []
    ) {
        self.rows = rows
        self.sections = sections
        self.position = position
        self.begins = begins
        self.ends = ends
        self.newIndexes = newIndexes
        self.oldIndexes = oldIndexes
        self.moved = moved
        self.deleted = deleted
    }
}

// The messages `ObserveRequest` and `ObserveReply`.

extension ObserveRequest {
    init(decoding bytes: RawSpan) throws(LarderError) {
        var query: QueryRequest?
        var interval: UInt32 = 0
        var isSectioned = false
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                if query != nil { throw .repeated("the query of an observe request") }
                query = try QueryRequest(decoding: bytes)
            case (2, .number(let number)): interval = UInt32(truncatingIfNeeded: number)
            case (3, .number(let number)): isSectioned = number != 0
            case (1...3, _): throw .unreadable
            default: break
            }
        }
        guard let query else { throw .malformed("the query of an observe request is missing") }
        self.init(query, intervalMilliseconds: interval, isSectioned: isSectioned)
    }
}

extension ObserveReply {
    static func decode(
        _ bytes: RawSpan
    ) throws(LarderError) -> (reply: ObserveReply, more: Bool) {
        var position: HistoryToken?
        var (begins, ends, more) = (false, false, false)
        var (rows, sections): (Batch?, Batch?) = (nil, nil)
        var (newIndexes, oldIndexes, deleted): ([UInt32], [UInt32], [UInt32]) = ([], [], [])
        var moved: [Bool] = []
        var fields = FieldScanner(bytes)
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)): begins = number != 0
            case (2, .number(let number)): ends = number != 0
            case (3, .bytes(let bytes)):
                if rows != nil { throw .repeated("the rows of an observed reply") }
                rows = try Batch(decoding: bytes)
            case (4, let content):
                try content.forEachNumber { newIndexes.append(UInt32(truncatingIfNeeded: $0)) }
            case (5, let content):
                try content.forEachNumber { oldIndexes.append(UInt32(truncatingIfNeeded: $0)) }
            case (6, let content): try content.forEachNumber { moved.append($0 != 0) }
            case (7, let content):
                try content.forEachNumber { deleted.append(UInt32(truncatingIfNeeded: $0)) }
            case (8, .bytes(let bytes)):
                if position != nil { throw .repeated("the position of an observed reply") }
                position = try HistoryToken(decoding: bytes)
            case (9, .number(let number)): more = number != 0
            case (10, .bytes(let bytes)):
                if sections != nil { throw .repeated("the sections of an observed reply") }
                sections = try Batch(decoding: bytes)
            case (1...3, _), (8...10, _): throw .unreadable
            default: break
            }
        }
        guard let position else { throw .malformed("the position of an observed reply is missing") }
        guard newIndexes.count == oldIndexes.count, newIndexes.count == moved.count,
            newIndexes.isEmpty || newIndexes.count == rows?.rowCount,
            sections.map({ $0.columns.count == 1 && $0.rowCount == rows?.rowCount }) ?? true
        else { throw .malformed("the fields of an observed reply are inconsistent") }
        return (
            ObserveReply(
                rows, sections: sections, at: position, begins: begins, ends: ends,
                newIndexes: newIndexes, oldIndexes: oldIndexes, moved: moved, deleted: deleted),
            more
        )
    }
}

extension MessageBuffer {
    func observe(_ request: ObserveRequest) throws(LarderError) {
        try message(1) { () throws(LarderError) in try query(request.query) }
        number(2, UInt64(request.intervalMilliseconds))
        bool(3, request.isSectioned)
    }

    func observed(_ reply: ObserveReply, more: Bool) throws(LarderError) {
        bool(1, reply.begins)
        bool(2, reply.ends)
        if let rows = reply.rows { batch(3, rows) }
        try numbers(4, reply.newIndexes.map { UInt64($0) })
        try numbers(5, reply.oldIndexes.map { UInt64($0) })
        try numbers(6, reply.moved.map { $0 ? 1 : 0 })
        try numbers(7, reply.deleted.map { UInt64($0) })
        try token(8, reply.position)
        bool(9, more)
        if let sections = reply.sections { batch(10, sections) }
    }
}
