import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

// A change set that is too long for memory is read twice: to find the objects of its changes, and
// to make the changes. What stays in memory of each change is its object, and what the end of the
// set checks.
extension Writer {
    func save(
        _ request: SaveRequest, reading changes: any ChangeSetReader
    ) -> Result<SaveResult, LarderError> {
        inOwnTransaction(request.budget) { (statements) throws(SQLError) in
            try save(request, changes, statements)
        }
    }

    /// Makes the changes and commits. After a failure the caller rolls the transaction back.
    private func save(
        _ request: SaveRequest, _ changes: any ChangeSetReader, _ statements: StatementCache
    ) throws(SQLError) -> Result<SaveResult, LarderError> {
        var check = ChangeSetCheck(
            schema, store: store.storeDescription.identifier, values: values,
            planner: planner(for: request.view), lastKeys: lastKeys, conversions)
        var request = request
        do throws(LarderError) {
            request.changeSet = try check.findSubjects(reading: changes)
            request.digest = changes.digest
            if let former = request.view as? FormerView {
                try former.check(reading: changes, values: values, conversions)
            }
            if let limited = request.view as? LimitedView {
                changes.rewind()
                while let part = try changes.next() {
                    try limited.changeRights.check(part.changes)
                }
            }
        } catch {
            return .failure(stopError(statements) ?? error)
        }
        guard !request.changeSet.isDryRun else { return .failure(.dryRunTooLong) }
        let time = store.options.clock().timeIntervalSinceReferenceDate
        let outcomes = outcomes(statements)
        if let outcome = try outcomes.outcome(of: request) { return outcome }
        if let refusal = try outcomes.refusal(of: request, time: time) { return .failure(refusal) }
        guard let run = makeRun(at: time, statements, for: request.view) else {
            return .failure(.noTransactionNumbersLeft)
        }
        try beginOwnTransaction(statements)
        let context = run.context
        let failure = try check.plan(request.changeSet, reading: changes) {
            (part, index) throws(SQLError) in
            try context.checkBudgetNow()
            try run.makeChanges(of: part, from: index)
        }
        if let failure { return .failure(stopError(statements) ?? failure) }
        context.add(check.errors, from: 0)
        try context.checkBudgetNow()
        if context.errors.isEmpty { try run.finish() }
        if let stopped = stopError(statements) { return .failure(stopped) }
        if let error = context.errors.error(changeCount: .max) { return .failure(error) }
        if let error = try reserveError(statements.connection) { return .failure(error) }
        var result = run.result
        result.transaction = try writeHistory(
            of: run, request.source, author: request.changeSet.author, statements)
        try outcomes.store(result, of: request, time: time)
        statements.connection.limit.start(nil)
        try commit(statements, keys: check.lastKeys)
        lastKeys = check.lastKeys
        return .success(result)
    }
}
