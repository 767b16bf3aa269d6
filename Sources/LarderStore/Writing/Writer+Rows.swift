import FoundationEssentials
import LarderModel

extension Writer {
    func insert(
        _ received: ReceivedInsertion, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError> {
        if let refusal = refusal() { return .failure(refusal) }
        guard let statements else { return .failure(Writer.closed) }
        defer { endChanges() }
        do throws(SQLiteError) {
            let outcome = try insert(received, firstRow, rows, statements)
            rollBack()
            return outcome
        } catch {
            let isOfStatement =
                Writer.statementErrors.contains(error.code) && !statements.connection.autocommit
            rollBack()
            if !isOfStatement { noteFailure(error) }
            return .failure(error.larderError)
        }
    }

    /// Inserts and commits. Where it gives a failure the transaction is left to be rolled back.
    private func insert(
        _ received: ReceivedInsertion, _ firstRow: Int64, _ rows: any RowSource,
        _ statements: StatementCache
    ) throws(SQLiteError) -> Result<InsertedRows, LarderError> {
        let insertion = received.insertion
        let (number, overflow) = lastTransaction.addingReportingOverflow(1)
        guard !overflow else {
            return .failure(LarderError(.storageFull, "the history has no numbers left"))
        }
        guard let entity = schema.number(of: insertion.entityName) else {
            return .failure(
                LarderError(.unknownEntity, "there is no entity \(insertion.entityName)"))
        }
        let refusal = ChangeSetCheck.refusal(ofInsertsInto: schema.entities[entity].entity)
        if let refusal { return .failure(refusal) }
        let time = Date().timeIntervalSinceReferenceDate
        try statements.statement(Texts.begin).run()
        let run = ChangeSetRun(
            schema, store: store.storeDescription.identifier, statements: statements,
            values: values, lastKeys: lastKeys, transaction: number, time: time,
            functionFaults: functionFaults, budget: nil)
        let inserting = InsertionRun(
            insertion, into: schema.entities[entity], firstRow: firstRow, run, values: values,
            planner: planner)
        while run.faults.isEmpty {
            let batch: Batch
            do throws(LarderError) {
                guard let next = try rows.next() else { break }
                try insertion.check(next, in: store.storeDescription.schema)
                batch = next
            } catch {
                return .failure(error)
            }
            try inserting.insert(batch)
        }
        if run.faults.isEmpty { try run.checkEnd() }
        if let error = run.faults.error(changeCount: .max, places: "rows", in: "the stream") {
            return .failure(error)
        }
        var result = InsertedRows(rowCount: inserting.rowCount, keys: inserting.keys)
        let history = ReceivedChangeSet(
            ChangeSet(author: insertion.author), from: received.source)
        if let transactions, try run.writeHistory(history, transactions) {
            result.transaction = number
            lastTransaction = number
            beginChanges(run.changes)
        }
        try commit(statements, keys: inserting.lastKeys)
        lastKeys = inserting.lastKeys
        return .success(result)
    }
}
