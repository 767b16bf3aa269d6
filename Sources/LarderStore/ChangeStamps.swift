import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

/// Stamps by which readers find out whether a result that they cached is still current.
///
/// There is one stamp for each slot of objects. An object's slot is the low bits of its key, so a
/// stamp may also change because of another object. A stamp is odd while a transaction that changes
/// it is being committed, and even otherwise. A result that was read after an even stamp was taken
/// is current as long as the stamp stays the same.
///
/// Only the writer changes stamps. It collects ``Slots`` while it saves, and commits through
/// ``commit(_:_:)``.
final class ChangeStamps: Sendable {
    static let slotCount = 4_096

    private let slots: InlineArray<4_096, Atomic<UInt64>>

    init() { slots = InlineArray { _ in Atomic(0) } }

    static func slot(ofKey key: Int64) -> Int {
        Int(truncatingIfNeeded: key) & (slotCount - 1)
    }

    // MARK: - For readers

    /// The stamp of an object; nil while a transaction that changes it is being committed.
    func stamp(ofKey key: Int64) -> ObjectStamp? {
        let slot = Self.slot(ofKey: key)
        let stamp = slots[slot].load(ordering: .sequentiallyConsistent)
        return stamp % 2 == 0 ? ObjectStamp(slot: slot, version: stamp) : nil
    }

    func isCurrent(_ stamp: ObjectStamp) -> Bool {
        slots[stamp.slot].load(ordering: .sequentiallyConsistent) == stamp.version
    }

    // MARK: - For the writer

    /// Commits a transaction, and changes the stamps of the objects that it changed, even if the
    /// commit fails: then it is not known whether it took effect.
    func commit<Failure: Error>(
        _ changed: inout Slots, _ commit: () throws(Failure) -> Void
    ) throws(Failure) {
        for slot in changed.slots { increment(slots[slot]) }
        defer {
            for slot in changed.slots { increment(slots[slot]) }
            changed.removeAll()
        }
        try commit()
    }

    /// Changes the stamps of all objects.
    func changeAll() {
        for slot in 0..<Self.slotCount {
            increment(slots[slot])
            increment(slots[slot])
        }
    }

    private func increment(_ stamp: borrowing Atomic<UInt64>) {
        stamp.add(1, ordering: .sequentiallyConsistent)
    }
}

extension ChangeStamps {
    /// The slots of the objects that an open transaction changes.
    struct Slots {
        /// Each slot once.
        private(set) var slots: [Int] = []
        /// One bit for each slot in the list.
        private var words = [UInt64](repeating: 0, count: ChangeStamps.slotCount / 64)

        /// Adds the objects that existed before. No reader has read an inserted object.
        mutating func insert(_ changes: ObjectChanges) {
            changes.forEachExisting { key in insert(ChangeStamps.slot(ofKey: key)) }
        }

        mutating func insert(_ slot: Int) {
            let bit: UInt64 = 1 << UInt64(slot & 63)
            guard words[slot >> 6] & bit == 0 else { return }
            words[slot >> 6] |= bit
            slots.append(slot)
        }

        mutating func removeAll() {
            for slot in slots { words[slot >> 6] = 0 }
            slots.removeAll(keepingCapacity: true)
        }
    }
}
