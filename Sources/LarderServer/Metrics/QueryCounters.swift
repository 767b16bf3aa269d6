import FoundationEssentials
import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import Synchronization

/// Counts the queries and the reads by identifier of the connections of one event loop, by their
/// shape.
///
/// A plan of the cache, and a cached reply, has the number of the record of its shape, so that
/// counting a read takes no look-up and no reference. A record is left out to make room for others;
/// its number is then not current, and the next read of the shape makes a new record.
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

    /// The record of one shape, by its place in the list of records.
    struct RecordNumber: Equatable, Sendable {
        fileprivate let slot: Int
        /// Different for all records, also for those that had one slot after another.
        fileprivate let serial: Int64
    }

    /// The executions of one shape.
    private struct Record {
        private(set) var shape: Shape
        let user: UInt32
        let byteCount: Int
        /// 0 after the record was left out.
        private(set) var serial: Int64
        var counts = Counts()

        init(_ shape: Shape, of user: UInt32, serial: Int64) {
            self.shape = shape
            self.user = user
            self.serial = serial
            byteCount = shape.byteCount + MemoryLayout<Record>.stride + Self.overheadBytes
        }

        /// The record is left out.
        mutating func clear() {
            shape = .get(entityName: "", properties: nil)
            serial = 0
        }

        /// About the size of a slot of the dictionary, and of the unused part of the list.
        private static let overheadBytes = 256
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
    private var slots: [Shape: Int] = [:]
    private var records: [Record] = []
    private var freeSlots: [Int] = []
    private var lastSerial: Int64 = 0
    private var memory: UserShares
    /// The records that were left out since the last reset.
    private(set) var evictedCount: Int64 = 0
    /// The last read by identifier; usually the next one has the same shape.
    private var lastGet: (entityName: String, properties: [String]?, record: RecordNumber)?

    init(countMax: Int, memory limit: SharedLimit) {
        self.countMax = countMax
        memory = UserShares(limit)
    }

    /// The counts of each shape.
    var counts: [(shape: Shape, counts: Counts)] {
        slots.values.filter { records[$0].counts.calls > 0 }
            .map { (records[$0].shape, records[$0].counts) }
    }

    // MARK: Records

    /// - Parameter user: Is charged for a new record.
    /// - Returns: nil if there is no room for the shape, so that it is not counted.
    func record(of shape: Shape, for user: UInt32) -> RecordNumber? {
        if let slot = slots[shape] {
            return RecordNumber(slot: slot, serial: records[slot].serial)
        }
        return add(Record(shape, of: user, serial: lastSerial + 1))
    }

    /// The record of a read by identifier.
    func record(
        ofGet identifiers: [PersistentIdentifier], _ properties: [String]?, for user: UInt32
    ) -> RecordNumber? {
        guard let entityName = identifiers.first?.entityName else { return nil }
        if let lastGet, lastGet.entityName == entityName, lastGet.properties == properties,
            isCurrent(lastGet.record)
        {
            return lastGet.record
        }
        let record = record(of: .get(entityName: entityName, properties: properties), for: user)
        lastGet = record.map { (entityName, properties, $0) }
        return record
    }

    /// Whether the record that a cached plan or reply has is still there.
    func isCurrent(_ record: RecordNumber) -> Bool {
        records[record.slot].serial == record.serial
    }

    func reset() {
        for slot in slots.values { remove(slot) }
        evictedCount = 0
    }

    private func add(_ record: Record) -> RecordNumber? {
        guard countMax > 0, record.byteCount <= memory.maximum(for: record.user) else {
            return nil
        }
        if slots.count >= countMax { evict(of: nil) }
        while !memory.allows(record.byteCount, for: record.user) { evict(of: record.user) }
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            records[slot] = record
        } else {
            slot = records.count
            records.append(record)
        }
        lastSerial = record.serial
        slots[record.shape] = slot
        memory.add(record.byteCount, to: record.user)
        totals.shapes.add(1, ordering: .relaxed)
        totals.bytes.add(record.byteCount, ordering: .relaxed)
        return RecordNumber(slot: slot, serial: record.serial)
    }

    /// Leaves out a part of the records, those with the fewest executions, so that a shape of today
    /// has time to be executed again before it is the least used one.
    ///
    /// - Parameter user: nil for any user.
    private func evict(of user: UInt32?) {
        let candidates = slots.values.filter { user == nil || records[$0].user == user }
            .sorted { records[$0].counts.calls < records[$1].counts.calls }
        for slot in candidates.prefix(max(1, candidates.count / Self.evictedPart)) {
            remove(slot)
            evictedCount += 1
            totals.evicted.add(1, ordering: .relaxed)
        }
    }

    private static let evictedPart = 20

    private func remove(_ slot: Int) {
        slots[records[slot].shape] = nil
        records[slot].clear()
        freeSlots.append(slot)
        memory.add(-records[slot].byteCount, to: records[slot].user)
        totals.shapes.subtract(1, ordering: .relaxed)
        totals.bytes.subtract(records[slot].byteCount, ordering: .relaxed)
    }

    // MARK: Counting

    /// Adds the work of the database for a request, which may not have ended yet.
    ///
    /// - Parameter record: nil for a shape that is not counted. One that is not current is ignored,
    ///   as by all functions that count.
    func add(rowCount: Int, _ work: ReadWork, to record: RecordNumber?) {
        count(in: record) {
            $0.rows &+= Int64(rowCount)
            $0.scannedRows &+= work.scannedRows
            $0.steps &+= work.steps
        }
    }

    func addRows(_ rowCount: Int, to record: RecordNumber?) {
        count(in: record) { $0.rows &+= Int64(rowCount) }
    }

    func addCachedReply(to record: RecordNumber?) {
        count(in: record) {
            $0.cachedReplies &+= 1
            $0.rows &+= 1
        }
    }

    /// A request has had its last reply.
    func end(_ record: RecordNumber?, _ time: TimeAmount, failed: Bool) {
        count(in: record) {
            $0.calls &+= 1
            if failed { $0.errors &+= 1 }
            $0.nanoseconds &+= time.nanoseconds
            $0.times.record(nanoseconds: time.nanoseconds)
        }
    }

    @inline(__always)
    private func count(in record: RecordNumber?, _ change: (inout Counts) -> Void) {
        guard let record, isCurrent(record) else { return }
        change(&records[record.slot].counts)
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
