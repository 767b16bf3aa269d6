import LarderModel
import Synchronization

/// The versions by which readers recognize that objects which they have read are unchanged.
///
/// An object's slot is given by the last bits of its key, so objects may share a version: a change
/// of one may look like a change of another, never the other way round. A version is odd from
/// before the commit of a transaction that changes an object of the slot until that commit has
/// ended, and even otherwise. Values that were read after an even version was taken are therefore
/// current as long as the version is the same: no commit that changes them has begun since.
///
/// Only the writer changes versions.
final class ChangeMarks: Sendable {
    static let slotCount = 4_096

    private let versions: InlineArray<4_096, Atomic<UInt64>>

    init() { versions = InlineArray { _ in Atomic(0) } }

    // MARK: For readers

    /// nil while a transaction changes the object.
    func mark(ofKey key: Int64) -> ObjectMark? {
        let slot = Self.slot(ofKey: key)
        let version = versions[slot].load(ordering: .sequentiallyConsistent)
        return version % 2 == 0 ? ObjectMark(slot: slot, version: version) : nil
    }

    func isCurrent(_ mark: ObjectMark) -> Bool {
        versions[mark.slot].load(ordering: .sequentiallyConsistent) == mark.version
    }

    // MARK: For the writer

    static func slot(ofKey key: Int64) -> Int { Int(truncatingIfNeeded: key) & (slotCount - 1) }

    /// Announces a change of objects of the slot.
    ///
    /// - Returns: false if one was announced already and has not ended.
    func beginChange(of slot: Int) -> Bool {
        guard versions[slot].load(ordering: .relaxed) % 2 == 0 else { return false }
        versions[slot].add(1, ordering: .sequentiallyConsistent)
        return true
    }

    /// The change has been committed or rolled back.
    func endChange(of slot: Int) { versions[slot].add(1, ordering: .sequentiallyConsistent) }
}
