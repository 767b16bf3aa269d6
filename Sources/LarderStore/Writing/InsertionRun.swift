import FoundationEssentials
import LarderModel

/// Inserts the rows of a stream, batch by batch, within a transaction that its caller began.
///
/// There are two ways. Where a row is one statement and needs nothing else, its values go from
/// their columns straight into the statement (`InsertionRun+Columns.swift`). All else goes the way
/// of change sets, a part at a time: inserts that may become updates, relationships that other
/// rows or a join table store, and what the end of a set has to look at.
///
/// Faults are those of a ``ChangeSetRun``, with the row's place in the stream; after a batch with
/// faults nothing more is to be inserted.
final class InsertionRun {
    /// So many rows become a change set at once.
    private static let ordinaryRowsMax = 2_000
    /// Keys of destinations that are known to be there, for each relationship.
    static let knownKeysMax = 65_536

    let run: ChangeSetRun
    let insertion: Insertion
    let entity: StoredEntity
    let values: ValueCheck
    private let planner: QueryPlanner
    /// The last key of each entity, those of the rows included.
    var lastKeys: [Int64]
    /// The place of the next row in its stream.
    var row: Int
    /// What other objects the rows may change, and what else of them may be kept to the end.
    private let notesMax: Int
    private(set) var rowCount: Int64 = 0
    private(set) var keys: [KeyRun] = []
    var known: [Int: Set<Int64>] = [:]

    init(
        _ insertion: Insertion, into entity: StoredEntity, firstRow: Int64, _ run: ChangeSetRun,
        values: ValueCheck, planner: QueryPlanner, notesMax: Int = Limits.changesMax
    ) {
        self.planner = planner
        self.notesMax = notesMax
        self.run = run
        self.insertion = insertion
        self.entity = entity
        self.values = values
        lastKeys = run.lastKeys
        row = Int(firstRow)
    }

    /// Inserts the rows of a batch whose columns have been checked.
    func insert(_ batch: Batch) throws(SQLiteError) {
        guard batch.rowCount > 0 else { return }
        if let plain = try plainColumns(batch) {
            try insert(plain, rowCount: batch.rowCount)
        } else {
            for start in stride(from: 0, to: batch.rowCount, by: Self.ordinaryRowsMax)
            where run.faults.isEmpty {
                let end = min(batch.rowCount, start + Self.ordinaryRowsMax)
                try insertOrdinarily(batch.rows(start..<end))
            }
        }
        rowCount += Int64(batch.rowCount)
        guard run.noteCount > notesMax else { return }
        run.change = nil
        run.fault(
            LarderError(
                .resourceExhausted,
                "the rows of one transaction change more than \(notesMax) other objects",
                hint: "insert them in several transactions"))
    }

    private func insertOrdinarily(_ batch: Batch) throws(SQLiteError) {
        let name = entity.name
        let changes = (0..<batch.rowCount).map { row in
            Change.insert(
                PersistentIdentifier(temporary: String(row), entityName: name),
                values: Dictionary(
                    batch.columns.map { ($0.name, $0.value(at: row, store: run.store)) },
                    uniquingKeysWith: { first, _ in first }))
        }
        var check = ChangeSetCheck(
            run.schema, store: run.store, values: values, planner: planner, lastKeys: lastKeys)
        defer { row += batch.rowCount }
        let planned: PlannedChangeSet
        do throws(LarderError) {
            planned = try check.plan(
                ChangeSet(changes, onUniqueConflict: insertion.onUniqueConflict))
        } catch {
            return run.faults.add(check.faults, from: row)
        }
        run.faults.add(planned.faults, from: row)
        lastKeys = planned.lastKeys
        note(try run.insert(planned, from: row))
    }

    private func note(_ inserted: [Int64]) {
        guard insertion.wantsIdentifiers else { return }
        for key in inserted { KeyRun.append(key, to: &keys) }
    }

    /// Notes objects that were inserted with consecutive keys.
    func noteInserted(_ inserted: ClosedRange<Int64>) {
        run.changes.insert(entity.number, inserted)
        guard insertion.wantsIdentifiers else { return }
        for key in inserted { KeyRun.append(key, to: &keys) }
    }
}
