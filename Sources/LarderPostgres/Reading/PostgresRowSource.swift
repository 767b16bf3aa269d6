#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// Reads the rows of statements, which run one after the other, in batches with their lists.
///
/// Each statement is a cursor of the server, from which about as many rows are fetched as one batch
/// has. So neither side holds the whole result. Rows are read first, then their lists, with one
/// statement per list column.
struct PostgresRowSource: PrefetchSource {
    private let session: PostgresSession
    private let query: ResolvedQuery
    private var remaining: ArraySlice<PostgresStatement>
    /// The number of the open cursor.
    private var cursor: Int?
    private var rowsLeft: Int64
    private var decoder: PostgresRowDecoder
    /// Rows that are in no batch yet.
    private var rows: ArraySlice<[PostgresValue]> = []
    private var rowsAtOnce = PostgresRowSource.firstRows
    private let now: Double

    private static let firstRows = 100
    private static let rowsMax = 8_192
    /// The number of rows whose lists are read at once.
    private static let listRowsMax = 256

    /// - Parameter limit: The maximum number of rows of all statements together.
    init(
        _ session: PostgresSession, _ query: ResolvedQuery, _ statements: [SQL],
        limit: Int64? = nil
    ) {
        self.session = session
        self.query = query
        remaining = statements.map { PostgresStatement($0) }[...]
        rowsLeft = limit ?? .max
        decoder = PostgresRowDecoder(query)
        now = session.store.now
    }

    init(_ session: PostgresSession, _ prefetch: PlanPrefetch, _ keys: [Int64]) {
        self.init(session, prefetch.query, [])
        remaining = [PostgresStatement(prefetch.statement.sql, key: .integers(keys), now: now)]
    }

    var hasLists: Bool { !decoder.lists.isEmpty }

    /// The next rows, at least one if there is one; `isLast` once none follow.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        while decoder.byteCount < bytesMax {
            if rows.isEmpty { try fetch(bytesMax: bytesMax) }
            if rows.isEmpty { break }
            try hasLists ? appendWithLists(bytesMax: bytesMax) : append(bytesMax: bytesMax)
        }
        // The last batch says that it is the last, so a row is looked for.
        if rows.isEmpty { try fetch(bytesMax: bytesMax) }
        let byteCount = max(1, decoder.byteCount / max(1, decoder.rowCount))
        rowsAtOnce = max(1, min(Self.rowsMax, bytesMax / byteCount))
        var batch = decoder.takeBatch()
        if !query.givesIdentity { batch.identity = nil }
        return (batch, rows.isEmpty)
    }

    /// Ends the running statement.
    mutating func close() {
        remaining = []
        rows = []
        closeCursor()
    }

    // MARK: Rows

    /// Fetches rows, if there are any. The first fetch of a statement declares its cursor.
    private mutating func fetch(bytesMax: Int) throws(ReadFailure) {
        while rows.isEmpty, rowsLeft > 0 {
            var statements: [PostgresStatement] = []
            if cursor == nil {
                guard var statement = remaining.popFirst() else { return }
                let number = session.takeCursor()
                cursor = number
                statements = session.beginSnapshot()
                statement.text =
                    "DECLARE \(PostgresSession.name(ofCursor: number)) NO SCROLL CURSOR FOR "
                    + statement.text
                statements.append(statement)
            }
            guard let cursor else { return }
            let count = Int(min(Int64(rowsAtOnce), rowsLeft))
            statements.append(
                PostgresStatement(
                    "FETCH \(Self.rounded(count)) FROM \(PostgresSession.name(ofCursor: cursor))",
                    returnsFewRows: true))
            let results = try session.run(statements)
            var fetched = (results.last?.rows ?? [])[...]
            if fetched.count < Self.rounded(count) { closeCursor() }
            fetched = fetched.prefix(Int(clamping: rowsLeft))
            rowsLeft -= Int64(fetched.count)
            rows = fetched
        }
        if rows.isEmpty { closeCursor() }
    }

    /// The next power of two, so that few statements have to be prepared.
    private static func rounded(_ count: Int) -> Int {
        var power = 1
        while power < count { power *= 2 }
        return power
    }

    private mutating func closeCursor() {
        guard let cursor else { return }
        session.closeCursor(cursor)
        self.cursor = nil
    }

    private mutating func append(bytesMax: Int) throws(ReadFailure) {
        while decoder.byteCount < bytesMax, let row = rows.popFirst() { try append(row) }
    }

    private mutating func append(_ row: [PostgresValue]) throws(ReadFailure) {
        do throws(PostgresError) { try decoder.append(row) } catch {
            throw .failed(error.larderError)
        }
    }

    // MARK: Lists

    /// Appends rows with their lists, as many as fit, at least one. Lists of rows that do not fit
    /// are read again.
    private mutating func appendWithLists(bytesMax: Int) throws(ReadFailure) {
        let part = rows.prefix(Self.listRowsMax)
        let lists = try session.lists(decoder.lists.map(\.list), of: part, now: now)
        for (index, row) in part.enumerated() where decoder.byteCount < bytesMax {
            try append(row)
            for (list, column) in zip(lists, decoder.lists) {
                decoder.append(list[index], at: column.column)
            }
            rows.removeFirst()
        }
    }
}

extension PostgresSession {
    /// Reads the lists of objects, of whose rows the first value is the key.
    ///
    /// - Returns: for each of the lists, one per object.
    func lists(
        _ lists: [PlanList], of rows: some Collection<[PostgresValue]>, now: Double
    ) throws(ReadFailure) -> [[PostgresList]] {
        let keys = rows.map { row in
            if case .integer(let key)? = row.first { key } else { Int64.min }
        }
        guard !keys.isEmpty else { return lists.map { _ in [] } }
        let results = try run(
            lists.map {
                PostgresStatement($0.statementForMany.sql, key: .integers(keys), now: now)
            })
        do throws(PostgresError) {
            var read: [[PostgresList]] = []
            for (list, result) in zip(lists, results) {
                var elements = [PostgresList](repeating: PostgresList(), count: keys.count)
                for row in result.rows {
                    let index = Int(try PostgresRowDecoder.integer(row, 0))
                    guard elements.indices.contains(index) else {
                        throw PostgresError(.unexpectedReply, "a list is of no object")
                    }
                    try elements[index].append(row, of: list)
                }
                read.append(elements)
            }
            return read
        } catch {
            throw failure(error)
        }
    }
}
#endif
