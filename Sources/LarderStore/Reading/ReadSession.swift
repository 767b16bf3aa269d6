import CSQLite
import Glibc
import LarderModel

/// A reader's connection with what belongs to it: statements, functions' errors, the transaction.
///
/// Used from one thread at a time, as its reader is.
final class ReadSession {
    let connection: Connection
    private let statements: StatementCache
    /// How many times a statement was run with values of its own: what a read costs in statements.
    private(set) var runCount = 0
    private let faults: FunctionFaults
    private let groups: GroupedRows
    /// Keeps the store, and with it the claim on the file.
    private let store: Store

    init(_ store: Store) throws(LarderError) {
        let connection = try store.openReadConnection()
        do throws(SQLiteError) {
            (faults, groups) = try StoreFunctions.register(on: connection)
            try connection.registerRowFunction()
        } catch {
            throw error.larderError
        }
        self.store = store
        self.connection = connection
        statements = StatementCache(connection)
    }

    var layout: Layout { store.layout }
    var description: StoreDescription { store.storeDescription }
    var marks: ChangeMarks { store.marks }

    /// How large the write-ahead log is; 0 where there is none.
    var logBytes: Int64 {
        var status = stat()
        return stat(store.path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }

    /// A compiled statement, reset. It must not be in use already.
    func statement(_ text: String) throws(ReadFailure) -> Statement {
        do throws(SQLiteError) { return try statements.statement(text) } catch {
            throw failure(error)
        }
    }

    /// A compiled statement that nobody else uses.
    func ownStatement(
        _ text: String, persistent: Bool = false
    ) throws(ReadFailure) -> Statement {
        do throws(SQLiteError) {
            return try connection.prepare(text, persistent: persistent)
        } catch {
            throw failure(error)
        }
    }

    func bind(_ bindings: [SQLBinding], to statement: Statement) throws(ReadFailure) {
        runCount += 1
        do throws(SQLiteError) { try statement.bind(bindings) } catch { throw failure(error) }
    }

    /// Binds the only parameter of a statement that reads an object, or one of its lists.
    func bind(key: Int64, to statement: Statement) throws(ReadFailure) {
        runCount += 1
        do throws(SQLiteError) { try statement.bind(integer: key, at: 1) } catch {
            throw failure(error)
        }
    }

    /// Advances to the next row; false when there is none left.
    func step(_ statement: Statement) throws(ReadFailure) -> Bool {
        do throws(SQLiteError) { return try statement.step() } catch {
            throw failure(error)
        }
    }

    /// Advances until the rows that are handed over are enough; false when none is left.
    func step(
        _ statement: Statement, handingOver rows: HandedRows
    ) throws(ReadFailure) -> Bool {
        do throws(SQLiteError) { return try statement.step(handingOver: rows) } catch {
            throw failure(error)
        }
    }

    /// Forgets the groups of the statement that ran last.
    func removeGroups() { groups.removeAll() }

    /// Begins a transaction, whose snapshot is that of its first read.
    func beginSnapshot() throws(ReadFailure) { try run("BEGIN") }

    /// Ends it; there is nothing to commit.
    func endSnapshot() {
        guard !connection.autocommit else { return }
        connection.setBudget(nil)
        // If even this fails, the next BEGIN says why.
        try? run("ROLLBACK")
    }

    private func run(_ text: String) throws(ReadFailure) {
        let statement = try statement(text)
        defer { statement.reset() }
        _ = try step(statement)
    }

    /// The keys in an object's list, by its statement.
    func list(
        _ text: String, of key: Int64, _ list: PlanList
    ) throws(ReadFailure) -> ListedKeys {
        let statement = try statement(text)
        defer { statement.reset() }
        try bind(key: key, to: statement)
        var keys = ListedKeys()
        while try step(statement) {
            keys.append(statement, at: 0, of: list)
        }
        return keys
    }

    /// What a failure of a statement means to the caller.
    private func failure(_ error: SQLiteError) -> ReadFailure {
        // What a function was stopped in is no fault of the query's.
        if let fault = faults.take(), connection.stopReason == nil { return .failed(fault) }
        // A function that was not called any more ends its statement with the general error.
        let isStopped = error.code == SQLITE_ERROR && connection.stopReason != nil
        guard isStopped || error.code == SQLITE_INTERRUPT else {
            return .failed(error.queryLimit ?? error.larderError)
        }
        switch connection.stopReason {
        case .stepsExceeded: return .budgetExceeded
        case .deadlinePassed:
            return .failed(
                LarderError(
                    .timeout, "the query took longer than it may",
                    hint: "narrow it, or allow it more time"))
        case .cancelled: return .failed(LarderError(.cancelled, "the request was stopped"))
        case nil: return .failed(error.larderError)
        }
    }
}

extension SQLiteError {
    /// That a query is nested too deep. SQLite bounds the depth of what it parses, and has no code
    /// of its own for that.
    var queryLimit: LarderError? {
        guard code == SQLITE_ERROR,
            message.hasPrefix("parser stack overflow")
                || message.hasPrefix("Expression tree is too large")
        else { return nil }
        return LarderError(
            .resourceExhausted, "the query is nested deeper than the database can follow",
            hint: "use fewer subqueries and functions inside each other")
    }
}
