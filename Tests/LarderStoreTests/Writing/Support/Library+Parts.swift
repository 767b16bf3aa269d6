import LarderModel
import LarderQuery

@testable import LarderStore

extension Library {
    /// Saves a set whose changes are read in parts of this number.
    func save(
        _ set: ChangeSet, inPartsOf count: Int, budget: ReadBudget? = nil
    ) -> Result<SaveResult, LarderError> {
        writer.save(
            SaveRequest(ChangeSet(), budget: budget), reading: PartsOfChangeSet(set, count))
    }
}

/// The changes of a set in parts, and after them its options, as on the wire.
private final class PartsOfChangeSet: ChangeSetReader {
    private let set: ChangeSet
    private let count: Int
    private var parts: [ChangeSet] = []

    init(_ set: ChangeSet, _ count: Int) {
        self.set = set
        self.count = count
    }

    var digest: UInt64 { UInt64(set.changes.count) }

    func rewind() {
        parts = stride(from: 0, to: set.changes.count, by: count).map {
            ChangeSet(Array(set.changes[$0..<min($0 + count, set.changes.count)]))
        }
        var options = set
        options.changes = []
        parts.append(options)
    }

    func next() -> ChangeSet? { parts.isEmpty ? nil : parts.removeFirst() }
}
