#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

// Writes that share their transaction with no other: rows, and change sets in parts.
extension PostgresWriter {
    // MARK: - Rows

    /// The rows are inserted as change sets. They cannot be read twice, so a conflict is an error.
    func insert(
        _ request: InsertionRequest, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError> {
        guard !isClosed else { return .failure(.writerClosed) }
        guard request.view == nil else { return .failure(.limitedNames) }
        let insertion = request.insertion
        guard let number = schema.number(of: insertion.entityName) else {
            return .failure(
                LarderError(.unknownEntity, "there is no entity \(insertion.entityName)"))
        }
        let entity = schema.entities[number]
        if let error = ChangeSetCheck.insertError(entity.entity) { return .failure(error) }
        do throws(WriteFailure) {
            return try perform(attemptsMax: 1) { (transaction) throws(PostgresError) in
                try insert(request, into: entity, firstRow, rows, transaction)
            } finished: { inserted, numbers in
                var inserted = inserted
                inserted.transaction = inserted.transaction.flatMap { numbers[$0] }
                return inserted
            }
        } catch {
            return .failure(error.larderError)
        }
    }

    private func insert(
        _ request: InsertionRequest, into entity: StoredEntity, _ firstRow: Int64,
        _ rows: any RowSource, _ transaction: WriteTransaction
    ) throws(PostgresError) -> Result<InsertedRows, LarderError> {
        let session = transaction.session
        let insertion = request.insertion
        session.limit.start(request.budget ?? ReadBudget())
        defer { session.limit.start(ReadBudget()) }
        let conversions = Conversions(session.limit)
        let run = makeRun(
            transaction, ValueCheck(conversions), conversions, ownKeysUpTo: keys.lastKeys)
        let context = run.context
        var inserted = InsertedRows()
        session.beginSet()
        do throws(SQLError) {
            while context.errors.isEmpty {
                let batch: Batch
                do throws(LarderError) {
                    guard let next = try rows.next() else { break }
                    try insertion.check(next, in: store.storeDescription.schema)
                    batch = next
                } catch {
                    return .failure(error)
                }
                try insert(
                    batch, insertion, into: entity, firstRow + inserted.rowCount, run, &inserted)
                progress.advance()
            }
            try context.checkBudgetNow()
            if context.errors.isEmpty { try run.finish() }
            let error = context.errors.error(
                changeCount: .max, elements: "rows", in: "the stream")
            if let error { return .failure(error) }
            if let maximum = request.answerBytesMax, inserted.encodedBytesMax > maximum {
                return .failure(.answerTooLong)
            }
            let runs = try run.history.runs()
            inserted.transaction = runs.isEmpty ? nil : run.transaction
            transaction.record(
                runs, run.transaction, author: insertion.author, request.source)
            session.endSet()
            return .success(inserted)
        } catch {
            return .failure(try failure(error, session))
        }
    }

    /// Inserts the rows of a batch, which begins at this index of the stream.
    private func insert(
        _ batch: Batch, _ insertion: Insertion, into entity: StoredEntity, _ row: Int64,
        _ run: ChangeSetRun, _ inserted: inout InsertedRows
    ) throws(SQLError) {
        let root = entity.rootNumber
        for start in stride(from: 0, to: batch.rowCount, by: ChangeSetRun.rowsMax)
        where run.context.errors.isEmpty {
            try run.context.checkBudgetNow()
            let part = batch.rows(start..<min(batch.rowCount, start + ChangeSetRun.rowsMax))
            do throws(PostgresError) { try reserveKeys(Int64(part.rowCount), of: root) } catch {
                throw SQLError(error)
            }
            var lastKeys = keys.lastKeys
            run.context.own(
                lastKeys[root] + 1...lastKeys[root] + Int64(part.rowCount), ofRoot: root)
            let added = try run.insert(
                part, insertion, into: entity, from: Int(row) + start, planner: planner,
                lastKeys: &lastKeys)
            keys.use(lastKeys)
            guard insertion.wantsIdentifiers else { continue }
            for key in added { KeyRange.append(key, to: &inserted.keys) }
        }
        inserted.rowCount += Int64(batch.rowCount)
        guard run.recordCount > Limits.changedObjectsMax else { return }
        run.context.add(.tooManyChangedObjects(Limits.changedObjectsMax), change: nil)
    }

    // MARK: - Change sets in parts

    func save(
        _ request: SaveRequest, reading changes: any ChangeSetReader
    ) -> Result<SaveResult, LarderError> {
        guard !isClosed else { return .failure(.writerClosed) }
        guard request.view == nil else { return .failure(.limitedNames) }
        do throws(WriteFailure) {
            return try perform(attemptsMax: Self.attemptsMax) {
                (transaction) throws(PostgresError) in
                try save(request, changes, transaction)
            } finished: { result, numbers in
                result.renumbered(numbers)
            }
        } catch {
            return .failure(error.larderError)
        }
    }

    private func save(
        _ request: SaveRequest, _ changes: any ChangeSetReader, _ transaction: WriteTransaction
    ) throws(PostgresError) -> Result<SaveResult, LarderError> {
        let session = transaction.session
        session.limit.start(request.budget ?? ReadBudget())
        defer { session.limit.start(ReadBudget()) }
        let conversions = Conversions(session.limit)
        let values = ValueCheck(conversions)
        var request = request
        var check: ChangeSetCheck
        do {
            try reserveKeys(reading: changes)
            check = ChangeSetCheck(
                schema, store: store.storeDescription.identifier, values: values,
                planner: planner, lastKeys: keys.lastKeys, conversions)
            request.changeSet = try check.findSubjects(reading: changes)
            request.digest = changes.digest
        } catch let error as LarderError {
            return .failure(session.stopError ?? error)
        } catch let error as PostgresError {
            throw error
        } catch {
            preconditionFailure("every error above has one of two types")
        }
        guard !request.changeSet.isDryRun else { return .failure(.dryRunTooLong) }
        if let former = try formerOutcome(of: request, transaction) { return former }
        session.beginSet()
        let run = makeRun(transaction, values, conversions, ownKeysUpTo: check.lastKeys)
        do throws(SQLError) {
            let failure = try makeChanges(of: request, changes, &check, run)
            if let failure { return .failure(session.stopError ?? failure) }
            var result = run.result
            try record(run, &result, request, transaction)
            session.endSet()
            keys.use(check.lastKeys)
            return .success(result)
        } catch {
            return .failure(try failure(error, session))
        }
    }

    private func makeChanges(
        of request: SaveRequest, _ changes: any ChangeSetReader, _ check: inout ChangeSetCheck,
        _ run: ChangeSetRun
    ) throws(SQLError) -> LarderError? {
        let context = run.context
        let failure = try check.plan(request.changeSet, reading: changes) {
            (part, index) throws(SQLError) in
            try context.checkBudgetNow()
            try run.makeChanges(of: part, from: index)
            progress.advance()
        }
        if let failure { return failure }
        context.add(check.errors, from: 0)
        try context.checkBudgetNow()
        if context.errors.isEmpty { try run.finish() }
        return context.errors.error(changeCount: .max)
    }

    /// Reserves the keys of all inserts.
    private func reserveKeys(reading changes: any ChangeSetReader) throws {
        var counts: [Int: Int64] = [:]
        changes.rewind()
        while let part = try changes.next() { countInserts(part.changes, &counts) }
        for (root, count) in counts { try reserveKeys(count, of: root) }
    }
}
#endif
