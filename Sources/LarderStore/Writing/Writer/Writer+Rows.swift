import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

extension Writer {
    func insert(
        _ received: InsertionRequest, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError> {
        inOwnTransaction(received.budget) { (statements) throws(SQLError) in
            try insert(received, firstRow, rows, statements)
        }
    }

    /// Inserts and commits. After a failure the caller rolls the transaction back.
    private func insert(
        _ received: InsertionRequest, _ firstRow: Int64, _ rows: any RowSource,
        _ statements: StatementCache
    ) throws(SQLError) -> Result<InsertedRows, LarderError> {
        let insertion = received.insertion
        guard let number = schema.number(of: insertion.entityName) else {
            return .failure(
                LarderError(.unknownEntity, "there is no entity \(insertion.entityName)"))
        }
        let entity = schema.entities[number]
        if let error = ChangeSetCheck.insertError(entity.entity) { return .failure(error) }
        if let limited = received.view as? LimitedView {
            do throws(LarderError) { try limited.changeRights.check(insertion) } catch {
                return .failure(error)
            }
        }
        let time = store.options.clock().timeIntervalSinceReferenceDate
        guard let run = makeRun(at: time, statements, for: received.view) else {
            return .failure(.noTransactionNumbersLeft)
        }
        try beginOwnTransaction(statements)
        let inserting = InsertionRun(
            insertion, into: entity, firstRow: firstRow, run, statements,
            lastKeys: lastKeys, planner: planner(for: received.view))
        let context = run.context
        while context.errors.isEmpty {
            let batch: Batch
            do throws(LarderError) {
                guard let next = try rows.next() else { break }
                let schema = (received.view ?? store).storeDescription.schema
                try insertion.check(next, in: schema)
                batch = next
            } catch {
                return .failure(error)
            }
            try context.checkBudgetNow()
            try inserting.insert(batch)
        }
        try context.checkBudgetNow()
        if context.errors.isEmpty { try run.finish() }
        if let stopped = stopError(statements) { return .failure(stopped) }
        let error = context.errors.error(
            changeCount: .max, elements: "rows", in: "the stream")
        if let error { return .failure(error) }
        var result = InsertedRows(rowCount: inserting.rowCount, keys: inserting.keys)
        if let maximum = received.answerBytesMax, result.encodedBytesMax > maximum {
            return .failure(.answerTooLong)
        }
        if let error = try reserveError(statements.connection) { return .failure(error) }
        result.transaction = try writeHistory(
            of: run, received.source, author: insertion.author, statements)
        statements.connection.limit.start(nil)
        try commit(statements, keys: inserting.lastKeys)
        lastKeys = inserting.lastKeys
        return .success(result)
    }
}
