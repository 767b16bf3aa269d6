internal import Foundation
internal import LarderObjects

/// The models of a list as its owner's instance keeps them, so that a read does not make the array
/// and an edit does not copy it.
///
/// It keeps the addresses of the models, too, by which it finds what a caller has changed in the
/// array: models between a common beginning and a common end.
final class ModelList<Member: PersistentModel>: ListInstances {
    /// The models while a caller edits them.
    private var isTaken = false
    private var models: [Member]
    private var addresses: [ObjectIdentifier]
    private let owner: ObjectIdentifier
    /// nil for a list that must be set as a whole.
    let tracked: TrackedList?
    /// Whether deletions may have changed the list; nil for a list of a model without a context.
    let statusRevision: Int?

    init(
        _ models: [Member], of owner: AnyObject, _ tracked: TrackedList?, statusRevision: Int?
    ) {
        self.models = models
        addresses = tracked == nil ? [] : models.map { ObjectIdentifier($0) }
        self.owner = ObjectIdentifier(owner)
        self.tracked = tracked
        self.statusRevision = statusRevision
    }

    /// Whether an instance of the owner may keep it: a model that keeps itself is never released.
    var canBeKept: Bool { tracked != nil && !addresses.contains(owner) }

    /// The models; nil while a caller edits them.
    var known: [Member]? { isTaken ? nil : models }

    // MARK: - Edits by a caller

    /// Passes the models to a caller, who has the only reference to the array.
    func take() -> [Member] {
        defer { models = [] }
        isTaken = true
        return models
    }

    /// The models that a caller has replaced, by their positions, and those with which it has.
    func difference(to new: [Member]) -> (former: Range<Int>, new: Range<Int>) {
        let count = min(addresses.count, new.count)
        // Both are arrays of one address for each element.
        return addresses.withUnsafeBytes { former in
            new.withUnsafeBytes { new in
                let start = former.equalWords(new, count, fromEnd: false)
                let end = former.equalWords(new, count - start, fromEnd: true)
                let size = MemoryLayout<ObjectIdentifier>.size
                return (start..<former.count / size - end, start..<new.count / size - end)
            }
        }
    }

    /// Takes the models back after the list has the changes.
    ///
    /// - Returns: false if a list that contains its owner would be kept.
    func adopt(_ new: [Member], _ change: (former: Range<Int>, new: Range<Int>)) -> Bool {
        models = new
        isTaken = false
        let added = new[change.new].map { ObjectIdentifier($0) }
        if change.former.isEmpty, change.former.lowerBound == addresses.count {
            addresses.append(contentsOf: added)
        } else {
            addresses.replaceSubrange(change.former, with: added)
        }
        return !added.contains(owner)
    }

    // MARK: - ListInstances

    var count: Int { addresses.count }

    func append(_ new: any ObjectOwner) -> Bool {
        guard !isTaken, let model = new as? Member, ObjectIdentifier(model) != owner else {
            return false
        }
        models.append(model)
        addresses.append(ObjectIdentifier(model))
        return true
    }

    func remove(at index: Int) -> Bool {
        guard !isTaken else { return false }
        models.remove(at: index)
        addresses.remove(at: index)
        return true
    }

    func removeAll() {
        isTaken = true
        models = []
        addresses = []
    }
}

/// The lists that an instance keeps, by slot.
public final class _ModelLists {
    var bySlot: [Int: any ListInstances] = [:]
}

extension UnsafeRawBufferPointer {
    fileprivate static var blockCount: Int { 128 }

    /// The number of words in which two arrays agree at their beginnings or their ends.
    ///
    /// - Parameter count: The number of words to compare, which both arrays have.
    fileprivate func equalWords(
        _ other: UnsafeRawBufferPointer, _ count: Int, fromEnd: Bool
    ) -> Int {
        let size = MemoryLayout<UInt>.size
        var equal = 0
        var step = Self.blockCount
        while equal < count {
            let length = Swift.min(step, count - equal)
            let (start, otherStart) =
                fromEnd
                ? (self.count / size - equal - length, other.count / size - equal - length)
                : (equal, equal)
            let isEqual =
                memcmp(
                    baseAddress! + start * size, other.baseAddress! + otherStart * size,
                    length * size) == 0
            if isEqual {
                equal += length
            } else if length == 1 {
                return equal
            } else {
                step = length / 2
            }
        }
        return equal
    }
}
