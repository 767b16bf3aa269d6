import Synchronization

/// The memory of several holders together. It may be used from any thread.
final class MemoryCounter: Sendable {
    private let bytes = Atomic(0)

    var byteCount: Int { bytes.load(ordering: .relaxed) }

    /// Adds bytes, or subtracts them if negative.
    func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}
