#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// A reader's connection with its transaction. It is opened for the first read, and again after it
/// was lost.
///
/// Used from one thread at a time, as its reader is.
final class PostgresSession {
    let store: PostgresStore
    let limit = PostgresLimit()
    let conversions: Conversions
    private var connection: PostgresConnection?
    /// How often the snapshot is pinned; it stays after a read while it is.
    private var pinCount = 0
    private var isInSnapshot = false
    /// Whether the server has begun its transaction.
    private var hasTransaction = false
    private var hasSavepoint = false
    /// The numbers of the open cursors, and of those that the next round trip closes.
    private var cursors: Set<Int> = []
    private var unclosed: [Int] = []
    private(set) var work = ReadWork()

    init(_ store: PostgresStore) {
        self.store = store
        conversions = Conversions(limit)
    }

    // MARK: Statements

    /// Runs statements in one round trip.
    ///
    /// - Throws: the failure of the first one that fails, and what stopped the read.
    func run(_ statements: [PostgresStatement]) throws(ReadFailure) -> [PostgresRows] {
        if let failure = limit.failure { throw failure }
        limit.pause()
        work.statements += Int64(statements.count)
        let closing = unclosed.map { PostgresStatement("CLOSE \(Self.name(ofCursor: $0))") }
        cursors.subtract(unclosed)
        unclosed = []
        do throws(PostgresError) {
            let connection = try openConnection()
            var rows: [PostgresRows] = []
            var failure: PostgresError?
            let results = try connection.run(
                closing + statements, deadline: limit.deadline, stoppedBy: limit.cancellation)
            for result in results {
                switch result {
                case .success(let result): rows.append(result)
                case .failure(let error): failure = failure ?? error
                }
            }
            hasTransaction = isInSnapshot
            if let failure { throw failure }
            return Array(rows.dropFirst(closing.count))
        } catch {
            if connection?.isUsable != true { close() }
            throw failure(error)
        }
    }

    func run(_ statement: PostgresStatement) throws(ReadFailure) -> PostgresRows {
        try run([statement]).first ?? PostgresRows()
    }

    private func openConnection() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isUsable { return connection }
        // A pinned snapshot is lost with its connection.
        guard !hasTransaction else {
            throw PostgresError(.connectionLost, "the connection of the snapshot was lost")
        }
        let opened = try store.openConnection(deadline: limit.deadline)
        connection = opened
        return opened
    }

    /// The error that the caller gets for a failed statement.
    func failure(_ error: PostgresError) -> ReadFailure {
        switch error.condition {
        // The statement was stopped for a reason of the read's own.
        case .deadlinePassed, .cancelled: limit.failure ?? .failed(error.larderError)
        default: .failed(error.larderError)
        }
    }

    // MARK: Snapshots

    /// The statements before the first of a read that needs a snapshot. A read of a pinned one has
    /// a savepoint, because a statement that fails would end the transaction.
    func beginSnapshot() -> [PostgresStatement] {
        if isInSnapshot {
            guard pinCount > 0, !hasSavepoint else { return [] }
            hasSavepoint = true
            return [Self.savepoint]
        }
        isInSnapshot = true
        return [Self.begin]
    }

    /// Ends the transaction, which has nothing to commit, or the read of a pinned one.
    func endSnapshot() {
        guard isInSnapshot, pinCount == 0 || hasSavepoint else { return }
        let isPinned = pinCount > 0
        hasSavepoint = false
        forgetCursors()
        if !isPinned {
            isInSnapshot = false
            hasTransaction = false
        }
        guard let connection, connection.isUsable, connection.isInTransaction else { return }
        // A connection that cannot end its transaction is not used again.
        do throws(PostgresError) {
            try connection.run(
                isPinned ? Self.rollbackRead : Self.rollback, deadline: .now + Self.endTimeMax)
        } catch {
            self.connection = nil
        }
    }

    private static let begin = PostgresStatement(
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let rollback = PostgresStatement("ROLLBACK")
    private static let savepoint = PostgresStatement("SAVEPOINT larder_read")
    private static let rollbackRead = PostgresStatement("ROLLBACK TO SAVEPOINT larder_read")
    private static let endTimeMax = Duration.seconds(10)

    /// Begins a transaction that all reads share until ``unpinSnapshot()`` was called as often.
    ///
    /// - Returns: the number of the last transaction in it.
    func pinSnapshot() throws(ReadFailure) -> Int64 {
        do throws(ReadFailure) {
            let rows = try run(
                beginSnapshot() + [PostgresStatement(Layout.lastTransaction)])
            pinCount += 1
            endSnapshot()
            if case .integer(let number)? = rows.last?.rows.first?.first { return number }
            return 0
        } catch {
            endSnapshot()
            throw error
        }
    }

    func unpinSnapshot() {
        pinCount -= 1
        endSnapshot()
    }

    // MARK: Cursors

    static func name(ofCursor number: Int) -> String { "larder_\(number)" }

    /// A number for the name of a cursor that is not open.
    func takeCursor() -> Int {
        var number = 0
        while !cursors.insert(number).inserted { number += 1 }
        return number
    }

    /// Closes a cursor within a transaction that continues, with the next statements.
    func closeCursor(_ number: Int) {
        if cursors.contains(number) { unclosed.append(number) }
    }

    /// They end with their transaction or savepoint.
    private func forgetCursors() {
        cursors.removeAll()
        unclosed.removeAll()
    }

    func close() {
        connection = nil
        isInSnapshot = false
        hasTransaction = false
        hasSavepoint = false
        forgetCursors()
    }

    /// Closes the connection, unless it has a snapshot.
    func releaseMemory() { if !isInSnapshot { connection = nil } }

    /// The statements of a plan for these parameters, within the budget of the read.
    func statements(
        _ plan: ReadPlan, _ parameters: QueryParameters
    ) throws(ReadFailure) -> [SQL] {
        do throws(LarderError) { return try plan.statements(parameters, conversions) } catch {
            throw limit.failure ?? .failed(error)
        }
    }
}
#endif
