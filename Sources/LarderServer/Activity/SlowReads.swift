import FoundationEssentials
import LarderModel
import LarderQuery
import LarderWire
internal import Logging
import Synchronization

/// The queries of the reader pool that took long: the last ones for `activity`, and those that take
/// longer than an option says as lines of the log.
final class SlowReads: Sendable {
    /// A query that the pool executes, until it ends.
    final class Measurement: Sendable {
        private let shape: QueryShape
        private let source: ChangeSource
        fileprivate let trace: String
        private let reads: SlowReads
        private let nanoseconds = Atomic<Int64>(0)
        private let rows = Atomic<Int64>(0)
        private let databaseWork = Mutex(ReadWork())

        fileprivate init(
            _ shape: QueryShape, from source: ChangeSource, trace: String, reads: SlowReads
        ) {
            self.shape = shape
            self.source = source
            self.trace = trace
            self.reads = reads
        }

        var rowCount: Int { Int(rows.load(ordering: .relaxed)) }

        /// The work of the database; nothing before the end.
        var work: ReadWork { databaseWork.withLock { $0 } }

        /// A batch of it has been read. Batches are read one after the other.
        func add(_ time: Duration, rowCount: Int = 0) {
            nanoseconds.add(Int64(clamped: time / .nanoseconds(1)), ordering: .relaxed)
            rows.add(Int64(rowCount), ordering: .relaxed)
        }

        /// Called once, on a thread of the pool, while the query has its reader.
        ///
        /// - Parameters:
        ///   - work: What the database has done.
        ///   - plan: Returns the steps of the database for a line of the log.
        func end(_ work: ReadWork, plan: () -> [String]) {
            databaseWork.withLock { $0 = work }
            let time = Duration.nanoseconds(nanoseconds.load(ordering: .relaxed))
            let isLogged = reads.logTimeMin.map { time >= $0 } ?? false
            guard isLogged || time >= reads.timeMin, let query = try? shape.decoded() else {
                return
            }
            let read = SlowRead(
                ended: Date(), seconds: time / .seconds(1), source: source,
                entityName: query.entityName, query: query.summary)
            if time >= reads.timeMin { reads.append(read) }
            if isLogged { reads.log(read, self, plan()) }
        }
    }

    private let timeMin: Duration
    /// nil if none is logged.
    private let logTimeMin: Duration?
    private let logger: Logger
    private let countMax: Int
    private let reads = Mutex<[SlowRead]>([])

    init(limits: ServerLimits, logger: Logger) {
        timeMin = limits.slowReadTimeMin
        logTimeMin = limits.slowReadLogTimeMin
        self.logger = logger
        countMax = limits.slowReadsMax
    }

    /// - Parameter trace: The id that the client gave the request; empty for none.
    func measurement(
        of shape: QueryShape, from source: ChangeSource, trace: String
    ) -> Measurement {
        Measurement(shape, from: source, trace: trace, reads: self)
    }

    private func append(_ read: SlowRead) {
        reads.withLock { reads in
            if reads.count >= countMax { reads.removeFirst() }
            reads.append(read)
        }
    }

    private func log(_ read: SlowRead, _ measurement: Measurement, _ plan: [String]) {
        var metadata: Logger.Metadata = [
            "entity": "\(read.entityName)", "rows": "\(measurement.rowCount)",
            "steps": "\(measurement.work.steps)",
            "scannedRows": "\(measurement.work.scannedRows)",
            "milliseconds": "\(Int64(clamped: (read.seconds * 1_000).rounded()))",
            "client": "\(ConnectionState.printable(read.source.clientName))",
            "plan": "\(plan.joined(separator: "; "))",
        ]
        if !measurement.trace.isEmpty { metadata["trace"] = "\(measurement.trace)" }
        if let user = read.source.userIdentifier { metadata["uid"] = "\(user)" }
        if let process = read.source.processIdentifier { metadata["pid"] = "\(process)" }
        logger.notice("slow query: \(read.query ?? "")", metadata: metadata)
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
