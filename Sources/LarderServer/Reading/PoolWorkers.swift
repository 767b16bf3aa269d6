import Dispatch
import LarderModel
import LarderQuery

/// The idle threads of the pool, for parts of one of its reads.
struct PoolWorkers: ReadWorkers {
    private let pool: ReaderPool
    private let reader: PooledReader
    private let deadline: ContinuousClock.Instant
    private let cancellation: ReadCancellation
    private let parts = DispatchGroup()

    /// - Parameters:
    ///   - reader: That of the read.
    ///   - deadline: That of the read.
    ///   - cancellation: Ends the read with all of its parts.
    init(
        _ pool: ReaderPool, _ reader: PooledReader, deadline: ContinuousClock.Instant,
        cancellation: ReadCancellation
    ) {
        self.pool = pool
        self.reader = reader
        self.deadline = deadline
        self.cancellation = cancellation
    }

    func start(_ work: @escaping @Sendable (any StoreReader, ReadBudget) -> Void) -> Int {
        var count = 0
        while startPart(work) { count += 1 }
        return count
    }

    private func startPart(
        _ work: @escaping @Sendable (any StoreReader, ReadBudget) -> Void
    ) -> Bool {
        pool.startPart(of: reader, in: parts) { [deadline, cancellation] reader, turn in
            let budget = ReadBudget(
                deadline: deadline, cancellation: cancellation, pause: { turn.pauseIfOver() })
            work(reader, budget)
        }
    }

    func wait() { reader.turn.wait(for: parts) }
}
