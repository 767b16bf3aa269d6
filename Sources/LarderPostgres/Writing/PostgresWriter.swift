#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// Writes to a store in PostgreSQL: so far, change sets that insert objects.
///
/// A group of sets is one transaction, in which each set has a savepoint. The advisory lock of the
/// store, which it takes first and which ends with it, gives the transactions of the history dense
/// numbers in the order of their commits: each statement of READ COMMITTED sees what was committed
/// before. Constraints that are deferred are checked at the end of each set.
final class PostgresWriter: StoreWriter {
    let store: PostgresStore
    let progress = WriterProgress()
    private var connection: PostgresConnection?
    private var isClosed = false
    /// The keys that this process has taken from the sequence of each table.
    private var keys: [String: ClosedRange<Int64>] = [:]

    private static let timeMax = Duration.seconds(600)
    private static let statementsAtOnce = 1_000

    init(_ store: PostgresStore) { self.store = store }

    // MARK: Groups

    func save(
        _ sets: [SaveRequest], more: () -> [SaveRequest]
    ) -> [Result<SaveResult, LarderError>] {
        guard !sets.isEmpty else { return [] }
        guard !isClosed else { return sets.map { _ in .failure(Self.closedError) } }
        var count = 0
        var isCommitting = false
        do throws(PostgresError) {
            let connection = try openConnection()
            var number = try begin(connection)
            var outcomes: [Result<SaveResult, LarderError>] = []
            var part = sets
            while !part.isEmpty {
                count += part.count
                for set in part {
                    let outcome = try save(set, number + 1, connection)
                    if case .success(let result) = outcome, result.transaction != nil {
                        number += 1
                    }
                    outcomes.append(outcome)
                    progress.advance()
                }
                part = more()
            }
            isCommitting = true
            try run([PostgresStatement("COMMIT")], connection)
            return outcomes
        } catch {
            // A transaction that is open ends with its connection.
            connection = nil
            let failure = isCommitting ? Self.commitFailure(error) : error.larderError
            return Array(repeating: .failure(failure), count: max(count, sets.count))
        }
    }

    /// - Returns: the number of the last transaction.
    private func begin(_ connection: PostgresConnection) throws(PostgresError) -> Int64 {
        let results = try run(
            [
                PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
                PostgresStatement(
                    "SELECT pg_advisory_xact_lock(1281455717, pg_catalog.hashtext($1))",
                    [.text(store.options.schemaName)]),
            ], connection)
        precondition(results.count == 2, "one result per statement")
        let last = try run([PostgresStatement(Layout.lastTransaction)], connection)
        if case .integer(let number)? = last[0].rows.first?.first { return number }
        return 0
    }

