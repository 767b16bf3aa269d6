import LarderModel
import LarderQuery

/// A copy of a fake store: bytes that count from 0, made in a number of steps.
final class FakeCopy: StoreCopy {
    struct Options {
        var byteCount = 1_000
        var stepCount = 3
        /// Passed by each step.
        var steps: Gate?
        /// The space that each step claims to need.
        var bytesLeft = 0
        var stepError: LarderError?
        var verificationError: LarderError?
        /// Passed by the verification.
        var verification: Gate?
    }

    private let store: FakeStore
    private let options: Options
    private var stepsLeft: Int

    init(_ store: FakeStore) {
        self.store = store
        options = store.options.copy
        stepsLeft = options.stepCount
        store.records.state.withLock { $0.copies += 1 }
    }

    deinit { store.records.state.withLock { $0.copies -= 1 } }

    static func content(_ range: Range<Int>) -> [UInt8] { range.map { UInt8($0 & 0xFF) } }

    var byteCount: Int { options.byteCount }
    var bytesLeft: Int { options.bytesLeft }

    func step(timeMax: Duration) throws(LarderError) -> Bool {
        options.steps?.pass()
        if let error = options.stepError { throw error }
        store.records.state.withLock { $0.copySteps.append($0.groups.count) }
        stepsLeft -= 1
        return stepsLeft == 0
    }

    func cancel() { stepsLeft = 0 }

    func verify(budget: ReadBudget) throws(LarderError) -> Int64 {
        options.verification?.pass()
        if store.options.isEndless, let cancellation = budget.cancellation {
            throw store.run(until: cancellation)
        }
        if budget.cancellation?.isCancelled == true { throw LarderError(.cancelled, "") }
        if let error = options.verificationError { throw error }
        return store.records[\.history].last
    }

    func read(_ count: Int, at offset: Int) -> [UInt8] {
        Self.content(offset..<min(offset + count, byteCount))
    }
}
