import Dispatch
import LarderQuery
import LarderStore
import Synchronization

/// Threads with readers of a store, for one read at a time.
///
/// Sendable unchecked: each reader is used by the thread of one part, and the next read begins
/// after all parts have ended.
final class WorkerThreads: ReadWorkers, @unchecked Sendable {
    private let readers: [any StoreReader]
    private let parts = DispatchGroup()
    private let before: @Sendable () -> Void
    private let partCount = Atomic(0)

    /// - Parameter before: Called on each thread before its work.
    init(
        _ count: Int, of store: Store, before: @escaping @Sendable () -> Void = {}
    ) throws {
        var readers: [any StoreReader] = []
        for _ in 0..<count { readers.append(try store.makeReader()) }
        self.readers = readers
        self.before = before
    }

    /// The number of parts that have ended.
    var endedCount: Int { partCount.load(ordering: .relaxed) }

    func start(
        _ work: @escaping @Sendable (any StoreReader, ReadBudget) -> Void
    ) -> Int {
        for index in readers.indices {
            DispatchQueue.global().async(group: parts) { [self] in
                before()
                work(readers[index], ReadBudget())
                partCount.add(1, ordering: .relaxed)
            }
        }
        return readers.count
    }

    func wait() { parts.wait() }
}
