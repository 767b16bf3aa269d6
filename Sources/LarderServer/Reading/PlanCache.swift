import LarderModel
import LarderQuery
import LarderWire

/// The query plans of one event loop, by the encoded shape of the query.
///
/// Each loop has its own cache, so that a lookup takes no lock; a shape is then planned once per
/// loop. The memory of a plan is charged to the user whose query was planned. A user who has more
/// than its share loses its own least recently used plans, never those of others.
struct PlanCache {
    /// A plan, and where its next read starts.
    final class Entry {
        let plan: any QueryPlan
        let user: UInt32
        /// Counts the queries with the plan; nil if they are not counted.
        var record: QueryCounters.RecordNumber?
        fileprivate var lastUse: UInt64 = 0
        /// The bytes that are charged for it; 0 while it is not in the cache.
        fileprivate var byteCount = 0
        private var poolReadsLeft = 0

        /// After a read was too long for the event loop, this number of reads go directly to the
        /// pool before one tries the event loop again: parameters differ, and stores change.
        private static let poolReads = 64

        init(
            plan: any QueryPlan, of user: UInt32,
            countedIn record: QueryCounters.RecordNumber? = nil
        ) {
            self.record = record
            self.plan = plan
            self.user = user
        }

        /// Whether the next read starts on the event loop.
        func startsInline() -> Bool {
            guard poolReadsLeft > 0 else { return true }
            poolReadsLeft -= 1
            return false
        }

        func wasTooLong() { poolReadsLeft = Self.poolReads }
    }

    /// A plan takes at most this part of what a user may have.
    private static let planPart = 8

    private let countMax: Int
    private let planBytesMax: Int
    private var entries: [QueryShape: Entry] = [:]
    private(set) var memory: UserShares
    private var uses: UInt64 = 0

    init(countMax: Int, memory limit: SharedLimit) {
        self.countMax = countMax
        memory = UserShares(limit)
        planBytesMax = memory.maximum(for: 0) / Self.planPart
    }

    var count: Int { entries.count }

    /// The plan of a query, unless its arguments have types that need another one.
    mutating func entry(for shape: QueryShape, _ parameters: QueryParameters) -> Entry? {
        guard let entry = entries[shape] else { return nil }
        guard entry.plan.serves(parameters) else {
            remove(shape, entry)
            return nil
        }
        uses += 1
        entry.lastUse = uses
        return entry
    }

    mutating func insert(_ entry: Entry, for shape: QueryShape) {
        guard countMax > 0, entries[shape] == nil else { return }
        if entries.count >= countMax { removeOldest() }
        uses += 1
        entry.lastUse = uses
        entries[shape] = entry
        charge(entry, for: shape)
    }

    /// Charges what the plan takes now. Its reads have made it larger, if they had parameters of
    /// other kinds.
    mutating func charge(_ entry: Entry, for shape: QueryShape) {
        guard entries[shape] === entry else { return }
        let byteCount = entry.plan.byteCount + 2 * shape.byteCount
        guard byteCount <= planBytesMax else { return remove(shape, entry) }
        guard byteCount != entry.byteCount else { return }
        memory.add(byteCount - entry.byteCount, to: entry.user)
        entry.byteCount = byteCount
        while !memory.allows(0, for: entry.user) { removeOldest(of: entry.user) }
    }

    /// A search of all entries, which costs less than the planning that caused it.
    ///
    /// - Parameter user: nil for any user.
    private mutating func removeOldest(of user: UInt32? = nil) {
        let oldest = entries.lazy.filter { user == nil || $0.value.user == user }
            .min { $0.value.lastUse < $1.value.lastUse }
        guard let oldest else { preconditionFailure("a user without plans has no memory") }
        remove(oldest.key, oldest.value)
    }

    private mutating func remove(_ shape: QueryShape, _ entry: Entry) {
        entries[shape] = nil
        memory.add(-entry.byteCount, to: entry.user)
        entry.byteCount = 0
    }
}
