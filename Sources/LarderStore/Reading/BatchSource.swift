import LarderModel
import LarderQuery
import LarderSQL

/// Reads the rows of statements, which run one after the other, in batches with their lists.
///
/// Rows are read first, then their lists, with one statement per list column. A batch has about the
/// requested number of bytes, lists included. Rows whose lists do not fit go to the next batch.
struct BatchSource: PrefetchSource {
    private enum State {
        /// No statement is running.
        case between
        /// The statement is on a row that is in no batch yet.
        case onRow
        case finished
    }

    private let session: ReadSession
    private var remaining: ArraySlice<SQL>
    private var statement: Statement?
    private var rowsLeft: Int64
    private var decoder: RowDecoder
    private let query: ResolvedQuery
    private var state = State.between
    /// Rows without lists. Those before `pendingStart` have been returned.
    private var pending: Batch?
    private var pendingStart = 0
    /// The number of rows whose lists are read at once. It decreases when a batch cannot hold them.
    private var listRowsMax = BatchSource.listRowsLimit
    private static let listRowsLimit = 16_384

    /// - Parameter limit: The maximum number of rows of all statements together. Each statement has
    ///   the same limit itself.
    init(
        _ session: ReadSession, _ query: ResolvedQuery, _ statements: [SQL], limit: Int64? = nil
    ) {
        self.session = session
        self.remaining = statements[...]
        self.rowsLeft = limit ?? .max
        self.query = query
        decoder = RowDecoder(query)
    }

    init(_ session: ReadSession, _ prefetch: PlanPrefetch, _ keys: [Int64]) {
        let statement = prefetch.statement.filled(key: .keys(keys), now: session.now)
        self.init(session, prefetch.query, [statement])
    }

    var hasLists: Bool { !decoder.lists.isEmpty }

    /// The next rows, at least one if there is one; `isLast` once none follow.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        guard hasLists else {
            try readRows(bytesMax: bytesMax)
            return (try decoder.batch(), state == .finished)
        }
        if pending == nil {
            try readRows(bytesMax: bytesMax / 2)
            pending = try decoder.batch()
            pendingStart = 0
        }
        guard let rows = pending else { preconditionFailure("rows were read") }
        var batch = try withLists(rows, bytesMax: bytesMax / 2)
        pendingStart += batch.rowCount
        if pendingStart == rows.rowCount { pending = nil }
        if !query.givesIdentity { batch.identity = nil }
        return (batch, state == .finished && pending == nil)
    }

    /// Ends the running statement.
    mutating func close() {
        state = .finished
        remaining = []
        guard let statement else { return }
        session.end(statement)
        self.statement = nil
    }

    // MARK: Rows

    private mutating func readRows(bytesMax: Int) throws(ReadFailure) {
        decoder.begin()
        while state == .between { try begin() }
        while state == .onRow, let statement {
            var isOnRow = true
            repeat {
                decoder.append(statement)
                rowsLeft -= 1
                isOnRow = rowsLeft > 0 ? try session.step(statement) : false
            } while isOnRow && decoder.byteCount < bytesMax
            if isOnRow { return }
            endStatement()
            while state == .between { try begin() }
            if decoder.byteCount >= bytesMax { return }
        }
    }

    private mutating func begin() throws(ReadFailure) {
        guard rowsLeft > 0, let sql = remaining.popFirst() else { return close() }
        let statement = try session.statement(sql)
        self.statement = statement
        try session.bind(sql.values, to: statement)
        if try session.step(statement) {
            state = .onRow
        } else {
            endStatement()
        }
    }

    /// Ends the statement; the next one follows.
    private mutating func endStatement() {
        let remaining = remaining
        close()
        self.remaining = remaining
        state = .between
    }

    // MARK: Lists

    /// The pending rows with their lists: as many as fit, at least one.
    private mutating func withLists(
        _ rows: Batch, bytesMax: Int
    ) throws(ReadFailure) -> Batch {
        var end = min(rows.rowCount, pendingStart + listRowsMax)
        var columns: [(index: Int, column: Column)] = []
        for (index, list) in decoder.lists {
            let column = try readLists(
                list, rows, pendingStart..<end, index, bytesMax: bytesMax)
            end = pendingStart + column.rowCount
            columns.append((index, column))
        }
        let isTruncated = end < min(rows.rowCount, pendingStart + listRowsMax)
        listRowsMax =
            isTruncated ? max(1, end - pendingStart) : min(listRowsMax * 2, Self.listRowsLimit)
        var batch = rows.rows(pendingStart..<end)
        for (index, column) in columns {
            // A later column may have ended earlier.
            batch.columns[index] = column.rows(0..<batch.rowCount)
        }
        return batch
    }

    /// The lists of a range of rows; only of the first ones if all take too many bytes.
    private func readLists(
        _ list: PlanList, _ rows: Batch, _ range: Range<Int>, _ columnIndex: Int, bytesMax: Int
    ) throws(ReadFailure) -> Column {
        let column = rows.columns[columnIndex]
        var lists = Column(name: column.name, kind: column.kind)
        guard let keys = rows.identity?.keys[range], !keys.isEmpty else { return lists }
        let statement = try session.statement(list.statementForMany.sql)
        defer { session.end(statement) }
        try session.bind(
            list.statementForMany.values(key: .keys(keys), now: session.now), to: statement)
        var elements = ListedKeys()
        while try session.step(statement) {
            let row = Int(statement.int64(at: 0))
            while lists.rowCount < row {
                lists.append(elements)
                elements.removeAll()
                if lists.byteCount >= bytesMax { return lists }
            }
            elements.append(statement, at: 1, of: list)
        }
        while lists.rowCount < range.count {
            lists.append(elements)
            elements.removeAll()
        }
        return lists
    }
}
