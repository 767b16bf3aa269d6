import Glibc
import LarderModel
import LarderQuery
import LarderSQL

/// A reader's connection with its statements, the errors of its functions, and its transaction.
///
/// Used from one thread at a time, as its reader is.
final class ReadSession {
    let connection: Connection
    let conversions: Conversions
    private let statements: StatementCache
    /// The number of runs of statements, as a measure of the cost of a read.
    private(set) var runCount = 0
    /// The work of the statements that have ended, of all reads.
    private var allWork = ReadWork()
    /// How often the snapshot is pinned; it stays after a read while it is.
    private var pinCount = 0
    let groups: GroupedRows
    /// Keeps the store, and with it the claim on the file.
    let store: Store

    init(_ store: Store, _ connection: Connection) throws(LarderError) {
        do throws(SQLError) {
            groups = try StoreFunctions.register(on: connection)
        } catch {
            throw error.larderError
        }
        self.store = store
        self.connection = connection
        conversions = Conversions(connection.limit)
        statements = StatementCache(connection, counter: store.statementMemory)
    }

    var problems: FunctionFaults { connection.functionFaults }
    var layout: Layout { store.layout }
    var description: StoreDescription { store.storeDescription }
    var stamps: ChangeStamps { store.stamps }
    var objectBytesMax: Int { store.options.objectBytesMax }
    var parallelKeysMin: Int64 { store.options.parallelKeysMin }

    /// The memory of the prepared statements of all connections.
    var statementBytes: Int { store.statementMemory.byteCount }
    var formerValueStatistics: [Statistic] { store.formerValueCounters.statistics }

    /// The size of the write-ahead log.
    var logBytes: Int64 { Int64(store.logByteCount) }

    var checkpointCount: Int64 { Int64(store.checkpointCount.load(ordering: .relaxed)) }

    /// The free space of the file system; nil if it does not tell.
    var diskFreeBytes: Int64? {
        var status = statvfs()
        guard statvfs(store.folder, &status) == 0 else { return nil }
        return Int64(clamped: Double(status.f_bavail) * Double(status.f_frsize))
    }

    /// The state of the archive; empty for a store without one.
    func archiveStatistics(pageBytes: Int) -> [Statistic] {
        store.archive?.statistics(pageBytes: pageBytes) ?? []
    }

    /// A prepared statement, reset. It is not in use.
    func statement(_ sql: SQL) throws(ReadFailure) -> Statement {
        do throws(SQLError) { return try statements.statement(sql) } catch {
            throw failure(error)
        }
    }

    func bind(_ values: [SQLValue], to statement: Statement) throws(ReadFailure) {
        runCount += 1
        do throws(SQLError) { try statement.bind(values) } catch { throw failure(error) }
    }

    /// Seconds since 2001, by the clock of the store.
    var now: Double { store.options.clock().timeIntervalSinceReferenceDate }

    /// Binds the key of an object to a statement that reads it or one of its lists.
    ///
    /// - Parameter statement: That of `keyed`.
    func bind(
        key: Int64, of keyed: KeyStatement, to statement: Statement
    ) throws(ReadFailure) {
        guard keyed.hasKeyOnly else {
            return try bind(keyed.values(key: .integer(key), now: now), to: statement)
        }
        runCount += 1
        do throws(SQLError) { try statement.bind(integer: key, at: 1) } catch {
            throw failure(error)
        }
    }

    /// Advances to the next row; false if there is none.
    func step(_ statement: Statement) throws(ReadFailure) -> Bool {
        do throws(SQLError) { return try statement.step() } catch {
            throw failure(error)
        }
    }

    /// Ends the run of a statement that reads rows of a query.
    func end(_ statement: Statement) {
        statement.takeWork(&allWork)
        statement.reset()
        // The cached statement must not keep a large argument alive.
        statement.clearBindings()
    }

    /// The work of the statements that have ended.
    var work: ReadWork {
        var work = allWork
        work.preparation += statements.preparationTime
        return work
    }

    /// Limits the memory of prepared statements.
    func setStatementBytes(_ bytes: Int) { statements.setBytesMax(bytes) }

    /// Releases cached pages and prepared statements.
    func releaseMemory() {
        statements.removeAll()
        connection.releaseMemory()
    }

    /// Adds work that another connection has done for a read of this one.
    func add(_ work: ReadWork) { allWork.add(work) }

    /// Releases the groups of the last statement.
    func removeGroups() { groups.removeAll() }

    /// The number in the first row of a statement without parameters; 0 for none.
    func integer(_ sql: SQL) throws(ReadFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try step(statement) ? statement.int64(at: 0) : 0
    }

    /// Begins a transaction. Its snapshot is taken by its first read.
    func beginSnapshot() throws(ReadFailure) {
        if pinCount == 0 { try run(Self.begin) }
    }

    /// Ends the transaction, which has nothing to commit.
    func endSnapshot() {
        guard pinCount == 0, !connection.autocommit else { return }
        connection.setBudget(nil)
        // If this fails, the next BEGIN reports why.
        try? run(Self.rollback)
    }

    /// Whether reads have a snapshot that was taken before.
    var isPinned: Bool { pinCount > 0 }

    /// Begins a transaction that all reads share until ``unpinSnapshot()`` was called as often.
    func pinSnapshot() throws(ReadFailure) {
        try beginSnapshot()
        pinCount += 1
    }

    func unpinSnapshot() {
        pinCount -= 1
        endSnapshot()
    }

    private static let begin: SQL = "BEGIN"
    private static let rollback: SQL = "ROLLBACK"

    private func run(_ sql: SQL) throws(ReadFailure) {
        let statement = try statement(sql)
        defer { statement.reset() }
        _ = try step(statement)
    }

    /// The keys in an object's list.
    func list(_ list: PlanList, of key: Int64) throws(ReadFailure) -> ListedKeys {
        let statement = try statement(list.statement.sql)
        defer { statement.reset() }
        try bind(key: key, of: list.statement, to: statement)
        var keys = ListedKeys()
        while try step(statement) {
            keys.append(statement, at: 0, of: list)
        }
        return keys
    }

    /// The error that the caller gets for a failed statement.
    func failure(_ error: SQLError) -> ReadFailure {
        // The memory that this connection keeps is not worth a failed read of another one.
        if error.condition == .outOfMemory { releaseMemory() }
        // The error of a function that was stopped is not an error of the query.
        if let fault = problems.take(), connection.stopReason == nil { return .failed(fault) }
        // A stopped function ends its statement with the general result code.
        let isStopped = error.condition == .statement && connection.stopReason != nil
        guard isStopped || error.condition == .interrupted else {
            return .failed(error.queryLimit ?? error.larderError)
        }
        return stopFailure ?? .failed(error.larderError)
    }

    /// The failure of a read that its budget has stopped; nil if it has not.
    var stopFailure: ReadFailure? {
        switch connection.stopReason {
        case .stepsExceeded: .budgetExceeded
        case .deadlinePassed:
            .failed(
                LarderError(
                    .timeout, "the query took longer than it may",
                    hint: "narrow it, or allow it more time"))
        case .cancelled: .failed(LarderError(.cancelled, "the request was stopped"))
        case nil: nil
        }
    }

    /// The statements of a plan for these parameters. Their conversion is within the budget of the
    /// connection.
    func statements(
        _ plan: ReadPlan, _ parameters: QueryParameters
    ) throws(ReadFailure) -> [SQL] {
        do throws(LarderError) { return try plan.statements(parameters, conversions) } catch {
            throw stopFailure ?? .failed(error)
        }
    }
}
