import FoundationEssentials
import LarderModel
import LarderWire
import NIOCore
import Synchronization

/// Counts the queries and the reads by identifier of the connections of one event loop, by their
/// shape.
///
/// A plan of the cache, and a cached reply, has the record of its shape, so that counting a read
/// takes no look-up. A record that was left out to make room is listed again with its next read.
/// The memory is charged to the user who sent the shape first; a user who has more than its share
/// loses its own least used records.
///
/// Sendable unchecked: there is one per event loop, used on that loop alone, as the ``LoopReader``
/// that has it.
final class QueryCounters: @unchecked Sendable {
    enum Shape: Hashable, Sendable {
        case query(QueryShape)
        case get(entityName: String, properties: [String]?)
    }

    struct Counts: Sendable {
        fileprivate(set) var calls: Int64 = 0
        fileprivate(set) var errors: Int64 = 0
        fileprivate(set) var cachedReplies: Int64 = 0
        fileprivate(set) var nanoseconds: Int64 = 0
        fileprivate(set) var rows: Int64 = 0
        fileprivate(set) var scannedRows: Int64 = 0
        fileprivate(set) var steps: Int64 = 0
        fileprivate(set) var times = TimeCounts()

        mutating func add(_ other: Counts) {
            calls = calls.addingClamped(other.calls)
            errors = errors.addingClamped(other.errors)
            cachedReplies = cachedReplies.addingClamped(other.cachedReplies)
            nanoseconds = nanoseconds.addingClamped(other.nanoseconds)
            rows = rows.addingClamped(other.rows)
            scannedRows = scannedRows.addingClamped(other.scannedRows)
            steps = steps.addingClamped(other.steps)
            times.add(other.times)
        }
    }

    /// The executions of one shape.
    final class Record {
        fileprivate let shape: Shape
        fileprivate let user: UInt32
        fileprivate let byteCount: Int
        fileprivate var isListed = false
        private(set) var counts = Counts()

        fileprivate init(_ shape: Shape, of user: UInt32) {
            self.shape = shape
            self.user = user
            byteCount = shape.byteCount + TimeCounts.byteCount + Self.overheadBytes
        }

        /// About the size of the object, of its array header and of a slot of the dictionary.
        private static let overheadBytes = 320

        /// Adds the work of the database for a request, which may not have ended yet.
        func add(rowCount: Int, _ work: ReadWork) {
            counts.rows &+= Int64(rowCount)
            counts.scannedRows &+= work.scannedRows
            counts.steps &+= work.steps
        }

        func addRows(_ count: Int) { counts.rows &+= Int64(count) }

        func addCachedReply() {
            counts.cachedReplies &+= 1
            counts.rows &+= 1
        }

        /// A request has had its last reply.
        func end(_ time: TimeAmount, failed: Bool) {
            counts.calls &+= 1
            if failed { counts.errors &+= 1 }
            counts.nanoseconds &+= time.nanoseconds
            counts.times.record(nanoseconds: time.nanoseconds)
        }

        fileprivate func reset() { counts = Counts() }
    }

    /// Numbers that any thread may read, for `stats`.
    final class Totals: Sendable {
        let shapes = Atomic<Int>(0)
        let bytes = Atomic<Int>(0)
        /// The records that were left out.
        let evicted = Atomic<Int>(0)
    }

    let totals = Totals()
    private let countMax: Int
    private var records: [Shape: Record] = [:]
    private var memory: UserShares
    /// The records that were left out since the last reset.
    private(set) var evictedCount: Int64 = 0
    /// The record of the last read by identifier; usually the next one has the same shape.
    private var lastGet: Record?

    init(countMax: Int, memory limit: SharedLimit) {
        self.countMax = countMax
        memory = UserShares(limit)
    }

    /// The counts of each shape.
    var counts: [(shape: Shape, counts: Counts)] {
        records.values.filter { $0.counts.calls > 0 }.map { ($0.shape, $0.counts) }
    }

    /// - Parameter user: Is charged for a new record.
    func record(of shape: Shape, for user: UInt32) -> Record {
        if let record = records[shape] { return record }
        let record = Record(shape, of: user)
        list(record)
        return record
    }

    /// The record of a read by identifier.
    func record(
        ofGet identifiers: [PersistentIdentifier], _ properties: [String]?, for user: UInt32
    ) -> Record? {
        guard let entityName = identifiers.first?.entityName else { return nil }
        if let lastGet, lastGet.isListed, case .get(entityName, properties) = lastGet.shape {
            return lastGet
        }
        lastGet = record(of: .get(entityName: entityName, properties: properties), for: user)
        return lastGet
    }

    /// The record that a cached plan or reply has, listed again if it is not any more.
    @inline(__always)
    func current(_ record: Record) -> Record { record.isListed ? record : listed(record) }

    private func listed(_ record: Record) -> Record {
        if let listed = records[record.shape] { return listed }
        list(record)
        return record
    }

    func reset() {
        for record in records.values { forget(record) }
        records = [:]
        lastGet = nil
        evictedCount = 0
    }

    private func list(_ record: Record) {
        // A shape that is too long for its user is counted, but not listed.
        guard countMax > 0, record.byteCount <= memory.maximum(for: record.user) else { return }
        if records.count >= countMax { evict(of: nil) }
        while !memory.allows(record.byteCount, for: record.user) { evict(of: record.user) }
        records[record.shape] = record
        record.isListed = true
        memory.add(record.byteCount, to: record.user)
        totals.shapes.add(1, ordering: .relaxed)
        totals.bytes.add(record.byteCount, ordering: .relaxed)
    }

    /// Leaves out a part of the records, those with the fewest executions, so that a shape of today
    /// has time to be executed again before it is the least used one.
    ///
    /// - Parameter user: nil for any user.
    private func evict(of user: UInt32?) {
        let candidates = records.values.filter { user == nil || $0.user == user }
            .sorted { $0.counts.calls < $1.counts.calls }
        for record in candidates.prefix(max(1, candidates.count / Self.evictedPart)) {
            records[record.shape] = nil
            forget(record)
            evictedCount += 1
            totals.evicted.add(1, ordering: .relaxed)
        }
    }

    private static let evictedPart = 20

    private func forget(_ record: Record) {
        record.isListed = false
        record.reset()
        memory.add(-record.byteCount, to: record.user)
        totals.shapes.subtract(1, ordering: .relaxed)
        totals.bytes.subtract(record.byteCount, ordering: .relaxed)
    }
}

extension QueryCounters.Shape {
    fileprivate var byteCount: Int {
        switch self {
        case .query(let shape): shape.byteCount
        case .get(let entityName, let properties):
            entityName.utf8.count + (properties ?? []).reduce(0) { $0 + 16 + $1.utf8.count }
        }
    }
}
