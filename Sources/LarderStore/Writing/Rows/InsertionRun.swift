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
            for start in stride(from: 0, to: batch.rowCount, by: ChangeSetRun.rowsMax)
            where context.errors.isEmpty {
                let end = min(batch.rowCount, start + ChangeSetRun.rowsMax)
                let inserted = try run.insert(
                    batch.rows(start..<end), insertion, into: entity, from: row, planner: planner,
                    lastKeys: &lastKeys)
                row += end - start
                if insertion.wantsIdentifiers {
                    for key in inserted { KeyRange.append(key, to: &keys) }
                }
            }
        }
        rowCount += Int64(batch.rowCount)
        guard run.recordCount > recordsMax else { return }
        context.add(.tooManyChangedObjects(recordsMax), change: nil)
    }

    /// Records objects that were inserted with consecutive keys.
    func recordInserted(_ inserted: ClosedRange<Int64>) {
        context.changes.insert(entity.number, inserted)
        guard insertion.wantsIdentifiers else { return }
        for key in inserted { KeyRange.append(key, to: &keys) }
    }
}
