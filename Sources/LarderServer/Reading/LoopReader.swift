import LarderModel
import LarderWire
import NIOCore
import Synchronization

/// Answers reads on the event loop that received them, as far as they are short.
///
/// One an event loop, with a store reader of its own and the plans that its connections asked for.
/// A read that exceeds the steps or bytes allowed here is not answered but handed back with its
/// plan, for the reader pool.
///
/// Sendable unchecked: everything mutable is touched on `eventLoop` alone, which each entry
/// checks in debug builds; the counters are atomic.
final class LoopReader: @unchecked Sendable {
    enum Outcome {
        case answered(Reply)
        /// Too long for the event loop; asked for here with the plan that was made, if any.
        case tooLong
        case queryTooLong(any QueryPlan)
    }

    /// Figures for `stats`, read from anywhere.
    final class Counters: Sendable {
        let requests = Atomic<Int>(0)
        let inlineReads = Atomic<Int>(0)
        let planHits = Atomic<Int>(0)
        let planMisses = Atomic<Int>(0)
        let answerHits = Atomic<Int>(0)
    }

    let eventLoop: any EventLoop
    let counters = Counters()
    private let backend: any StoreBackend
    private let limits: ServerLimits
    private let budget: ReadBudget
    private var plans: PlanCache
    private var known: KnownReplies
    private var reader: (any StoreReader)?

    /// - Parameter knownReplyBytesMax: What this event loop may keep of replies.
    init(
        eventLoop: any EventLoop, backend: any StoreBackend, limits: ServerLimits,
        knownReplyBytesMax: Int
    ) {
        self.eventLoop = eventLoop
        self.backend = backend
        self.limits = limits
        self.budget = ReadBudget(
            steps: limits.inlineStepsMax, stepsTimeMax: limits.inlineTimeMax)
        self.plans = PlanCache(
            countMax: limits.plansMax, shapeBytesMax: limits.planShapeBytesMax)
        self.known = KnownReplies(bytesMax: knownReplyBytesMax)
    }

    /// The answer to a `get`, if it was given lately and is true still.
    func knownReply(to request: EncodedGet) -> KnownReplies.Found {
        eventLoop.assertInEventLoop()
        let backend = backend
        let found = known.find(request.body) { backend.isCurrent($0) }
        if case .reply = found { counters.answerHits.add(1, ordering: .relaxed) }
        return found
    }

    /// - Parameter encoded: The request as it came, to be known again; empty if it will not be.
    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, encoded: [UInt8] = []
    ) -> Outcome {
        eventLoop.assertInEventLoop()
        do throws(ReadFailure) {
            let reader = try openReaderToRead()
            let mark =
                encoded.isEmpty || identifiers.count != 1
                ? nil : reader.mark(of: identifiers[0], properties: properties)
            let batches = try reader.objects(identifiers, properties: properties, budget: budget)
            counters.inlineReads.add(1, ordering: .relaxed)
            guard let mark, batches.count == 1, batches[0].rowCount == 1 else {
                return .answered(.batches(batches, more: false))
            }
            let reply = EncodedBatches(encoding: batches)
            known.keep(reply, to: encoded, mark)
            return .answered(.encodedBatches(reply, more: false))
        } catch {
            switch error {
            case .stepsExceeded: return .tooLong
            case .failed(let error): return .answered(.failed(error))
            }
        }
    }

    func query(_ request: QueryRequest) -> Outcome {
        eventLoop.assertInEventLoop()
        let entry: PlanCache.Entry
        do throws(LarderError) {
            entry = try plan(request)
        } catch {
            return .answered(.failed(error))
        }
        guard entry.startsInline() else { return .queryTooLong(entry.plan) }
        do throws(ReadFailure) {
            if let batch = try singleBatch(entry.plan, request.parameters) {
                counters.inlineReads.add(1, ordering: .relaxed)
                return .answered(.batches([batch], more: false))
            }
        } catch {
            if case .failed(let error) = error { return .answered(.failed(error)) }
        }
        entry.wasTooLong()
        return .queryTooLong(entry.plan)
    }

    func explain(_ request: QueryRequest) -> Reply {
        eventLoop.assertInEventLoop()
        do throws(LarderError) {
            let plan = try plan(request).plan
            return .explained(try openReader().explain(plan, request.parameters))
        } catch {
            return .failed(error)
        }
    }

    /// Lets go of the store reader; to be called on the event loop, when nothing reads any more.
    func close() {
        eventLoop.assertInEventLoop()
        reader = nil
        known = KnownReplies(bytesMax: 0)
    }

    /// The whole answer if it is one batch that fits, otherwise nil.
    private func singleBatch(
        _ plan: any QueryPlan, _ parameters: QueryParameters
    ) throws(ReadFailure) -> Batch? {
        let cursor = try openReaderToRead().open(plan, parameters, budget: budget)
        defer { cursor.close() }
        let (batch, isLast) = try cursor.next(
            bytesMax: limits.inlineBatchBytesMax, budget: budget)
        return isLast ? batch : nil
    }

    private func plan(_ request: QueryRequest) throws(LarderError) -> PlanCache.Entry {
        if let entry = plans.entry(for: request.shape) {
            counters.planHits.add(1, ordering: .relaxed)
            return entry
        }
        counters.planMisses.add(1, ordering: .relaxed)
        let query = try QueryCoding.decode(request.shape)
        let entry = PlanCache.Entry(plan: try backend.plan(query, request.parameters))
        if !entry.plan.dependsOnArguments { plans.insert(entry, for: request.shape) }
        return entry
    }

    private func openReader() throws(LarderError) -> any StoreReader {
        if let reader { return reader }
        let opened = try backend.makeReader()
        reader = opened
        return opened
    }

    private func openReaderToRead() throws(ReadFailure) -> any StoreReader {
        do throws(LarderError) { return try openReader() } catch { throw .failed(error) }
    }
}

extension ReadFailure {
    /// The condition for a client, where nothing is left to try: only a read with a bound on its
    /// steps can exceed them.
    var larderError: LarderError {
        switch self {
        case .stepsExceeded: LarderError(.timeout, "the read took more steps than are allowed")
        case .failed(let error): error
        }
    }
}
