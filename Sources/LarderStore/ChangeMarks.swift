import LarderModel
import Synchronization

/// Numbers that tell readers whether what they have read is still so.
///
/// Each slot has a version, and an object's slot is the last bits of its key; so a change of one
/// object may look like a change of another, never the other way round. The version is odd from
/// before a transaction that changes an object of the slot is committed until that is done, and
/// even otherwise. What was read after an even version was taken is therefore current as long as
/// the version is the same: no commit that changes it has begun since.
///
/// Only the writer changes versions.
final class ChangeMarks: Sendable {
    static let placeCount = 4_096

    private let objects: InlineArray<4_096, Atomic<UInt64>>

    init() { objects = InlineArray { _ in Atomic(0) } }

    // MARK: For readers

    /// nil while a transaction changes the object.
    func mark(ofKey key: Int64) -> ObjectMark? {
        let place = Self.place(ofKey: key)
        let number = objects[place].load(ordering: .sequentiallyConsistent)
        return number % 2 == 0 ? ObjectMark(place: place, number: number) : nil
    }

    func isCurrent(_ mark: ObjectMark) -> Bool {
        objects[mark.place].load(ordering: .sequentiallyConsistent) == mark.number
    }

    // MARK: For the writer

    static func place(ofKey key: Int64) -> Int { Int(truncatingIfNeeded: key) & (placeCount - 1) }

    /// Objects are about to change. False if that was said of the place already.
    func begin(at place: Int) -> Bool {
        guard objects[place].load(ordering: .relaxed) % 2 == 0 else { return false }
        objects[place].add(1, ordering: .sequentiallyConsistent)
        return true
    }

    /// They have changed, or they will not.
    func end(at place: Int) { objects[place].add(1, ordering: .sequentiallyConsistent) }
}
