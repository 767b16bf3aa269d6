import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import Synchronization

/// Executes short reads on the event loop that received them.
///
/// There is one per event loop, with a store reader, a plan cache and a reply cache of its own, and
/// one more for each former schema and each user with limited rights, which shares the connection
/// to the data.
///
/// A read that needs more work or bytes than are allowed here is returned to its caller for the
/// reader pool, and so is each read of a store that waits for another process.
///
/// Sendable unchecked: all mutable state is used on `eventLoop` alone, which every method asserts
/// in debug builds; the counters are atomic.
final class LoopReader: @unchecked Sendable {
    enum ObjectsOutcome {
        case reply(Reply)
        case needsPool
    }

    enum QueryOutcome {
        case reply(Reply)
        case needsPool(any QueryPlan)
    }

    /// Metrics for `stats`, which any thread may read.
    final class Counters: Sendable {
        let requests = Atomic<Int>(0)
        let inlineReads = Atomic<Int>(0)
        let planHits = Atomic<Int>(0)
        let planMisses = Atomic<Int>(0)
        let cacheHits = Atomic<Int>(0)
        let planBytes = Atomic<Int>(0)
        let replyBytes = Atomic<Int>(0)
    }

    let eventLoop: any EventLoop
    let counters: Counters
    /// The requests of the connections of the event loop.
    let requests: RequestMetrics
    let queries: QueryCounters
    private let backend: any StoreBackend
    private let view: any StoreView
    private let readsWait: Bool
    /// The reader whose connection this one uses; nil if it has its own.
    private let base: LoopReader?
    private let limits: ServerLimits
    private let budget: ReadBudget
    private var plans: PlanCache
    /// The memory of the caches, as `counters` has it.
    private var countedPlanBytes = 0
    private var countedReplyBytes = 0
    private let replyCacheBytesMax: Int
    private let replies: ReplyCache
    private var reader: (any StoreReader)?
    private var isClosed = false

    init(eventLoop: any EventLoop, backend: any StoreBackend, limits: ServerLimits) {
        self.eventLoop = eventLoop
        self.backend = backend
        self.view = backend
        self.readsWait = backend.readsWait
        self.base = nil
        self.limits = limits
        self.counters = Counters()
        self.requests = RequestMetrics()
        self.queries = QueryCounters(countMax: limits.queryShapesMax, memory: limits.shapeMemory)
        self.budget = ReadBudget(
            work: limits.inlineWorkMax, workTimeMax: limits.inlineTimeMax,
            bytesMax: limits.inlineBatchBytesMax,
            statementBytesMax: limits.loopStatementBytesMax)
        self.plans = PlanCache(countMax: limits.plansMax, memory: limits.planMemory)
        self.replyCacheBytesMax = limits.replyCacheBytesMax
        self.replies = ReplyCache(bytesMax: replyCacheBytesMax)
    }

    /// A reader for the clients of another view.
    ///
    /// - Parameters:
    ///   - base: The reader for those of the current schema, on the same event loop.
    ///   - cacheShare: Each cache has this part of the other reader's memory.
    init(of view: any StoreView, over base: LoopReader, cacheShare: Int) {
        self.eventLoop = base.eventLoop
        self.backend = base.backend
        self.view = view
        self.readsWait = base.readsWait
        self.base = base
        self.limits = base.limits
        self.counters = base.counters
        self.requests = base.requests
        self.queries = base.queries
        self.budget = base.budget
        self.plans = PlanCache(
            countMax: limits.plansMax / cacheShare,
            memory: SharedLimit(
                limits.planMemory.total / cacheShare, userShare: limits.planMemory.userShare))
        self.replyCacheBytesMax = base.replyCacheBytesMax / cacheShare
        self.replies = ReplyCache(bytesMax: replyCacheBytesMax)
    }

    deinit {
        counters.planBytes.subtract(countedPlanBytes, ordering: .relaxed)
        counters.replyBytes.subtract(countedReplyBytes, ordering: .relaxed)
    }

    /// The result of a look-up of a `get` in the reply cache.
    func cachedReply(to get: borrowing GetFrame) -> ReplyCache.Lookup {
        eventLoop.assertInEventLoop()
        // A reply whose record was left out is read again, which makes a new record.
        let found = replies.find(get.body) { [backend, queries] stamp, record in
            backend.isCurrent(stamp) && record.map(queries.isCurrent) ?? true
        }
        guard case .reply(_, let record) = found else { return found }
        counters.cacheHits.add(1, ordering: .relaxed)
        queries.addCachedReply(to: record)
        return found
    }

