/// Assignments and edits of relationships that wait for a later insert of the change set.
///
/// Until that insert has run, the object that they name is not stored, and under `upsert` it is not
/// yet known which object that is.
struct PendingLinks {
    enum Link {
        case assignment(Assignment)
        /// All edits of one change wait together, because their order matters.
        case edits([PlannedEdit])
    }

    /// By the index of the insert, in the order in which they were added.
    private var links: [Int: [(object: ObjectKey, link: Link)]] = [:]

    /// The index of the last insert after the running change that inserts one of the targets; nil
    /// if all targets can be linked to now.
    static func awaitedInsert(
        _ targets: [Assignment.Target], runningChange: Int?
    ) -> Int? {
        guard let runningChange, let last = targets.lazy.compactMap(\.insertedBy).max()
        else { return nil }
        return last > runningChange ? last : nil
    }

    mutating func add(_ link: Link, of object: ObjectKey, until insert: Int) {
        links[insert, default: []].append((object, link))
    }

    /// Removes and returns what waits for an insert.
    mutating func take(after insert: Int) -> [(object: ObjectKey, link: Link)] {
        links.isEmpty ? [] : links.removeValue(forKey: insert) ?? []
    }
}
