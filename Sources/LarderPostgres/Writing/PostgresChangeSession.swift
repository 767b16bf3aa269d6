#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// The writer's connection, as the rules of change sets use it.
///
/// ``run(_:_:)`` queues its statement. ``rows(_:_:_:)`` sends the queue and its own statement in
/// one round trip, and reads all rows before it visits the first. The error of a queued statement
/// is thrown there, or at ``flush()``.
///
/// A statement that fails ends the transaction, up to the savepoint of the change set. Statements
/// that the planner wrote may fail because of the values that they compute: they have savepoints of
/// their own, so that the set continues and finds its other errors.
final class PostgresChangeSession: WriteSession {
    let limit = PostgresLimit()
    let connection: PostgresConnection
    let process: PostgresProcess
    private var queue: [PostgresStatement] = []
    private var queuedBytes = 0
    /// Where the statements of the running set begin in the queue.
    private var setStart = 0
    /// The finished texts of statements, by the identities of their SQL.
    private var texts: [Int: String] = [:]
    /// The error that has ended the transaction, up to the savepoint of the set.
    private(set) var failure: PostgresError?
    /// Whether a statement of an earlier set failed.
    private(set) var failedBeforeSet = false

    /// How long one round trip may take.
    private static let timeMax = Duration.seconds(600)
    /// The queue is sent when it has as many statements, or bytes of parameters.
    private static let queueMax = 1_000
    private static let queuedBytesMax = 1 << 20
    private static let textsMax = 2_048
    private static let rowsAtOnce = 512

    init(
        _ connection: PostgresConnection, deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        self.connection = connection
        process = try PostgresProcess(connection, deadline: deadline)
    }

    // MARK: - Transactions and sets

    func begin() {
        queue = [Self.begin]
        (queuedBytes, setStart) = (0, 0)
        (failure, failedBeforeSet) = (nil, false)
    }

    /// Begins a change set. Its statements end with ``endSet()`` or ``rollBackSet()``.
    func beginSet() {
        failure = nil
        setStart = queue.count
        queue.append(Self.beginSet)
    }

    /// Checks the constraints that were deferred in the set.
    func endSet() { queue += [Self.checkConstraints, Self.deferConstraints, Self.releaseSet] }

    func rollBackSet() { queue += [Self.rollBackSet, Self.releaseSet, Self.deferConstraints] }

    /// Sends what is queued.
    func flush() throws(SQLError) {
        if !queue.isEmpty { _ = try send([]) }
    }

    /// Sends what is queued, and commits.
    func commit() throws(SQLError) { _ = try send([Self.commit]) }

    /// Ends an open transaction, if the connection can be used afterwards.
    func rollBack() {
        queue = []
        guard connection.isUsable, connection.isInTransaction else { return }
        _ = try? connection.run(Self.rollBack, deadline: .now + Self.rollBackTimeMax)
    }

    /// Whether the connection can be used for another transaction.
    var isReusable: Bool { !connection.isInTransaction && connection.isSilent() }

    private static let begin = PostgresStatement("BEGIN ISOLATION LEVEL SERIALIZABLE")
    private static let commit = PostgresStatement("COMMIT")
    private static let rollBack = PostgresStatement("ROLLBACK")
    private static let beginSet = PostgresStatement("SAVEPOINT larder_set")
    private static let releaseSet = PostgresStatement("RELEASE larder_set")
    private static let rollBackSet = PostgresStatement("ROLLBACK TO larder_set")
    private static let checkConstraints = PostgresStatement("SET CONSTRAINTS ALL IMMEDIATE")
    private static let deferConstraints = PostgresStatement("SET CONSTRAINTS ALL DEFERRED")
    private static let rollBackTimeMax = Duration.seconds(10)

    // MARK: - WriteSession

    func run(_ sql: SQL, _ values: [SQLValue]) throws(SQLError) {
        let statement = try statement(sql, values)
        queue.append(statement)
        queuedBytes += statement.parameters.reduce(0) { $0 + $1.byteCount }
        if queue.count >= Self.queueMax || queuedBytes >= Self.queuedBytesMax { try flush() }
    }

    func rows(
        _ sql: SQL, _ values: [SQLValue], _ visit: ([SQLValue]) throws(SQLError) -> Bool
    ) throws(SQLError) {
        let results: [PostgresRows]
        if sql.parameters.isEmpty {
            results = try send([try statement(sql, values)])
        } else {
            queue.append(Self.beginQuery)
            results = try attempt([PostgresStatement(sql, values: values)])
            queue.append(Self.releaseQuery)
        }
        for row in results.last?.rows ?? [] {
            guard try visit(row.map(SQLValue.init)) else { return }
        }
    }

    /// Reads from a cursor, which sees no later change. It may be stopped.
    func query(
        _ sql: SQL, _ visit: ([SQLValue]) throws(SQLError) -> Void
    ) throws(SQLError) {
        queue.append(Self.beginQuery)
        var declaration = PostgresStatement(sql)
        declaration.text = "DECLARE larder_query NO SCROLL CURSOR FOR \(declaration.text)"
        var statements = [declaration, Self.fetch]
        while true {
            let rows = try attempt(statements).last?.rows ?? []
            for row in rows { try visit(row.map(SQLValue.init)) }
            if rows.count < Self.rowsAtOnce { break }
            statements = [Self.fetch]
        }
        queue += [Self.closeQuery, Self.releaseQuery]
    }