    /// Reads one object for a repeated `get`, and caches the reply.
    ///
    /// - Parameter user: Is charged for a new record of its counts.
    /// - Returns: nil if the request is to be performed like any other: it is for several objects,
    ///   the object has no stamp, or the read fails or needs the pool.
    func read(
        _ request: Request, cachingAs key: ReplyCache.Key, of user: UInt32
    ) -> (reply: EncodedBatches, record: QueryCounters.RecordNumber?)? {
        eventLoop.assertInEventLoop()
        guard !readsWait,
            case .get(let identifiers, let properties) = request, identifiers.count == 1,
            let reader = try? openReader(),
            let stamp = reader.stamp(of: identifiers[0], properties: properties),
            let batches = try? reader.objects(
                identifiers, properties: properties, budget: budget)
        else { return nil }
        let record = queries.record(ofGet: identifiers, properties, for: user)
        counters.inlineReads.add(1, ordering: .relaxed)
        let reply = EncodedBatches(encoding: batches)
        // An insert of a missing object does not change its stamp.
        let isFound = batches.count == 1 && batches[0].rowCount == 1
        if isFound {
            queries.addRows(1, to: record)
            replies.insert(reply, for: key, stamp, countedIn: record)
            Self.count(replies.byteCount, &countedReplyBytes, counters.replyBytes)
        }
        return (reply, record)
    }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?,
        countedIn record: QueryCounters.RecordNumber? = nil
    ) -> ObjectsOutcome {
        eventLoop.assertInEventLoop()
        guard !readsWait else { return .needsPool }
        do throws(ReadFailure) {
            let batches = try openReaderToRead().objects(
                identifiers, properties: properties, budget: budget)
            counters.inlineReads.add(1, ordering: .relaxed)
            for batch in batches { queries.addRows(batch.rowCount, to: record) }
            return .reply(.batches(batches, more: false))
        } catch {
            switch error {
            case .budgetExceeded: return .needsPool
            case .failed(let error): return .reply(.failed(error))
            }
        }
    }

    /// - Parameter user: Is charged for a new plan.
    /// - Returns: also the record in which the query is counted; nil if it is not.
    func query(
        _ request: QueryRequest, of user: UInt32
    ) -> (outcome: QueryOutcome, record: QueryCounters.RecordNumber?) {
        eventLoop.assertInEventLoop()
        let entry: PlanCache.Entry
        do throws(LarderError) {
            entry = try plan(request, of: user)
        } catch {
            return (.reply(.failed(error)), nil)
        }
        defer { charge(entry, for: request.shape) }
        guard !readsWait, entry.startsInline() else {
            return (.needsPool(entry.plan), entry.record)
        }
        do throws(ReadFailure) {
            if let batch = try singleBatch(entry, request.parameters) {
                counters.inlineReads.add(1, ordering: .relaxed)
                return (.reply(.batches([batch], more: false)), entry.record)
            }
        } catch {
            if case .failed(let error) = error { return (.reply(.failed(error)), entry.record) }
        }
        entry.wasTooLong()
        return (.needsPool(entry.plan), entry.record)
    }

    /// All transactions after one, if that is little work; otherwise nil.
    ///
    /// - Parameter last: The last transaction that there is at least.
    func history(after number: Int64, upTo last: Int64) -> HistoryPage? {
        eventLoop.assertInEventLoop()
        guard !readsWait, last - number <= Self.historyTransactionsMax,
            let reader = try? openReader(),
            let page = try? reader.history(
                HistoryPageRequest(
                    from: HistoryPosition(number: number + 1), .all,
                    bytesMax: limits.inlineBatchBytesMax), budget: budget)
        else { return nil }
        return page.isLast ? page : nil
    }

    private static let historyTransactionsMax: Int64 = 1_024

    /// The store's metrics, which are few short reads; none if the store cannot be read, or is
    /// being migrated.
    func statistics() -> [Statistic] {
        eventLoop.assertInEventLoop()
        guard !isClosed, !readsWait, let reader = try? openReader() else { return [] }
        return (try? reader.statistics()) ?? []
    }

    /// Releases the store reader and the caches. It must be called on the event loop after the last
    /// read.
    func close() {
        eventLoop.assertInEventLoop()
        isClosed = true
        reader = nil
        replies.removeAll()
    }

    /// The result if it is one batch that fits, otherwise nil.
    private func singleBatch(
        _ entry: PlanCache.Entry, _ parameters: QueryParameters
    ) throws(ReadFailure) -> Batch? {
        let cursor = try openReaderToRead().open(entry.plan, parameters, budget: budget)
        defer { cursor.close() }
        let (batch, isLast) = try cursor.next(
            bytesMax: limits.inlineBatchBytesMax, budget: budget)
        // Otherwise the pool reads it again, and counts that.
        guard isLast else { return nil }
        queries.add(rowCount: batch.rowCount, cursor.work, to: entry.record)
        return batch
    }

    private func plan(
        _ request: QueryRequest, of user: UInt32
    ) throws(LarderError) -> PlanCache.Entry {
        if let entry = plans.entry(for: request.shape, request.parameters) {
            counters.planHits.add(1, ordering: .relaxed)
            if let record = entry.record, !queries.isCurrent(record) {
                entry.record = queries.record(of: .query(request.shape), for: user)
            }
            return entry
        }
        counters.planMisses.add(1, ordering: .relaxed)
        let query = try request.shape.decoded()
        let entry = PlanCache.Entry(
            plan: try view.plan(query, request.parameters), of: user,
            countedIn: queries.record(of: .query(request.shape), for: user))
        if !entry.plan.dependsOnArguments { plans.insert(entry, for: request.shape) }
        return entry
    }

    /// Charges a plan to its user after a read, which may have made it larger.
    private func charge(_ entry: PlanCache.Entry, for shape: QueryShape) {
        plans.charge(entry, for: shape)
        Self.count(plans.memory.used, &countedPlanBytes, counters.planBytes)
    }

    /// Adds the change of an amount since it was last counted to a counter of several readers.
    private static func count(
        _ amount: Int, _ counted: inout Int, _ counter: borrowing Atomic<Int>
    ) {
        guard amount != counted else { return }
        counter.add(amount - counted, ordering: .relaxed)
        counted = amount
    }

    private func openReader() throws(LarderError) -> any StoreReader {
        if let reader { return reader }
        let opened: any StoreReader
        if let base {
            opened = view.reader(over: try base.openReader())
        } else {
            opened = try backend.makeReader()
            try opened.setCacheBytes(limits.loopReaderCacheBytes)
        }
        reader = opened
        return opened
    }

    private func openReaderToRead() throws(ReadFailure) -> any StoreReader {
        do throws(LarderError) { return try openReader() } catch { throw .failed(error) }
    }
}
