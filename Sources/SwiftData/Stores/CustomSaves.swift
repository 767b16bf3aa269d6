internal import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// The lock and the saves of a store that others write, which all contexts of a container share.
///
/// Sendable unchecked: everything but the commits is used under the lock only.
final class CustomSaves: @unchecked Sendable {
    /// Recursive, since a store may use a context of its own container.
    private let lock = NSRecursiveLock()
    /// The number of the last save, from 1.
    var number: Int64 = 0
    /// The tokens of saves that nobody has taken yet.
    var tokens: [Int64: any HistoryToken] = [:]
    /// Inserted objects that the store has saved without a usable identifier.
    var unusable: Set<PersistentIdentifier> = []
    let delivery = CommitDelivery(after: 0)
    /// Commits that were not delivered yet.
    let commits = Mutex<[LarderModel.HistoryTransaction]>([])

    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
