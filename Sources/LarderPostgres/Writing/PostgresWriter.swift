#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// Writes to a store in PostgreSQL. `decisions/0073` describes how.
///
/// A group of sets is one SERIALIZABLE transaction, in which each set has a savepoint. Several
/// writers, in processes of their own, may write to one store. A transaction that conflicts with
/// another one runs again. A group that still conflicts is divided into its sets.
final class PostgresWriter: StoreWriter {
    let store: PostgresStore
    let schema: WritingSchema
    let progress = WriterProgress()
    let planner: QueryPlanner
    var keys: KeyBlocks
    private let sequencer: PostgresSequencer
    private var session: PostgresChangeSession?
    private(set) var isClosed = false

    private static let timeMax = Duration.seconds(600)
    /// How often a transaction runs at most.
    static let attemptsMax = 5

    init(_ store: PostgresStore) throws(LarderError) {
        self.store = store
        schema = try WritingSchema(store.layout, store.valueConverter)
        planner = QueryPlanner(layout: store.layout, converter: store.valueConverter)
        keys = KeyBlocks(entityCount: schema.entities.count)
        sequencer = PostgresSequencer(store)
    }

    // MARK: - Groups

    func save(
        _ sets: [SaveRequest], more: () -> [SaveRequest]
    ) -> [Result<SaveResult, LarderError>] {
        guard !isClosed else { return sets.map { _ in .failure(.writerClosed) } }
        guard !sets.isEmpty else { return [] }
        var group = sets
        do throws(WriteFailure) {
            let result = try perform(attemptsMax: Self.attemptsMax) {
                (transaction) throws(PostgresError) in
                var outcomes: [Result<SaveResult, LarderError>] = []
                while outcomes.count < group.count {
                    outcomes.append(try save(group[outcomes.count], transaction))
                    progress.advance()
                    if outcomes.count == group.count { group += more() }
                }
                return .success(outcomes)
            } finished: { outcomes, numbers in
                outcomes.map { outcome in outcome.map { $0.renumbered(numbers) } }
            }
            switch result {
            case .success(let outcomes): return outcomes
            case .failure(let error): return group.map { _ in .failure(error) }
            }
        } catch {
            guard group.count > 1, error.mayConcernOneSet else {
                return group.map { _ in .failure(error.larderError) }
            }
            return group.flatMap { save([$0], more: { [] }) }
        }
    }

    // MARK: - Transactions

    /// Runs a body in a transaction, and again after a conflict. A body that returns an error is
    /// rolled back.
    ///
    /// - Parameter finished: Completes the result with the numbers of the transactions, by the
    ///   numbers that they had before.
    func perform<Written>(
        attemptsMax: Int,
        _ body: (WriteTransaction) throws(PostgresError) -> Result<Written, LarderError>,
        finished: (Written, _ numbers: [Int64: Int64]) -> Written
    ) throws(WriteFailure) -> Result<Written, LarderError> {
        var attempt = 1
        while true {
            let keysBefore = keys
            var result: Result<Written, LarderError>?
            var committing: WriteTransaction?
            do throws(PostgresError) {
                let transaction = try begin()
                let outcome = try body(transaction)
                guard case .success(let written) = outcome else {
                    rollBack()
                    keys.restore(keysBefore)
                    return outcome
                }
                result = outcome
                committing = transaction
                try commit(transaction)
                return .success(finished(written, transaction.numbers))
            } catch {
                rollBack()
                if let committing, case .success(let written)? = result,
                    try isCommitted(committing, error)
                {
                    return .success(finished(written, committing.numbers))
                }
                keys.restore(keysBefore)
                let isRepeated = error.isConflict || committing != nil && error.isLoss
                guard isRepeated, attempt < attemptsMax else { throw .failed(error) }
                attempt += 1
            }
        }
    }

    /// Whether a transaction has been committed although its COMMIT failed.
    private func isCommitted(
        _ transaction: WriteTransaction, _ error: PostgresError
    ) throws(WriteFailure) -> Bool {
        guard error.isLoss, let search = transaction.search else { return false }
        do throws(PostgresError) {
            return try sequencer.isCommitted(transaction.session.process, search)
        } catch {
            throw .indeterminate(error)
        }
    }

    private func begin() throws(PostgresError) -> WriteTransaction {
        let session = try openSession()
        session.begin()
        return WriteTransaction(session, schema, time: store.now)
    }

