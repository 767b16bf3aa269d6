import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// The one writer of a store: it takes change sets, commits them as a group, and returns an outcome
/// for each.
///
/// It alone writes and begins checkpoints. It is used on one thread at a time. Each set of a group
/// has a savepoint, so that a set that fails leaves nothing; the first set of a group has the
/// transaction itself. An outcome is a success only after the commit has returned.
///
/// After a failure of the storage it rejects writes until a trial succeeds; see
/// `Writer+Recovery.swift`.
final class Writer: StoreWriter {
    private static let statementsMax = 1_024
    private static let statementBytesMax = 32 << 20

    let store: Store
    let schema: WritingSchema
    let planner: QueryPlanner
    let progress = WriterProgress()
    /// nil after the writer is closed.
    var statements: StatementCache?
    private(set) var values: ValueCheck
    private(set) var conversions: Conversions
    private var transactions: TransactionWriter?
    var storage = StorageState.working
    /// The last key of each entity.
    var lastKeys: [Int64] = []
    /// The keys in `sqlite_sequence`, up to which keys are reserved.
    var reservedKeys: [Int64] = []
    /// The number of the last transaction in the history. It never decreases, because a failed
    /// commit may still be found in the log.
    private var lastTransaction: Int64 = 0
    let log: WriterLog
    /// The space of the disk at the begin of the group; nil if it is ample.
    var diskReserve: DiskReserve?
    /// The objects that the open transaction changes, for readers with caches.
    var changedSlots = ChangeStamps.Slots()

    init(_ store: Store, _ connection: Connection) throws(LarderError) {
        self.store = store
        log = WriterLog(store)
        schema = try WritingSchema(store.layout, store.valueConverter)
        planner = QueryPlanner(layout: store.layout, converter: store.valueConverter)
        conversions = Conversions(connection.limit)
        values = ValueCheck(conversions)
        do throws(SQLError) {
            try use(connection)
            if !store.options.isReadOnly { try log.startArchive(connection) }
        } catch {
            throw error.larderError
        }
    }

    /// Takes over a connection, and reads the last keys and the last transaction from it.
    func use(_ connection: Connection) throws(SQLError) {
        connection.watchLog()
        log.connectionWasReplaced()
        connection.report(to: progress)
        conversions = Conversions(connection.limit)
        values = ValueCheck(conversions)
        changeAllStamps()
        try StoreFunctions.register(on: connection)
        let rows = try connection.prepare("SELECT name, seq FROM sqlite_sequence")
        var keys = [Int64](repeating: 0, count: schema.entities.count)
        while try rows.step() {
            guard let number = schema.number(of: rows.string(at: 0)) else { continue }
            keys[number] = max(0, rows.int64(at: 1))
        }
        lastKeys = keys
        reservedKeys = keys
        transactions = nil
        // A read-only store of an older format may have no history.
        if !store.options.isReadOnly {
            lastTransaction = max(
                lastTransaction, try connection.integer(Layout.lastTransaction) ?? 0)
            transactions = try TransactionWriter(connection)
            try createTriggers(on: connection)
        }
        statements = StatementCache(
            connection, capacity: Writer.statementsMax, bytesMax: Writer.statementBytesMax,
            counter: store.statementMemory)
    }

    /// Keeps the indexes of parts of texts, whatever changes the objects.
    private func createTriggers(on connection: Connection) throws(SQLError) {
        let tables = store.layout.searchTables
        guard !tables.isEmpty else { return }
        connection.allowTriggersOnVirtualTables()
        for statement in tables.flatMap(\.createTriggers) { try connection.execute(statement) }
    }

    func close() {
        guard let connection = statements?.connection else { return }
        rollBack()
        releaseUnusedKeys()
        statements = nil
        transactions = nil
        log.closeCheckpointer()
        guard !store.options.isReadOnly else { return }
        if let archive = store.archive { return log.close(archive, connection) }
        // Running readers keep the log from being truncated; the next opening reads it.
        if (try? connection.checkpoint(.truncate)) == nil {
            try? connection.checkpoint(.passive)
        }
    }