    private func openConnection() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isUsable, !connection.isInTransaction { return connection }
        let opened = try store.openConnection(deadline: .now + Self.timeMax)
        connection = opened
        return opened
    }

    /// After COMMIT was sent, the end of the connection does not say whether it was done.
    private static func commitFailure(_ error: PostgresError) -> LarderError {
        switch error.condition {
        case .connectionLost, .deadlinePassed:
            LarderError(
                .indeterminate, "the connection was lost during a commit: \(error.message)",
                hint: "read the objects to see whether they were stored")
        default: error.larderError
        }
    }

    private static let closedError = LarderError(.unavailable, "the store is closed")

    // MARK: One change set

    private static let savepoint = PostgresStatement("SAVEPOINT larder_set")
    private static let rollback = PostgresStatement("ROLLBACK TO SAVEPOINT larder_set")
    private static let check = PostgresStatement("SET CONSTRAINTS ALL IMMEDIATE")
    private static let `defer` = PostgresStatement("SET CONSTRAINTS ALL DEFERRED")

    /// - Throws: An error that ends the whole group.
    private func save(
        _ request: SaveRequest, _ number: Int64, _ connection: PostgresConnection
    ) throws(PostgresError) -> Result<SaveResult, LarderError> {
        let set = request.changeSet
        guard request.view == nil else {
            return .failure(.missing("change sets of clients with limited names"))
        }
        let keys = try takeKeys(for: set, connection)
        let plan: InsertPlan
        do throws(LarderError) {
            plan = try InsertPlan(
                set, store.layout, store: store.storeDescription.identifier, keys: keys)
        } catch {
            return .failure(error)
        }
        try run([Self.savepoint], connection)
        let outcome: Result<SaveResult, LarderError>
        do throws(SetFailure) {
            var result = try save(plan, request, number, connection)
            if set.isDryRun { result.transaction = nil }
            outcome = .success(result)
        } catch {
            switch error {
            case .ofSet(let failure): outcome = .failure(failure)
            case .ofGroup(let error): throw error
            }
        }
        if case .success = outcome, !set.isDryRun { return outcome }
        try run([Self.rollback, Self.defer], connection)
        return outcome
    }

    private enum SetFailure: Error {
        case ofSet(LarderError)
        case ofGroup(PostgresError)
    }

    private func save(
        _ plan: InsertPlan, _ request: SaveRequest, _ number: Int64,
        _ connection: PostgresConnection
    ) throws(SetFailure) -> SaveResult {
        if let failure = stopped(request.budget) { throw .ofSet(failure) }
        let missing: PersistentIdentifier?
        do throws(PostgresError) { missing = try missingTarget(plan, connection) } catch {
            throw .ofGroup(error)
        }
        if let missing {
            throw .ofSet(
                LarderError(
                    .objectNotFound, "there is no object \(missing.uriRepresentation) (any more)",
                    uri: missing.uriRepresentation))
        }
        var statements = insertStatements(plan) + [Self.check, Self.defer]
        let runs = InsertedRuns(plan)
        let changesAnything = !runs.runs.isEmpty
        if changesAnything { statements += historyStatements(runs, request, number) }
        for start in stride(from: 0, to: statements.count, by: Self.statementsAtOnce) {
            let end = min(start + Self.statementsAtOnce, statements.count)
            do throws(PostgresError) {
                try run(Array(statements[start..<end]), connection)
            } catch {
                throw error.concernsStatementOnly
                    ? .ofSet(Self.failure(error)) : .ofGroup(error)
            }
            if let failure = stopped(request.budget) { throw .ofSet(failure) }
            progress.advance()
        }
        var result = SaveResult(transaction: changesAnything ? number : nil)
        result.inserted = plan.rows.map { row in
            PersistentIdentifier(
                store: store.storeDescription.identifier, entityName: row.entity.name,
                key: row.key)
        }
        return result
    }

    private func stopped(_ budget: ReadBudget?) -> LarderError? {
        guard let budget else { return nil }
        if budget.cancellation?.isCancelled == true {
            return LarderError(.cancelled, "the request was stopped")
        }
        guard let deadline = budget.deadline, deadline <= .now else { return nil }
        return LarderError(.timeout, "the save took longer than it may")
    }

    /// The error of a constraint that the set violates.
    private static func failure(_ error: PostgresError) -> LarderError {
        switch error.condition {
        case .uniquenessViolated:
            LarderError(
                .uniquenessViolated,
                "values that must be unique are those of another object (\(error.constraint))",
                hint: "use other values")
        case .checkViolated:
            LarderError(
                .validationFailed, "a value is outside of its bounds (\(error.constraint))")
        case .foreignKeyViolated:
            LarderError(.objectNotFound, "a linked object does not exist (\(error.constraint))")
        default: error.larderError
        }
    }

    // MARK: Statements

    /// A stored object that the plan links and that does not exist.
    private func missingTarget(
        _ plan: InsertPlan, _ connection: PostgresConnection
    ) throws(PostgresError) -> PersistentIdentifier? {
        var byEntity: [String: [PersistentIdentifier]] = [:]
        for target in plan.targets { byEntity[target.entityName, default: []].append(target) }
        for (name, targets) in byEntity.sorted(by: { $0.key < $1.key }) {
            guard let entity = store.layout.schema.entity(named: name) else { continue }
            let kinds = store.layout.kinds(inTableOf: entity)
            var sql: SQL = """
                SELECT \(name: Layout.keyColumn) FROM \(name: store.layout.table(for: entity)) \
                WHERE \(name: Layout.keyColumn) = ANY ($1)
                """
            if kinds != nil { sql += " AND \(name: Layout.entityColumn) = $2" }
            let keys = PostgresValue.integers(targets.compactMap(\.permanentKey))
            let rows = try run(
                [
                    PostgresStatement(
                        SQLDialect.postgres.finished(sql).text,
                        kinds == nil ? [keys] : [keys, .text(name)])
                ], connection)[0].rows
            let found = Set(rows.compactMap(\.first))
            if let missing = targets.first(where: {
                !found.contains(.integer($0.permanentKey ?? 0))
            }) {
                return missing
            }
        }
        return nil
    }

    private func insertStatements(_ plan: InsertPlan) -> [PostgresStatement] {
        let layout = store.layout
        var statements = plan.rows.map { row in
            var columns: [(String, PostgresValue)] = [
                (Layout.keyColumn, .integer(row.key)), (Layout.versionColumn, .integer(1)),
            ]
            if layout.kinds(inTableOf: row.entity) != nil {
                columns.append((Layout.entityColumn, .text(row.entity.name)))
            }
            columns += row.values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return Self.insert(into: layout.table(for: row.entity), columns)
        }
        let positions = Dictionary(
            layout.joinTables.map { ($0.name, $0.positionColumns) },
            uniquingKeysWith: { one, _ in
                one
            })
        var counts: [String: Int64] = [:]
        for pair in plan.pairs {
            let pair = plan.positions(of: pair, positions[pair.table] ?? [], &counts)
            var columns: [(String, PostgresValue)] = [
                (Layout.sourceColumn, .integer(pair.source)),
                (Layout.targetColumn, .integer(pair.target)),
            ]
            columns += pair.positions.sorted { $0.key < $1.key }.map {
                ($0.key, .integer($0.value))
            }
            statements.append(Self.insert(into: pair.table, columns))
        }
        return statements
    }

    private static func insert(
        into table: String, _ columns: [(name: String, value: PostgresValue)]
    ) -> PostgresStatement {
        let parameters = columns.map { _ in "?" as SQL }
        let sql: SQL = """
            INSERT INTO \(name: table) (\(names: columns.map(\.name))) VALUES (\(parameters))
            """
        return PostgresStatement(SQLDialect.postgres.finished(sql).text, columns.map(\.value))
    }

    private func historyStatements(
        _ runs: InsertedRuns, _ request: SaveRequest, _ number: Int64
    ) -> [PostgresStatement] {
        let source = request.source
        let author = request.changeSet.author
        func text(_ text: String) -> PostgresValue { text.isEmpty ? .null(.text) : .text(text) }
        let transaction: [PostgresValue] = [
            .integer(number), .double(store.now), text(author), text(source.clientName),
            source.userIdentifier.map { .integer(Int64($0)) } ?? .null(.bigint),
            source.processIdentifier.map { .integer(Int64($0)) } ?? .null(.bigint),
        ]
        return runs.runs.enumerated().map { place, run in
            let values: [PostgresValue] = [
                .integer(run.kind.rawValue), .text(run.entityName), .integer(run.keys.lowerBound),
                .integer(run.keys.upperBound), text(run.properties.joined(separator: ",")),
            ]
            let sql = place == 0 ? Layout.insertTransaction : Layout.insertChange
            return PostgresStatement(
                SQLDialect.postgres.finished(sql).text,
                (place == 0 ? transaction : [.integer(number), .integer(Int64(place))]) + values)
        }
    }

    /// The keys of the objects that a set inserts, in the order of the inserts. An entity that does
    /// not exist has none.
    private func takeKeys(
        for set: ChangeSet, _ connection: PostgresConnection
    ) throws(PostgresError) -> [Int64] {
        var keys: [Int64] = []
        for case .insert(let identifier, _, _) in set.changes {
            guard let entity = store.layout.schema.entity(named: identifier.entityName) else {
                return keys
            }
            keys.append(try takeKey(of: entity, connection))
        }
        return keys
    }

    /// The next key of the table of an entity. A sequence never returns a number again.
    private func takeKey(
        of entity: Entity, _ connection: PostgresConnection
    ) throws(PostgresError) -> Int64 {
        let table = store.layout.table(for: entity)
        if let left = keys[table] {
            keys[table] = left.count > 1 ? left.lowerBound + 1...left.upperBound : nil
            return left.lowerBound
        }
        let sequence = PostgresName.shortened("\(table).\(Layout.keyColumn)")
        let rows = try run(
            [
                PostgresStatement(
                    "SELECT nextval(CAST(pg_catalog.quote_ident($1) AS regclass))",
                    [.text(sequence)])
            ], connection)
        guard case .integer(let first)? = rows[0].rows.first?.first else {
            throw PostgresError(.unexpectedReply, "a sequence has no next number")
        }
        keys[table] = first + 1...first + PostgresTable.keysAtOnce - 1
        return first
    }

    /// - Throws: the error of the first statement that fails.
    @discardableResult
    private func run(
        _ statements: [PostgresStatement], _ connection: PostgresConnection
    ) throws(PostgresError) -> [PostgresRows] {
        let results = try connection.run(statements, deadline: .now + Self.timeMax)
        var rows: [PostgresRows] = []
        for result in results { rows.append(try result.get()) }
        return rows
    }

    // MARK: Not yet

    func save(
        _ request: SaveRequest, reading changes: any ChangeSetReader
    ) -> Result<SaveResult, LarderError> {
        .failure(.missing("change sets in parts"))
    }

    func insert(
        _ insertion: InsertionRequest, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError> {
        .failure(.missing("streams of rows"))
    }

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

    // MARK: Maintenance

    // PostgreSQL does it itself.
    var needsMaintenance: Bool { false }
    func performMaintenance() {}
    var needsReadersToEnd: Bool { false }
    var logByteCount: Int { 0 }

    func close() {
        isClosed = true
        connection = nil
    }
}
#endif
