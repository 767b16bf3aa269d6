import LarderModel
import LarderQuery

// A change set that is read in parts: the objects of all changes are found first, then the changes
// of one part after the other are planned.
extension ChangeSetCheck {
    /// Finds the objects of all changes.
    ///
    /// - Returns: the set without its changes.
    /// - Throws: errors of the reader; `invalidChangeSet` for what only a whole set may have.
    package mutating func findSubjects(
        reading changes: any ChangeSetReader
    ) throws(LarderError) -> ChangeSet {
        var options = ChangeSet()
        var index = 0
        changes.rewind()
        while let part = try changes.next() {
            options.addOptions(of: part)
            guard options.conditions.isEmpty else { throw .notInParts(nil) }
            let other = part.changes.firstIndex { !$0.mayBeSavedInParts }
            if let other { throw .notInParts(index + other) }
            try findSubjects(of: part.changes)
            index += part.changes.count
        }
        try checkAuthor(options.author)
        return options
    }

    /// Plans the changes of one part after the other. What the closure gets has the errors that
    /// were found in its part.
    ///
    /// - Parameter options: Those of the whole set.
    package mutating func plan(
        _ options: ChangeSet, reading changes: any ChangeSetReader,
        _ body: (_ part: PlannedChangeSet, _ index: Int) throws(SQLError) -> Void
    ) throws(SQLError) -> LarderError? {
        var index = 0
        changes.rewind()
        while !errors.isFull {
            let planned: PlannedChangeSet
            let count: Int
            do throws(LarderError) {
                guard let part = try changes.next() else { break }
                var set = options
                set.changes = part.changes
                count = part.changes.count
                planned = PlannedChangeSet(
                    changes: try plannedChanges(set, from: index), lastKeys: lastKeys,
                    onUniqueConflict: set.onUniqueConflict, mergePolicy: set.mergePolicy)
            } catch {
                return error
            }
            try body(planned, index)
            index += count
        }
        return nil
    }
}

extension ChangeSet {
    /// Takes over what a part of the set has besides changes.
    fileprivate mutating func addOptions(of part: ChangeSet) {
        if part.onUniqueConflict != .error { onUniqueConflict = part.onUniqueConflict }
        if part.mergePolicy != .error { mergePolicy = part.mergePolicy }
        if !part.author.isEmpty { author = part.author }
        if !part.idempotencyKey.isEmpty { idempotencyKey = part.idempotencyKey }
        conditions += part.conditions
        releasedKeys += part.releasedKeys
        isDryRun = isDryRun || part.isDryRun
    }
}
