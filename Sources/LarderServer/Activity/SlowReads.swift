import FoundationEssentials
import LarderModel
import LarderWire
import Synchronization

/// The last queries of the reader pool that took long.
final class SlowReads: Sendable {
    /// A query that the pool executes, until it ends.
    final class Measurement: Sendable {
        private let shape: QueryShape
        private let source: ChangeSource
        private let reads: SlowReads
        private let nanoseconds = Atomic<Int64>(0)

        fileprivate init(_ shape: QueryShape, from source: ChangeSource, reads: SlowReads) {
            self.shape = shape
            self.source = source
            self.reads = reads
        }

        /// A batch of it has been read. Batches are read one after the other.
        func add(_ time: Duration) {
            nanoseconds.add(Int64(clamped: time / .nanoseconds(1)), ordering: .relaxed)
        }

        /// Called once, on a thread of the pool.
        func end() {
            let time = Duration.nanoseconds(nanoseconds.load(ordering: .relaxed))
            guard time >= reads.timeMin, let query = try? shape.decoded() else { return }
            reads.append(
                SlowRead(
                    ended: Date(), seconds: time / .seconds(1), source: source,
                    entityName: query.entityName, query: query.summary))
        }
    }

    private let timeMin: Duration
    private let countMax: Int
    private let reads = Mutex<[SlowRead]>([])

    init(limits: ServerLimits) {
        timeMin = limits.slowReadTimeMin
        countMax = limits.slowReadsMax
    }

    func measurement(of shape: QueryShape, from source: ChangeSource) -> Measurement {
        Measurement(shape, from: source, reads: self)
    }

    private func append(_ read: SlowRead) {
        reads.withLock { reads in
            if reads.count >= countMax { reads.removeFirst() }
            reads.append(read)
        }
    }

    /// The newest last, as a user may see them.
    ///
    /// - Parameter user: Sees the text of its own queries only; nil sees all.
    func list(for user: UInt32?) -> [SlowRead] {
        var list = reads.withLock { $0 }
        guard let user else { return list }
        for index in list.indices where list[index].source.userIdentifier != user {
            list[index].query = nil
        }
        return list
    }
}
