import LarderModel
import Synchronization

/// Numbers that tell readers whether what they have read is still so.
///
/// One counts the commits. The others stand for objects, by the last bits of their keys: a change
/// of another object may look like one of theirs, never the other way round. A number is odd from
/// before a transaction is committed until it is done, and even otherwise. So what was read after
/// an even number was taken is true as long as the number stays: no commit that changes it has
/// begun since.
///
/// The writer alone changes them.
final class ChangeMarks: Sendable {
    static let placeCount = 4_096

    private let commits = Atomic<UInt64>(0)
    private let objects: InlineArray<4_096, Atomic<UInt64>>

    init() { objects = InlineArray { _ in Atomic(0) } }

    // MARK: For readers

    /// nil while a commit is under way.
    var ofCommits: UInt64? {
        let number = commits.load(ordering: .sequentiallyConsistent)
        return number % 2 == 0 ? number : nil
    }

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

    /// Commits a transaction, whether that succeeds or not.
    func aroundCommit<Failure: Error>(_ commit: () throws(Failure) -> Void) throws(Failure) {
        commits.add(1, ordering: .sequentiallyConsistent)
        defer { commits.add(1, ordering: .sequentiallyConsistent) }
        try commit()
    }

    /// Objects are about to change. False if that was said of the place already.
    func begin(at place: Int) -> Bool {
        guard objects[place].load(ordering: .relaxed) % 2 == 0 else { return false }
        objects[place].add(1, ordering: .sequentiallyConsistent)
        return true
    }

    /// They have changed, or they will not.
    func end(at place: Int) { objects[place].add(1, ordering: .sequentiallyConsistent) }
}
