import LarderModel

/// Rows of statements that are run one after the other, batch by batch, with their lists.
///
/// A batch takes about as many bytes as it may, lists included, and a statement for each list
/// column: rows are read first, then their lists. Rows whose lists do not fit wait for the next.
struct BatchSource {
    private enum State {
        /// The next statement is to be begun.
        case between
        /// The statement stands on a row that no batch holds yet.
        case onRow
        case finished
    }

    private let session: ReadSession
    private var remaining: ArraySlice<SQL>
    private var statement: Statement?
    private let isOwn: Bool
    private var rowsLeft: Int64
    private let decoder: RowDecoder
    private let query: ResolvedQuery
    private var state = State.between
    /// Rows without lists, of which those before `waitingFrom` have been given.
    private var waiting: Batch?
    private var waitingFrom = 0
    /// How many rows' lists are read at once: fewer where not so many fit into a batch.
    private var listRowsMax = BatchSource.listRowsLimit
    private static let listRowsLimit = 16_384

    /// - Parameters:
    ///   - limit: how many rows the statements may give together; each has the same limit itself.
    ///   - isOwn: whether other statements with the same text may be in use meanwhile.
    init(
        _ session: ReadSession, _ query: ResolvedQuery, _ statements: [SQL], limit: Int64? = nil,
        isOwn: Bool = false
    ) {
        self.session = session
        self.remaining = statements[...]
        self.isOwn = isOwn
        self.rowsLeft = limit ?? .max
        self.query = query
        decoder = RowDecoder(query)
    }

    var hasLists: Bool { !decoder.lists.isEmpty }

    /// The next rows, at least one if there is one; `isLast` once none follow.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        guard hasLists else {
            try readRows(bytesMax: bytesMax)
            return (decoder.batch, state == .finished)
        }
        if waiting == nil {
            try readRows(bytesMax: bytesMax / 2)
            waiting = decoder.batch
            waitingFrom = 0
        }
        guard let rows = waiting else { preconditionFailure("rows were read") }
        var batch = try withLists(rows, bytesMax: bytesMax / 2)
        waitingFrom += batch.rowCount
        if waitingFrom == rows.rowCount { waiting = nil }
        if !query.givesIdentity { batch.identity = nil }
        return (batch, state == .finished && waiting == nil)
    }

    /// Ends the statement that runs.
    mutating func close() {
        state = .finished
        remaining = []
        guard let statement else { return }
        statement.reset()
        // A cached statement is not to keep a large argument alive.
        statement.clearBindings()
        self.statement = nil
    }

    // MARK: Rows

    private mutating func readRows(bytesMax: Int) throws(ReadFailure) {
        let (decoder, session) = (decoder, session)
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
        let statement =
            isOwn ? try session.ownStatement(sql.text) : try session.statement(sql.text)
        self.statement = statement
        try session.bind(sql.bindings, to: statement)
        if try session.step(statement) {
            state = .onRow
        } else {
            endStatement()
        }
    }

    /// The next statement is to follow.
    private mutating func endStatement() {
        let remaining = remaining
        close()
        self.remaining = remaining
        state = .between
    }

    // MARK: Lists

    /// The rows that wait, with their lists: as many as fit, at least one.
    private mutating func withLists(
        _ rows: Batch, bytesMax: Int
    ) throws(ReadFailure) -> Batch {
        var end = min(rows.rowCount, waitingFrom + listRowsMax)
        var columns: [(place: Int, column: Column)] = []
        for (place, list) in decoder.lists {
            let column = try readLists(
                list, rows, waitingFrom..<end, place, bytesMax: bytesMax)
            end = waitingFrom + column.rowCount
            columns.append((place, column))
        }
        let isCut = end < min(rows.rowCount, waitingFrom + listRowsMax)
        listRowsMax =
            isCut ? max(1, end - waitingFrom) : min(listRowsMax * 2, Self.listRowsLimit)
        var batch = rows.rows(waitingFrom..<end)
        for (place, column) in columns {
            // A later column may have been cut sooner.
            batch.columns[place] = column.rows(0..<batch.rowCount)
        }
        return batch
    }

    /// The lists of a range of rows, or of the first of them if all take too many bytes.
    private func readLists(
        _ list: PlanList, _ rows: Batch, _ range: Range<Int>, _ place: Int, bytesMax: Int
    ) throws(ReadFailure) -> Column {
        let column = rows.columns[place]
        var lists = Column(name: column.name, kind: column.kind)
        guard let keys = rows.identity?.keys[range], !keys.isEmpty else { return lists }
        let statement = try session.statement(list.sqlTextForMany)
        defer {
            statement.reset()
            statement.clearBindings()
        }
        try session.bind([.keys(keys)], to: statement)
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

extension SQLBinding {
    /// Keys as a JSON array, which `json_each` takes apart.
    static func keys(_ keys: some Sequence<Int64>) -> SQLBinding {
        .text("[\(keys.lazy.map(String.init).joined(separator: ","))]")
    }
}