    private func openSession() throws(PostgresError) -> PostgresChangeSession {
        if let session, session.isReusable { return session }
        let deadline = ContinuousClock.now + Self.timeMax
        let connection = try store.openConnection(deadline: deadline)
        for setting in Self.settings { try connection.run(setting, deadline: deadline) }
        let opened = try PostgresChangeSession(connection, deadline: deadline)
        session = opened
        return opened
    }

    /// An index instead of a scan of the table leaves other writers more to change without a
    /// conflict. Such a plan is expensive, so it must not be compiled.
    private static let settings = [
        PostgresStatement("SET enable_seqscan = off"), PostgresStatement("SET jit = off"),
    ]

    /// Waits for its turn, stores the history, and commits.
    private func commit(_ transaction: WriteTransaction) throws(PostgresError) {
        let session = transaction.session
        // Nothing is waited for while the history is locked.
        try failing(session) { () throws(SQLError) in try session.flush() }
        guard transaction.historyCount > 0 else {
            return try failing(session) { () throws(SQLError) in try session.commit() }
        }
        let last = try sequencer.lockHistory()
        defer { sequencer.unlockHistory() }
        guard last <= Limits.transactionNumbers.upperBound - transaction.historyCount else {
            throw PostgresError(.full, "the history has no numbers left")
        }
        try failing(session) { () throws(SQLError) in
            try transaction.storeHistory(after: last)
            try session.commit()
        }
    }

    /// Runs statements whose error is that of the transaction.
    func failing(
        _ session: PostgresChangeSession, _ body: () throws(SQLError) -> Void
    ) throws(PostgresError) {
        do throws(SQLError) { try body() } catch { throw session.error(error) }
    }

    private func rollBack() {
        session?.rollBack()
        if session?.isReusable != true { session = nil }
    }

    /// Makes sure that the next keys of an entity without a parent follow each other.
    func reserveKeys(_ count: Int64, of root: Int) throws(PostgresError) {
        let table = store.layout.table(for: schema.entities[root].entity)
        try keys.reserve(count, of: root) { (count) throws(PostgresError) in
            try sequencer.takeKeys(count, of: table)
        }
    }

    // MARK: - Not yet

    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError> {
        .failure(.missing("deletions from the history"))
    }

    func deleteHistory(
        upTo number: Int64, rowsMax: Int
    ) -> Result<HistoryDeletionStep, LarderError> {
        .failure(.missing("deletions from the history"))
    }

    func makeCopy(in folder: String) -> Result<any StoreCopy, LarderError> {
        .failure(PostgresStore.noCopies)
    }

    // MARK: - Maintenance

    // PostgreSQL does it itself.
    var needsMaintenance: Bool { false }
    func performMaintenance() {}
    var needsReadersToEnd: Bool { false }
    var logByteCount: Int { 0 }

    func close() {
        isClosed = true
        session = nil
        sequencer.close()
    }
}

/// Why a transaction did not commit.
enum WriteFailure: Error {
    case failed(PostgresError)
    /// The end of the connection does not say whether it did.
    case indeterminate(PostgresError)

    var larderError: LarderError {
        switch self {
        case .failed(let error): error.larderError
        case .indeterminate(let error):
            LarderError(
                .indeterminate, "the connection was lost during a commit: \(error.message)",
                hint: "read the objects to see whether they were stored")
        }
    }

    /// Whether the other sets of its group may be saved without the set that caused it.
    var mayConcernOneSet: Bool {
        guard case .failed(let error) = self else { return false }
        return error.isConflict || error.concernsStatementOnly
    }
}

extension PostgresError {
    /// A set was stopped, and the connection with it.
    static let endedBySet = PostgresError(
        .notRun, "the connection ended when a change set was stopped")

    /// Whether the transaction may succeed if it runs again, because it conflicted with another
    /// one. The rules find duplicates that they can see, so a duplicate is one of another
    /// transaction.
    fileprivate var isConflict: Bool {
        condition == .serializationFailed || condition == .uniquenessViolated
            || self == .endedBySet
    }

    /// Whether the connection was lost, which leaves unknown whether a COMMIT was done.
    fileprivate var isLoss: Bool {
        condition == .connectionLost || condition == .deadlinePassed
    }
}

extension PostgresChangeSession {
    /// The error of PostgreSQL that is the cause of an error of a statement.
    func error(_ error: SQLError) -> PostgresError {
        failure ?? PostgresError(.other, error.message)
    }
}

extension SaveResult {
    func renumbered(_ numbers: [Int64: Int64]) -> SaveResult {
        var result = self
        result.transaction = transaction.map { numbers[$0] ?? $0 }
        return result
    }
}
#endif
