#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

// One change set of a transaction.
extension PostgresWriter {
    /// - Throws: An error that ends the whole transaction.
    func save(
        _ request: SaveRequest, _ transaction: WriteTransaction
    ) throws(PostgresError) -> Result<SaveResult, LarderError> {
        guard request.view == nil else { return .failure(.limitedNames) }
        let session = transaction.session
        session.limit.start(request.budget ?? ReadBudget())
        defer { session.limit.start(ReadBudget()) }
        let set = request.changeSet
        if let former = try formerOutcome(of: request, transaction) { return former }
        try reserveKeys(for: set.changes)
        let conversions = Conversions(session.limit)
        let values = ValueCheck(conversions)
        var check = ChangeSetCheck(
            schema, store: store.storeDescription.identifier, values: values, planner: planner,
            lastKeys: keys.lastKeys, conversions)
        let planned: PlannedChangeSet
        do throws(LarderError) { planned = try check.plan(set) } catch {
            return .failure(session.stopError ?? error)
        }
        session.beginSet()
        let run = makeRun(transaction, values, conversions, ownKeysUpTo: planned.lastKeys)
        let outcome = try save(planned, request, run, transaction)
        if case .success = outcome, !set.isDryRun {
            session.endSet()
            keys.use(planned.lastKeys)
        } else {
            session.rollBackSet()
        }
        return outcome
    }

    private func save(
        _ planned: PlannedChangeSet, _ request: SaveRequest, _ run: ChangeSetRun,
        _ transaction: WriteTransaction
    ) throws(PostgresError) -> Result<SaveResult, LarderError> {
        let session = transaction.session
        do throws(SQLError) {
            try session.checkBudget()
            let outcome = try run.run(planned)
            guard case .success(var result) = outcome else { return outcome }
            if let maximum = request.answerBytesMax, !result.fits(inBytes: maximum) {
                return .failure(.answerTooLong)
            }
            if request.changeSet.isDryRun { return .success(result) }
            try record(run, &result, request, transaction)
            return .success(result)
        } catch {
            return .failure(try failure(error, session))
        }
    }

    /// The error of a set whose statement failed.
    ///
    /// - Throws: An error that ends the whole transaction.
    func failure(
        _ error: SQLError, _ session: PostgresChangeSession
    ) throws(PostgresError) -> LarderError {
        let stopped = session.stopError
        if session.failedBeforeSet || !session.connection.isUsable {
            // The other sets run again, on another connection.
            throw stopped == nil ? session.error(error) : .endedBySet
        }
        if let stopped { return stopped }
        guard error.concernsStatementOnly, error.condition != .uniquenessViolated else {
            throw session.error(error)
        }
        return session.error(error).larderError
    }

    /// The result that is stored under the idempotency key of a set, or why the set is not saved;
    /// nil if it has to be saved.
    func formerOutcome(
        of request: SaveRequest, _ transaction: WriteTransaction
    ) throws(PostgresError) -> Result<SaveResult, LarderError>? {
        let session = transaction.session
        do throws(SQLError) {
            let outcomes = outcomes(session)
            if let outcome = try outcomes.outcome(of: request) { return outcome }
            return try outcomes.refusal(of: request, time: transaction.time).map { .failure($0) }
        } catch {
            throw session.error(error)
        }
    }

    /// Records what a set has changed, and stores its outcome.
    func record(
        _ run: ChangeSetRun, _ result: inout SaveResult, _ request: SaveRequest,
        _ transaction: WriteTransaction
    ) throws(SQLError) {
        let runs = try run.history.runs()
        result.transaction = runs.isEmpty ? nil : run.transaction
        try outcomes(transaction.session).store(result, of: request, time: transaction.time)
        let key = request.changeSet.idempotencyKey
        transaction.record(
            runs, run.transaction, author: request.changeSet.author, request.source,
            outcome: key.isEmpty ? nil : (request.keyUser, key))
    }

    private func outcomes(_ session: PostgresChangeSession) -> SavedOutcomes {
        SavedOutcomes(session, store: store.storeDescription.identifier, .postgres)
    }

    func makeRun(
        _ transaction: WriteTransaction, _ values: ValueCheck, _ conversions: Conversions,
        ownKeysUpTo ends: [Int64]
    ) -> ChangeSetRun {
        let number = transaction.nextNumber
        let context = ChangeContext(
            schema, store: store.storeDescription.identifier, session: transaction.session,
            lastKeys: keys.lastKeys, sharesKeys: true, conversions,
            FormerValues(transaction: number, store.formerValueCounters))
        for (entity, end) in ends.enumerated() where end > keys.lastKeys[entity] {
            context.own(keys.lastKeys[entity] + 1...end, ofRoot: entity)
        }
        return ChangeSetRun(
            context, values: values, transaction: number, time: transaction.time)
    }

    /// Reserves the keys of inserts. Those that are not valid need none, and have one all the same.
    func reserveKeys(for changes: [Change]) throws(PostgresError) {
        var counts: [Int: Int64] = [:]
        countInserts(changes, &counts)
        for (root, count) in counts { try reserveKeys(count, of: root) }
    }

    /// Counts inserts, by the number of the entity without a parent.
    func countInserts(_ changes: [Change], _ counts: inout [Int: Int64]) {
        for case .insert(let identifier, _, _) in changes {
            guard let entity = schema.number(of: identifier.entityName) else { continue }
            counts[schema.entities[entity].rootNumber, default: 0] += 1
        }
    }
}

extension PostgresChangeSession {
    /// The error of a set that its budget has stopped; nil if it has not.
    var stopError: LarderError? {
        guard case .failed(let error)? = limit.failure else {
            return limit.isStopped ? .changeSetTimedOut : nil
        }
        return error.code == .cancelled ? .changeSetStopped : .changeSetTimedOut
    }
}

extension LarderError {
    static let limitedNames = missing("change sets of clients with limited names")
}
#endif
