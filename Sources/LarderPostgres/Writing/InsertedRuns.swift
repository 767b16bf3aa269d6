import LarderModel

/// The changes of an ``InsertPlan`` as the history records them: inserts, and stored objects whose
/// relationships change through their inverses.
struct InsertedRuns {
    private(set) var runs: [HistoryRun] = []

    init(_ plan: InsertPlan) {
        let inserted = plan.rows.sorted { ($0.entity.name, $0.key) < ($1.entity.name, $1.key) }
        for row in inserted { append(.inserted, row.entity.name, row.key, []) }
        var changed: [PersistentIdentifier: Set<String>] = [:]
        for change in plan.storedChanges {
            changed[change.object, default: []].insert(change.relationship)
        }
        let updated = changed.sorted {
            ($0.key.entityName, $0.key.permanentKey ?? 0)
                < ($1.key.entityName, $1.key.permanentKey ?? 0)
        }
        for (object, names) in updated {
            append(.updated, object.entityName, object.permanentKey ?? 0, names.sorted())
        }
    }

    /// A change that continues the last run extends it.
    private mutating func append(
        _ kind: HistoryRun.Kind, _ entityName: String, _ key: Int64, _ properties: [String]
    ) {
        if let last = runs.last, last.kind == kind, last.entityName == entityName,
            last.keys.upperBound + 1 == key, last.properties == properties
        {
            runs[runs.count - 1].keys = last.keys.lowerBound...key
            return
        }
        runs.append(HistoryRun(kind, entityName, key...key, properties: properties))
    }
}
