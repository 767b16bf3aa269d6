import Glibc
import LarderModel
import LarderQuery
import LarderWire

/// Reads a store without a connection to a server, for the program that has the store itself.
///
/// It has the meaning and the errors of the requests of the same names: queries are planned by
/// their shapes, and pages of the history are read by the code that serves clients. Only the limits
/// on work and on the size of results are missing, because no other client waits. Used from one
/// thread at a time.
package final class DirectReader {
    private let view: any StoreView
    private let limits = ServerLimits()
    private let reader: any StoreReader
    private var plans: PlanCache
    private let budget = ReadBudget()

    package init(_ backend: any StoreBackend) throws(LarderError) {
        view = backend
        reader = try backend.makeReader()
        plans = PlanCache(
            countMax: limits.plansMax,
            memory: SharedLimit(limits.planMemory.total, userShare: 1))
    }

    /// Reads the state of the store at this moment, whatever is saved meanwhile, until it is
    /// released.
    package convenience init(snapshotOf backend: any StoreBackend) throws(LarderError) {
        try self.init(backend)
        _ = try reader.pinSnapshot()
    }

    /// The existing objects among these, one batch per entity.
    package func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        do throws(ReadFailure) {
            return try reader.objects(identifiers, properties: properties, budget: budget)
        } catch {
            throw error.larderError
        }
    }

    /// The whole result of a query.
    package func batches(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> [Batch] {
        let request = try QueryRequest(query, parameters)
        let plan = try plan(request)
        do throws(ReadFailure) {
            let cursor = try reader.open(plan, request.parameters, budget: budget)
            defer { cursor.close() }
            var batches: [Batch] = []
            while true {
                let (batch, isLast) = try cursor.next(
                    bytesMax: Self.batchBytesMax, budget: budget)
                batches.append(batch)
                if isLast { return batches }
            }
        } catch {
            throw error.larderError
        }
    }

    /// About the size of a batch. Larger ones would only take more memory at once.
    private static let batchBytesMax = 1 << 20

    private func plan(_ request: QueryRequest) throws(LarderError) -> any QueryPlan {
        if let entry = plans.entry(for: request.shape, request.parameters) { return entry.plan }
        let query = try request.shape.decoded()
        let plan = try view.plan(query, request.parameters)
        if !plan.dependsOnArguments {
            plans.insert(PlanCache.Entry(plan: plan, of: getuid()), for: request.shape)
        }
        return plan
    }

    /// Transactions of the history.
    package func history(
        _ fetch: HistoryFetch, objects: [HistoryObjects] = []
    ) throws(LarderError) -> History {
        guard objects.count <= Limits.historyObjectsMax else {
            throw LarderError(
                .resourceExhausted,
                "\(Limits.historyObjectsMax) fetches of objects at most are possible")
        }
        var requests: [QueryRequest] = []
        for objects in objects {
            requests.append(try QueryRequest(.fetch(objects.fetch), objects.parameters))
        }
        var pages = Pages(HistoryRequest(fetch, objects: requests))
        while true {
            let read = pages.next(view, limits)
            let (result, checked) = try read.perform(reader, budget)
            if let history = pages.append(result, checked, of: read) { return history }
        }
    }

    /// The pages of a history so far.
    private struct Pages {
        private let request: HistoryRequest
        private var position: HistoryPosition?
        private var sentCount = 0
        private var hasSentPart = false
        private var checked: HistoryPageRead.Checked?
        private var assembly = TransactionAssembly()
        private var transactions: [HistoryTransaction] = []

        init(_ request: HistoryRequest) { self.request = request }

        func next(_ view: any StoreView, _ limits: ServerLimits) -> HistoryPageRead {
            HistoryPageRead(
                request: request, position: position, sentCount: sentCount,
                hasSentPart: hasSentPart, checked: checked, view: view, limits: limits)
        }

        /// - Returns: the whole history with the last page.
        mutating func append(
            _ result: FeedObjects.Result, _ checked: HistoryPageRead.Checked,
            of read: HistoryPageRead
        ) -> History? {
            guard case .history(let reply, let more) = read.reply(result) else {
                preconditionFailure("a page of the history is a history reply")
            }
            let page = result.page
            self.checked = checked
            hasSentPart = page.continues(afterPart: hasSentPart, from: position)
            position = page.end
            sentCount += page.completeCount
            transactions += assembly.append(reply)
            return more ? nil : History(transactions, position: reply.position)
        }
    }
}
