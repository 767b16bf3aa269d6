import FoundationEssentials
import LarderModel
import LarderSQL

/// Inserts the rows of a stream, batch by batch, within a transaction of the caller.
///
/// If each row needs no more than one statement, its values are bound directly from the columns of
/// the batch (``DirectColumns``). All other rows are inserted as change sets, part by part: inserts
/// that may become updates, relationships that other rows or a join table store, and everything
/// that the end of a set has to check.
///
/// The errors are those of a ``ChangeSetRun``, with the index of the row in the stream. After a
/// batch with errors nothing more may be inserted.
final class InsertionRun {
    /// The maximum number of rows in one change set.
    private static let changeSetRowsMax = 2_000
    /// The maximum number of destinations that are remembered for each relationship.
    static let knownKeysMax = 65_536

    let run: ChangeSetRun
    let statements: StatementCache
    let insertion: Insertion
    let entity: StoredEntity
    let values: ValueCheck
    private let planner: QueryPlanner
    /// The last key of each entity, those of the inserted rows included.
    var lastKeys: [Int64]
    /// The index of the next row in the stream.
    var row: Int
    /// The maximum number of records that the run may keep to its end.
    private let recordsMax: Int
    private(set) var rowCount: Int64 = 0
    private(set) var keys: [KeyRange] = []
    /// Keys of destinations that are known to exist, by relationship.
    var knownKeys: [Int: Set<Int64>] = [:]

    var context: ChangeContext { run.context }

    /// - Parameter lastKeys: The last key of each entity before the stream.
    init(
        _ insertion: Insertion, into entity: StoredEntity, firstRow: Int64, _ run: ChangeSetRun,
        _ statements: StatementCache, lastKeys: [Int64], planner: QueryPlanner,
        recordsMax: Int = Limits.changedObjectsMax
    ) {
        self.statements = statements
        self.planner = planner
        self.recordsMax = recordsMax
        self.run = run
        self.insertion = insertion
        self.entity = entity
        self.lastKeys = lastKeys
        values = run.values
        row = Int(firstRow)
    }

    /// Inserts the rows of a batch whose columns have been checked.
    func insert(_ batch: Batch) throws(SQLError) {
        guard batch.rowCount > 0 else { return }
        if let columns = try directColumns(batch) {
            try insert(columns, rowCount: batch.rowCount)
        } else {
            for start in stride(from: 0, to: batch.rowCount, by: Self.changeSetRowsMax)
            where context.errors.isEmpty {
                let end = min(batch.rowCount, start + Self.changeSetRowsMax)
                try insertAsChangeSet(batch.rows(start..<end))
            }
        }
        rowCount += Int64(batch.rowCount)
        guard run.recordCount > recordsMax else { return }
        context.add(
            LarderError(
                .resourceExhausted,
                "the rows of one transaction change more than \(recordsMax) other objects",
                hint: "insert them in several transactions"),
            change: nil)
    }

    private func insertAsChangeSet(_ batch: Batch) throws(SQLError) {
        let name = entity.name
        let store = context.store
        let changes = (0..<batch.rowCount).map { row in
            Change.insert(
                PersistentIdentifier(temporary: String(row), entityName: name),
                values: Dictionary(
                    batch.columns.map { ($0.name, $0.value(at: row, store: store)) },
                    uniquingKeysWith: { first, _ in first }))
        }
        var check = ChangeSetCheck(
            context.schema, store: store, values: values, planner: planner, lastKeys: lastKeys,
            context.conversions)
        defer { row += batch.rowCount }
        let planned: PlannedChangeSet
        do throws(LarderError) {
            planned = try check.plan(
                ChangeSet(changes, onUniqueConflict: insertion.onUniqueConflict))
        } catch {
            return context.add(check.errors, from: row)
        }
        context.add(planned.errors, from: row)
        lastKeys = planned.lastKeys
        let inserted = try run.insert(planned, from: row)
        if insertion.wantsIdentifiers {
            for key in inserted { KeyRange.append(key, to: &keys) }
        }
    }

    /// Records objects that were inserted with consecutive keys.
    func recordInserted(_ inserted: ClosedRange<Int64>) {
        context.changes.insert(entity.number, inserted)
        guard insertion.wantsIdentifiers else { return }
        for key in inserted { KeyRange.append(key, to: &keys) }
    }
}
