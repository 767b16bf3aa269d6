import CSQLite
import FoundationEssentials
import LarderModel

/// The one writer of a store: change sets in, one commit for all of them, an outcome for each out.
///
/// It alone writes and checkpoints, on one thread at a time. Each set of a group has a savepoint,
/// so that one that fails leaves nothing; a set that is alone has the transaction to itself. An
/// outcome is a success only once the commit has returned.
///
/// After a failure of the storage it refuses to write until it has seen that the storage works; see
/// `Writer+Recovery.swift`.
final class Writer: StoreWriter {
    private static let statementsMax = 1_024

    let store: Store
    let schema: WritingSchema
    let planner: QueryPlanner
    let values = ValueCheck()
    /// nil once the writer is closed.
    var statements: StatementCache?
    var transactions: TransactionStatement?
    var health = Health.sound
    /// Where the functions of the connection report their errors.
    private(set) var functionFaults = FunctionFaults()
    /// The last key that each entity's objects were given.
    var lastKeys: [Int64] = []
    /// The keys that `sqlite_sequence` says were given, up to which this writer gives them.
    var keysAside: [Int64] = []
    /// The greatest number that a transaction of the history was given. It never falls: what a
    /// failed commit left in the log may still be found.
    var lastTransaction: Int64 = 0
    var checkpointedPageCount = 0
    /// The marks of what the transaction under way changes.
    var changing: [Int] = []

    init(_ store: Store, _ connection: Connection) throws(LarderError) {
        self.store = store
        schema = try WritingSchema(store.layout, store.valueConverter)
        planner = QueryPlanner(layout: store.layout, converter: store.valueConverter)
        do throws(SQLiteError) {
            try use(connection)
        } catch {
            throw error.larderError
        }
    }

    /// Takes a connection, and reads from it what the writer keeps in memory.
    func use(_ connection: Connection) throws(SQLiteError) {
        connection.watchLog()
        changeAll()
        functionFaults = try StoreFunctions.register(on: connection).faults
        let rows = try connection.prepare("SELECT name, seq FROM sqlite_sequence")
        var keys = [Int64](repeating: 0, count: schema.entities.count)
        while try rows.step() {
            guard let number = schema.number(of: rows.string(at: 0)) else { continue }
            keys[number] = max(0, rows.int64(at: 1))
        }
        lastKeys = keys
        keysAside = keys
        transactions = nil
        // A store of an older format that is only read may have no history.
        if !store.options.isReadOnly {
            lastTransaction = max(
                lastTransaction, try connection.integer(Layout.lastTransaction) ?? 0)
            transactions = try TransactionStatement(connection)
        }
        statements = StatementCache(connection, capacity: Writer.statementsMax)
    }

    func save(
        _ sets: [ReceivedChangeSet], more: () -> [ReceivedChangeSet]
    ) -> [Result<SaveResult, LarderError>] {
        guard !sets.isEmpty else { return [] }
        if let refusal = refusal() { return sets.map { _ in .failure(refusal) } }
        guard let statements else { return sets.map { _ in .failure(Writer.closed) } }
        defer { endChanges() }
        let keysBefore = lastKeys
        let time = Date().timeIntervalSinceReferenceDate
        var count = 0
        do throws(SQLiteError) {
            var outcomes: [Result<SaveResult, LarderError>] = []
            var part = sets
            while !part.isEmpty {
                count += part.count
                outcomes.reserveCapacity(count)
                for set in part { outcomes.append(try save(set, time: time, statements)) }
                part = more()
            }
            if !statements.connection.autocommit { try commit(statements, keys: lastKeys) }
            return outcomes
        } catch {
            lastKeys = keysBefore
            rollBack()
            let failure = error.larderError
            noteFailure(error)
            return Array(repeating: .failure(failure), count: count)
        }
    }

    func save(
        _ set: ReceivedChangeSet, within budget: ReadBudget
    ) -> Result<SaveResult, LarderError>? {
        guard case .sound = health, !store.options.isReadOnly, let statements else { return nil }
        defer { endChanges() }
        let keysBefore = lastKeys
        let connection = statements.connection
        connection.setBudget(budget)
        do throws(SQLiteError) {
            let time = Date().timeIntervalSinceReferenceDate
            let outcome = try save(set, time: time, statements)
            // Of a commit that was stopped nobody would know whether it is done.
            connection.setBudget(nil)
            if !connection.autocommit { try commit(statements, keys: lastKeys) }
            return outcome
        } catch {
            let isStopped = connection.stopReason != nil
            connection.setBudget(nil)
            lastKeys = keysBefore
            rollBack()
            if isStopped { return nil }
            noteFailure(error)
            return .failure(error.larderError)
        }
    }

