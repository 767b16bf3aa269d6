import LarderModel
import LarderWire

/// The query plans of one event loop, by the encoded shape of the query.
///
/// Each loop has its own cache, so that a lookup takes no lock; a shape is then planned once per
/// loop. A full cache removes the least recently used entry.
struct PlanCache {
    /// A plan, and where its next read starts.
    final class Entry {
        let plan: any QueryPlan
        fileprivate var lastUse: UInt64 = 0
        private var poolReadsLeft = 0

        /// After a read was too long for the event loop, this number of reads go directly to the
        /// pool before one tries the event loop again: parameters differ, and stores change.
        private static let poolReads = 64

        init(plan: any QueryPlan) { self.plan = plan }

        /// Whether the next read starts on the event loop.
        func startsInline() -> Bool {
            guard poolReadsLeft > 0 else { return true }
            poolReadsLeft -= 1
            return false
        }

        func wasTooLong() { poolReadsLeft = Self.poolReads }
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
