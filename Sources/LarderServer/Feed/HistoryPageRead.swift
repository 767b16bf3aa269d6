import LarderModel
import LarderQuery
import LarderWire

/// A read of one page of the history for a request, and the reply with it. Runs on the pool.
struct HistoryPageRead: Sendable {
    /// The parts of a transaction that a request selects.
    struct Kind: Hashable {
        let selection: HistorySelection
        let includesChanges: Bool

        func selected(_ transaction: HistoryTransaction) -> HistoryTransaction? {
            guard var selected = selection.selected(transaction) else { return nil }
            if !includesChanges { (selected.runs, selected.tombstones) = ([], []) }
            return selected
        }
    }

    /// The results of the checks that the first read makes.
    struct Checked {
        let kind: Kind
        /// nil if the request has no fetches of objects.
        let objects: FeedObjects?
    }

    let request: HistoryRequest
    /// Where the page begins; nil for the first one.
    let position: HistoryPosition?
    /// The transactions that were sent completely.
    let sentCount: Int
    /// Whether a part of the transaction was sent with which the page begins.
    let hasSentPart: Bool
    /// nil for the first page.
    let checked: Checked?
    let view: any StoreView
    let limits: ServerLimits

    /// The changes of a page with objects: about as many as one read of objects is quick for.
    private static let changesMax = 1_000
    private static let valueBytesMax = 1 << 20
    private static let envelopeBytesMax = 64 << 10

    static let tooLarge = LarderError(
        .resourceExhausted, "the values of a changed object do not fit into a frame",
        hint: "select columns instead of whole objects")

    // MARK: The page

    func perform(
        _ reader: any StoreReader, _ budget: ReadBudget
    ) throws(LarderError) -> (FeedObjects.Result, Checked) {
        let checked: Checked
        if let known = self.checked { checked = known } else { checked = try check() }
        var result: FeedObjects.Result
        do throws(ReadFailure) {
            if let objects = checked.objects {
                result = try read(objects, checked.kind, reader, budget)
            } else if let visible = VisibleHistory(view) {
                result = FeedObjects.Result(
                    page: try page(checked.kind, visible, reader, budget))
            } else {
                result = FeedObjects.Result(
                    page: try reader.history(pageRequest(checked.kind), budget: budget))
            }
        } catch {
            throw error.larderError
        }
        if request.fetch.includesChanges || VisibleHistory(view) != nil {
            result.page.removeEmptyTransactions(exceptFirst: hasSentPart)
        }
        if !request.fetch.includesChanges { result.page.removeChanges() }
        return (result, checked)
    }

    private func check() throws(LarderError) -> Checked {
        let selection = try HistorySelection(
            request.fetch.filter, in: view.storeDescription.schema,
            knownNames: view.rights?.historyNames ?? view.knownNames)
        return Checked(
            kind: Kind(
                selection: selection, includesChanges: request.fetch.includesChanges),
            objects: request.objects.isEmpty ? nil : try FeedObjects(request.objects, view))
    }

    private func pageRequest(
        _ kind: Kind, changesMax: Int = .max, includesChanges: Bool? = nil
    ) -> HistoryPageRequest {
        let fetch = request.fetch
        return HistoryPageRequest(
            after: position == nil || fetch.newestFirst ? fetch.after : nil,
            upTo: fetch.upTo, from: position, startsNow: request.startsNow, kind.selection,
            newestFirst: fetch.newestFirst,
            includesChanges: includesChanges ?? fetch.includesChanges,
            countMax: fetch.limit.map { $0 - sentCount } ?? .max, bytesMax: limits.batchBytesMax,
            changesMax: changesMax)
    }

    /// Reads a page and which of its objects the user may see, in one snapshot.
    private func page(
        _ kind: Kind, _ visible: VisibleHistory, _ reader: any StoreReader, _ budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage {
        do throws(LarderError) { _ = try reader.pinSnapshot() } catch { throw .failed(error) }
        defer { reader.unpinSnapshot() }
        var page = try reader.history(
            pageRequest(kind, changesMax: Self.changesMax, includesChanges: true), budget: budget)
        try visible.filter(&page, reader, budget)
        return page
    }

    /// Reads a page and its objects in one snapshot.
    private func read(
        _ objects: FeedObjects, _ kind: Kind, _ reader: any StoreReader, _ budget: ReadBudget
    ) throws(ReadFailure) -> FeedObjects.Result {
        let number: Int64
        do throws(LarderError) { number = try reader.pinSnapshot() } catch {
            throw .failed(error)
        }
        defer { reader.unpinSnapshot() }
        // Fewer objects, if the values of these are too large.
        var changesMax = Self.changesMax
        while true {
            var page = try reader.history(
                pageRequest(kind, changesMax: changesMax), budget: budget)
            try VisibleHistory(view)?.filter(&page, reader, budget)
            let bytesMax =
                changesMax > 1 ? Self.valueBytesMax : limits.frameBytesMax - Self.envelopeBytesMax
            let job = FeedObjects.Job(
                reader: reader, budget: budget, number: number, bytesMax: bytesMax)
            if let result = try objects.select(from: page, job) { return result }
            guard changesMax > 1 else { throw .failed(Self.tooLarge) }
            changesMax = max(1, changesMax / 8)
        }
    }

    // MARK: The reply

    func reply(_ result: FeedObjects.Result) -> Reply {
        let (page, store) = (result.page, view.storeDescription)
        let number = request.fetch.newestFirst ? page.end.number : page.end.number - 1
        let position = HistoryToken(
            store: store.identifier, epoch: store.historyEpoch, number: max(0, number))
        return .history(
            HistoryReply(
                page.transactions, upTo: position, isPartial: page.isLastPartial,
                isCurrent: page.isLast, objects: result.batches),
            more: !isLast(page))
    }

    /// Whether a request that does not follow the history ends with a page.
    func isLast(_ page: HistoryPage) -> Bool {
        guard !request.follows else { return false }
        let count = sentCount + page.completeCount
        return page.isLast || request.fetch.limit.map { count >= $0 } ?? false
    }
}

extension HistoryPage {
    /// The number of transactions that end in the page.
    var completeCount: Int { transactions.count - (isLastPartial ? 1 : 0) }

    /// Whether a part of the transaction was sent with which the next page begins.
    ///
    /// - Parameters:
    ///   - hasSentPart: The same for this page.
    ///   - start: Where this page begins; nil for the first one.
    func continues(afterPart hasSentPart: Bool, from start: HistoryPosition?) -> Bool {
        let isSameTransaction = end.isWithin && end.number == start?.number
        return isLastPartial || isSameTransaction && hasSentPart
    }

    fileprivate mutating func removeChanges() {
        for index in transactions.indices {
            transactions[index].runs = []
            transactions[index].tombstones = []
        }
    }

    /// Removes the transactions that have no changes left.
    ///
    /// - Parameter keepsFirst: Whether the first one stays, as the end of a longer one.
    fileprivate mutating func removeEmptyTransactions(exceptFirst keepsFirst: Bool) {
        let kept = keepsFirst ? transactions.first?.id : nil
        let last = transactions.last?.id
        transactions.removeAll { $0.runs.isEmpty && $0.id != kept }
        if transactions.last?.id != last { isLastPartial = false }
    }
}
