import LarderModel

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

        /// After a read was too long for the event loop, how many times the next ones go to the
        /// pool at once, before one may try the event loop again: parameters differ, stores change.
        private static let poolRuns = 64

        init(plan: any QueryPlan) { self.plan = plan }

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
    private var entries: [[UInt8]: Entry] = [:]
    private var shapeBytes = 0
    private var uses: UInt64 = 0

    init(countMax: Int, shapeBytesMax: Int) {
        self.countMax = countMax
        self.shapeBytesMax = shapeBytesMax
    }

    var count: Int { entries.count }

    mutating func entry(for shape: [UInt8]) -> Entry? {
        guard let entry = entries[shape] else { return nil }
        uses += 1
        entry.lastUse = uses
        return entry
    }

    mutating func insert(_ entry: Entry, for shape: [UInt8]) {
        guard countMax > 0, shape.count <= shapeBytesMax, entries[shape] == nil else { return }
        while entries.count >= countMax || shapeBytes + shape.count > shapeBytesMax {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                break
            }
            entries[oldest.key] = nil
            shapeBytes -= oldest.key.count
        }
        uses += 1
        entry.lastUse = uses
        entries[shape] = entry
        shapeBytes += shape.count
    }
}
