import LarderModel
import LarderWire

/// The plans that one event loop has made, by the encoded shape of their query.
///
/// Each loop has its own, so that looking one up takes no lock; a shape is then planned once a
/// loop. When full, the entry that was unused for longest goes.
struct PlanCache {
    /// A plan and what is known of its cost.
    final class Entry {
        let plan: any QueryPlan
        fileprivate var lastUse: UInt64 = 0
        private var poolRunsLeft = 0
        private var answer: Answer?

        /// After a read was too long for the event loop, how many times the next ones go to the
        /// pool at once, before one may try the event loop again: parameters differ, stores change.
        private static let poolRuns = 64

        init(plan: any QueryPlan) { self.plan = plan }

        /// The last answer, as long as nothing was committed since.
        private struct Answer {
            let batch: Batch
            let parameters: QueryParameters
            let dataVersion: UInt64
        }

        /// An answer that is still true.
        func answer(to parameters: QueryParameters, _ dataVersion: UInt64?) -> Batch? {
            guard let answer, answer.dataVersion == dataVersion, answer.parameters == parameters
            else { return nil }
            return answer.batch
        }

        /// Keeps a small answer to a question without values: two of these may be equal to Swift
        /// and not to the store.
        func keep(_ batch: Batch, _ parameters: QueryParameters, _ dataVersion: UInt64) {
            guard !plan.dependsOnTime, parameters.arguments.isEmpty, parameters.after.isEmpty,
                parameters.variables.isEmpty, batch.byteCount <= Self.answerBytesMax
            else { return }
            answer = Answer(batch: batch, parameters: parameters, dataVersion: dataVersion)
        }

        private static let answerBytesMax = 4 << 10

        /// Whether the next read starts on the event loop.
        func startsInline() -> Bool {
            guard poolRunsLeft > 0 else { return true }
            poolRunsLeft -= 1
            return false
        }

        func wasTooLong() { poolRunsLeft = Self.poolRuns }
    }

    private let countMax: Int
    private let shapeBytesMax: Int
    private var entries: [QueryShape: Entry] = [:]
    private var shapeBytes = 0
    private var uses: UInt64 = 0

    init(countMax: Int, shapeBytesMax: Int) {
        self.countMax = countMax
        self.shapeBytesMax = shapeBytesMax
    }

    var count: Int { entries.count }

    mutating func entry(for shape: QueryShape) -> Entry? {
        guard let entry = entries[shape] else { return nil }
        uses += 1
        entry.lastUse = uses
        return entry
    }

    mutating func insert(_ entry: Entry, for shape: QueryShape) {
        guard countMax > 0, shape.byteCount <= shapeBytesMax, entries[shape] == nil else { return }
        while entries.count >= countMax || shapeBytes + shape.byteCount > shapeBytesMax {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                break
            }
            entries[oldest.key] = nil
            shapeBytes -= oldest.key.byteCount
        }
        uses += 1
        entry.lastUse = uses
        entries[shape] = entry
        shapeBytes += shape.byteCount
    }
}