    // MARK: - Groups of change sets

    func save(
        _ sets: [SaveRequest], more: () -> [SaveRequest]
    ) -> [Result<SaveResult, LarderError>] {
        guard !sets.isEmpty else { return [] }
        if let error = writeError() { return sets.map { _ in .failure(error) } }
        guard let statements else { return sets.map { _ in .failure(.writerClosed) } }
        measureDisk()
        let keysBefore = lastKeys
        let time = store.options.clock().timeIntervalSinceReferenceDate
        var count = 0
        do throws(SQLError) {
            var outcomes: [Result<SaveResult, LarderError>] = []
            var part = sets
            while !part.isEmpty {
                count += part.count
                outcomes.reserveCapacity(count)
                for set in part {
                    outcomes.append(try saveInGroup(set, time: time, statements))
                }
                part = more()
            }
            if !statements.connection.autocommit { try commit(statements, keys: lastKeys) }
            return outcomes
        } catch {
            lastKeys = keysBefore
            rollBack()
            let failure = error.larderError
            recordFailure(error)
            return Array(repeating: .failure(failure), count: count)
        }
    }

    /// Saves one set within its own budget. Its statements that write are not stopped, because that
    /// would roll back the other sets.
    private func saveInGroup(
        _ set: SaveRequest, time: Double, _ statements: StatementCache
    ) throws(SQLError) -> Result<SaveResult, LarderError> {
        guard let budget = set.budget else { return try save(set, time: time, statements) }
        let limit = statements.connection.limit
        limit.start(budget)
        limit.isSuspended = true
        defer { limit.start(nil) }
        do throws(SQLError) {
            return try save(set, time: time, statements)
        } catch {
            // It was stopped before it began.
            guard let stopped = stopError(statements) else { throw error }
            return .failure(stopped)
        }
    }

    /// Rolls back an open transaction.
    func rollBack() {
        guard let connection = statements?.connection, !connection.autocommit else { return }
        try? connection.execute("ROLLBACK")
    }

    // MARK: - One change set

    /// Saves one set within the transaction of the group, which begins with the first set that
    /// needs it. That set can be rolled back with the transaction; later sets have savepoints.
    ///
    /// - Throws: An error that ends the whole group.
    private func save(
        _ set: SaveRequest, time: Double, _ statements: StatementCache
    ) throws(SQLError) -> Result<SaveResult, LarderError> {
        let outcomes = outcomes(statements)
        if let outcome = try outcomes.outcome(of: set) { return outcome }
        if let refusal = try outcomes.refusal(of: set, time: time) { return .failure(refusal) }
        var check = ChangeSetCheck(
            schema, store: store.storeDescription.identifier, values: values,
            planner: planner(for: set.view), lastKeys: lastKeys, conversions)
        let planned: PlannedChangeSet
        do throws(LarderError) {
            if let view = set.view {
                try (view as? FormerView)?.check(set.changeSet, values: values, conversions)
                try (view as? LimitedView)?.changeRights.check(set.changeSet.changes)
            }
            planned = try check.plan(set.changeSet)
        } catch {
            return .failure(stopError(statements) ?? error)
        }
        // See `undoFailedChange()`: then the first set has a savepoint too.
        if statements.connection.isBeingCopied, statements.connection.autocommit {
            try statements.statement(Texts.begin).run()
        }
        let isFirst = statements.connection.autocommit
        try statements.statement(isFirst ? Texts.begin : Texts.beginSet).run()
        let outcome = try run(planned, set, time: time, statements)
        // The rest must not be stopped.
        statements.connection.limit.start(nil)
        switch outcome {
        case .success where set.changeSet.isDryRun:
            try rollBackSet(isFirst: isFirst, statements)
        case .success:
            if !isFirst { try statements.statement(Texts.releaseSet).run() }
            lastKeys = planned.lastKeys
        case .failure: try rollBackSet(isFirst: isFirst, statements)
        }
        return outcome
    }

