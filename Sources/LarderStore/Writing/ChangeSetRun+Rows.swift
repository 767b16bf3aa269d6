import LarderModel

// A run whose inserts come in parts, without an end to be seen: what it keeps of each must not grow
// with their number, but for what the end of the run has to look at.
extension ChangeSetRun {
    /// Carries out the inserts of a part; names that are temporary are good within it only.
    ///
    /// - Parameter place: Of the part's first insert in the whole.
    /// - Returns: The keys of the objects, in the order of the inserts.
    func insert(_ part: PlannedChangeSet, from place: Int) throws(SQLiteError) -> [Int64] {
        isUpserting = part.onUniqueConflict == .upsert
        if schema.hasInheritance { noteKinds(ofInsertsIn: part) }
        for (offset, planned) in part.changes.enumerated() where !faults.isFull {
            guard case .insert(let insert)? = planned else { continue }
            change = place + offset
            try self.insert(insert, at: place + offset)
        }
        change = nil
        redirects.removeAll(keepingCapacity: true)
        kinds.removeAll(keepingCapacity: true)
        defer { result.inserted.removeAll(keepingCapacity: true) }
        return result.inserted.compactMap(\.permanentKey)
    }

    /// How many notes the run has that the end, or the history, looks at one by one.
    var noteCount: Int {
        changes.updated.count + bumped.count + obligations.count + counts.count + suspects.count
            + aside.count
    }
}
