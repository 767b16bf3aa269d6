import LarderModel
import LarderQuery

// Rows of a stream, as the inserts of a change set.
extension ChangeSetRun {
    /// The maximum number of rows at once.
    package static let rowsMax = 2_000

    /// Inserts the rows of a batch whose columns have been checked.
    ///
    /// - Parameters:
    ///   - row: The index of the first row in the stream.
    ///   - lastKeys: The last key of each entity; the rows take the following keys.
    /// - Returns: The keys of the objects, in the order of the rows.
    package func insert(
        _ batch: Batch, _ insertion: Insertion, into entity: StoredEntity, from row: Int,
        planner: QueryPlanner, lastKeys: inout [Int64]
    ) throws(SQLError) -> [Int64] {
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
        let planned: PlannedChangeSet
        do throws(LarderError) {
            planned = try check.plan(
                ChangeSet(changes, onUniqueConflict: insertion.onUniqueConflict))
        } catch {
            context.add(check.errors, from: row)
            return []
        }
        context.add(planned.errors, from: row)
        lastKeys = planned.lastKeys
        return try insert(planned, from: row)
    }
}