    func checkBudget() throws(SQLError) {
        guard limit.isStopped else { return }
        throw SQLError(.interrupted, "the budget of the change set is used up")
    }

    private static let beginQuery = PostgresStatement("SAVEPOINT larder_query")
    private static let releaseQuery = PostgresStatement("RELEASE larder_query")
    private static let rollBackQuery = PostgresStatement("ROLLBACK TO larder_query")
    private static let closeQuery = PostgresStatement("CLOSE larder_query")
    private static let fetch = PostgresStatement(
        "FETCH \(rowsAtOnce) FROM larder_query", returnsFewRows: true)

    // MARK: - Statements

    /// A statement of the rules, whose parameters have the types that the server infers.
    private func statement(
        _ sql: SQL, _ values: [SQLValue]
    ) throws(SQLError) -> PostgresStatement {
        do throws(PostgresError) {
            var parameters: [PostgresValue] = []
            parameters.reserveCapacity(values.count)
            for value in values { parameters.append(try PostgresValue(inferring: value)) }
            return PostgresStatement(text(of: sql), parameters)
        } catch {
            failure = error
            throw SQLError(error)
        }
    }

    private func text(of sql: SQL) -> String {
        if let text = texts[sql.identity] { return text }
        if texts.count >= Self.textsMax { texts = [:] }
        let text = SQLDialect.postgres.finished(sql).text
        texts[sql.identity] = text
        return text
    }

    /// Sends the queue and then statements, in one round trip.
    ///
    /// - Returns: The results of the statements.
    private func send(_ statements: [PostgresStatement]) throws(SQLError) -> [PostgresRows] {
        let (queued, setStart) = takeQueue()
        do throws(PostgresError) {
            let results = try connection.run(
                queued + statements, deadline: .now + Self.timeMax)
            return try Array(self.rows(results, setStart).dropFirst(queued.count))
        } catch {
            failure = error
            throw SQLError(error)
        }
    }

    /// Sends the queue, which ends with a savepoint, and then statements that may fail because of
    /// their values, or be stopped.
    private func attempt(_ statements: [PostgresStatement]) throws(SQLError) -> [PostgresRows] {
        try checkBudget()
        let (queued, setStart) = takeQueue()
        var isOfValue = false
        do throws(PostgresError) {
            let results = try connection.run(
                queued + statements, deadline: limit.deadline, stoppedBy: limit.cancellation)
            let own = results.dropFirst(queued.count)
            if results.prefix(queued.count).allSatisfy({ (try? $0.get()) != nil }),
                case .failure(let error)? = own.first(where: { (try? $0.get()) == nil }),
                error.condition == .outOfRange
            {
                queue = [Self.rollBackQuery, Self.releaseQuery]
                isOfValue = true
                throw error
            }
            return try Array(rows(results, setStart).dropFirst(queued.count))
        } catch {
            if limit.isStopped {
                if !connection.isUsable { failure = error }
                throw SQLError(.interrupted, error.message)
            }
            guard isOfValue else {
                failure = error
                throw SQLError(error)
            }
            throw SQLError(.function(error.larderError), error.message)
        }
    }

    private func takeQueue() -> (queue: [PostgresStatement], setStart: Int) {
        defer {
            queue = []
            (queuedBytes, setStart) = (0, 0)
        }
        return (queue, setStart)
    }

    /// - Throws: The first error.
    private func rows(
        _ results: [Result<PostgresRows, PostgresError>], _ setStart: Int
    ) throws(PostgresError) -> [PostgresRows] {
        var rows: [PostgresRows] = []
        for (index, result) in results.enumerated() {
            if case .failure = result, index < setStart { failedBeforeSet = true }
            rows.append(try result.get())
        }
        return rows
    }
}

extension SQLError {
    /// An error of PostgreSQL in a statement of the rules.
    init(_ error: PostgresError) {
        let condition: Condition =
            switch error.condition {
            case .serializationFailed: .busy
            case .uniquenessViolated: .uniquenessViolated
            case .foreignKeyViolated, .checkViolated, .notNullViolated: .constraintViolated
            case .outOfRange, .malformedValue: .mismatch
            case .tooLarge: .tooLarge
            case .invalidText, .statement: .statement
            case .cancelled, .deadlinePassed: .interrupted
            case .full: .full
            case .inputOutput: .inputOutput
            case .permissionDenied: .permissionDenied
            case .readOnly: .readOnly
            case .corrupt: .corrupt
            case .outOfMemory: .outOfMemory
            case .malformedAddress, .cannotConnect, .authenticationFailed, .noSuchDatabase,
                .notReady, .tooManyConnections, .serverTooOld, .wrongEncoding, .connectionLost,
                .poolExhausted, .notRun, .schemaChanged, .unexpectedReply, .other:
                .other
            }
        self.init(condition, error.message)
    }
}
#endif