    /// - Parameter isFirst: Whether the set has the transaction itself.
    private func rollBackSet(
        isFirst: Bool, _ statements: StatementCache
    ) throws(SQLError) {
        guard !isFirst else { return try statements.statement(Texts.rollBack).run() }
        try statements.statement(Texts.rollBackSet).run()
        try statements.statement(Texts.releaseSet).run()
    }

    /// The results of earlier saves with idempotency keys.
    func outcomes(_ statements: StatementCache) -> SavedOutcomes {
        SavedOutcomes(statements, store: store.storeDescription.identifier)
    }

    /// The planner for the queries of a set: those of a user with limited rights find only what the
    /// user may see.
    func planner(for view: (any StoreView)?) -> QueryPlanner {
        (view as? LimitedView)?.planner ?? planner
    }

    /// Runs a set. An error of SQLite that leaves the transaction intact fails this set only.
    private func run(
        _ planned: PlannedChangeSet, _ set: SaveRequest, time: Double,
        _ statements: StatementCache
    ) throws(SQLError) -> Result<SaveResult, LarderError> {
        guard let run = makeRun(at: time, statements, for: set.view) else {
            return .failure(.noTransactionNumbersLeft)
        }
        do throws(SQLError) {
            let outcome = try run.run(planned)
            guard case .success(var result) = outcome else { return outcome }
            if let maximum = set.answerBytesMax, !result.fits(inBytes: maximum) {
                return .failure(.answerTooLong)
            }
            if set.changeSet.isDryRun { return .success(result) }
            if !set.changeSet.onlyDeletes, let error = try reserveError(statements.connection) {
                return .failure(error)
            }
            result.transaction = try writeHistory(
                of: run, set.source, author: set.changeSet.author, statements)
            try outcomes(statements).store(result, of: set, time: time)
            return .success(result)
        } catch {
            guard !statements.connection.autocommit else { throw error }
            if let stopped = stopError(statements) { return .failure(stopped) }
            guard error.concernsStatementOnly else { throw error }
            return .failure(error.larderError)
        }
    }

    /// The error of a set that its budget has stopped; nil if it has not.
    ///
    func stopError(_ statements: StatementCache) -> LarderError? {
        switch statements.connection.stopReason {
        case .deadlinePassed, .stepsExceeded: .changeSetTimedOut
        case .cancelled: .changeSetStopped
        case nil: nil
        }
    }

    /// A run with the next transaction number; nil if there is none left.
    func makeRun(
        at time: Double, _ statements: StatementCache, for view: (any StoreView)?
    ) -> ChangeSetRun? {
        let number = lastTransaction + 1
        guard Limits.transactionNumbers.contains(number) else { return nil }
        let context = ChangeContext(
            schema, store: store.storeDescription.identifier, session: statements,
            lastKeys: lastKeys, conversions,
            FormerValues(transaction: number, store.formerValueCounters))
        context.rights = (view as? LimitedView).map { RightsCheck($0.changeRights) }
        return ChangeSetRun(context, values: values, transaction: number, time: time)
    }

    /// Writes the transaction of a run into the history.
    ///
    /// - Returns: The number of the transaction; nil if the run changed nothing.
    func writeHistory(
        of run: ChangeSetRun, _ source: ChangeSource, author: String,
        _ statements: StatementCache
    ) throws(SQLError) -> Int64? {
        let changes = try run.history.runs()
        guard let transactions, !changes.isEmpty else { return nil }
        try transactions.write(run, changes, source, author: author, statements)
        lastTransaction = run.transaction
        recordChanges(run.context.changes)
        return run.transaction
    }

    /// The statements of transactions and savepoints.
    enum Texts {
        static let begin: SQL = "BEGIN IMMEDIATE"
        static let commit: SQL = "COMMIT"
        static let storeKey: SQL = "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1"
        static let rollBack: SQL = "ROLLBACK"
        static let beginSet: SQL = "SAVEPOINT change_set"
        static let releaseSet: SQL = "RELEASE change_set"
        static let rollBackSet: SQL = "ROLLBACK TO change_set"
    }
}