    /// - Parameter keys: The last key that each entity's objects were given.
    func commit(_ statements: StatementCache, keys: [Int64]) throws(SQLiteError) {
        let aside = try setAside(keys, statements)
        try statements.statement(Texts.commit).run()
        keysAside = aside
    }

    /// What begins and ends transactions, and the parts of one.
    enum Texts {
        static let begin = SQLText("BEGIN IMMEDIATE")
        static let commit = SQLText("COMMIT")
        static let noteKeys = SQLText("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1")
        static let rollBack = SQLText("ROLLBACK")
        static let beginSet = SQLText("SAVEPOINT change_set")
        static let keepSet = SQLText("RELEASE change_set")
        static let rollBackSet = SQLText("ROLLBACK TO change_set")
    }

    /// Saves one set within the group's transaction, which begins with the first set that needs it.
    /// While that is all of it, it can be undone whole; sets behind it have savepoints.
    ///
    /// - Throws: What ends the whole group.
    private func save(
        _ set: ReceivedChangeSet, time: Double, _ statements: StatementCache
    ) throws(SQLiteError) -> Result<SaveResult, LarderError> {
        if let outcome = try rememberedOutcome(of: set, statements) { return outcome }
        var check = ChangeSetCheck(
            schema, store: store.storeDescription.identifier, values: values, planner: planner,
            lastKeys: lastKeys)
        let planned: PlannedChangeSet
        do throws(LarderError) {
            planned = try check.plan(set.changeSet)
        } catch {
            return .failure(error)
        }
        let isFirst = statements.connection.autocommit
        try statements.statement(isFirst ? Texts.begin : Texts.beginSet).run()
        let outcome = try run(planned, set, time: time, statements)
        switch outcome {
        case .success:
            if !isFirst { try statements.statement(Texts.keepSet).run() }
            lastKeys = planned.lastKeys
        case .failure where isFirst: try statements.statement(Texts.rollBack).run()
        case .failure:
            try statements.statement(Texts.rollBackSet).run()
            try statements.statement(Texts.keepSet).run()
        }
        return outcome
    }

    /// Runs a set; an error of SQLite's that leaves the transaction whole fails this set only.
    private func run(
        _ planned: PlannedChangeSet, _ set: ReceivedChangeSet, time: Double,
        _ statements: StatementCache
    ) throws(SQLiteError) -> Result<SaveResult, LarderError> {
        let (number, overflow) = lastTransaction.addingReportingOverflow(1)
        guard !overflow else {
            return .failure(LarderError(.storageFull, "the history has no numbers left"))
        }
        let run = ChangeSetRun(
            schema, store: store.storeDescription.identifier, statements: statements,
            values: values, lastKeys: lastKeys, transaction: number, time: time,
            functionFaults: functionFaults,
            budget: planned.hasChangesByPredicate ? set.budget : nil)
        do throws(SQLiteError) {
            var outcome = try run.run(planned)
            if case .success(var result) = outcome {
                if let transactions, try run.writeHistory(set, transactions) {
                    result.transaction = number
                    lastTransaction = number
                    outcome = .success(result)
                    beginChanges(run.changes)
                }
                try remember(result, of: set, time: time, statements)
            }
            return outcome
        } catch {
            guard !statements.connection.autocommit else { throw error }
            if error.code == SQLITE_INTERRUPT { return .failure(Writer.timedOut) }
            guard Writer.statementErrors.contains(error.code) else { throw error }
            return .failure(error.larderError)
        }
    }

    /// Results that concern one statement and say nothing of the storage.
    static let statementErrors: Set<Int32> = [
        SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE,
    ]

    private static let timedOut = LarderError(
        .timeout, "the change set took longer than it may, and nothing was changed",
        hint: "allow it more time, or change fewer objects at once")

    static let closed = LarderError(.unavailable, "the store is being closed")

    /// Ends what may be left of a failed transaction.
    func rollBack() {
        guard let connection = statements?.connection, !connection.autocommit else { return }
        try? connection.execute("ROLLBACK")
    }

    func close() {
        guard let connection = statements?.connection else { return }
        rollBack()
        giveBackKeys()
        statements = nil
        transactions = nil
        if !store.options.isReadOnly {
            // Readers that are still at work keep the log; the next opening reads it.
            if (try? connection.checkpoint(.truncate)) == nil {
                try? connection.checkpoint(.passive)
            }
        }
    }
}
