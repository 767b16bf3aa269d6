import LarderModel
import LarderQuery
import LarderWire

/// Evaluates an observed query: its whole result at first, and then how commits have changed it.
///
/// The cost of a change of a fetch or of most aggregates is that of the changed objects, and of the
/// objects that refer to them along the key paths of the query. Used by one job of the pool at a
/// time.
final class LiveEvaluation {
    enum Outcome {
        case unchanged
        case change(ObserveReply)
        /// The whole result is to be sent again.
        case replaced
    }

    /// The reader and the budget of one job, and the snapshot that the reader has pinned.
    struct Job {
        let reader: any StoreReader
        let budget: ReadBudget
        /// The number of the last transaction in the snapshot.
        let number: Int64
    }

    /// More changed objects are not evaluated one by one.
    private static let changedObjectsMax = 10_000
    /// The objects of an observed aggregate whose contributions the server keeps in memory.
    private static let groupedObjectsMax = 200_000
    private static let envelopeBytesMax = 64

    private let view: any StoreView
    private let observable: ObservableQuery
    private let selection: HistorySelection
    private let batchBytesMax: Int
    private let objectsMax: Int
    /// The length of a whole result; so each of its replies fits into a frame of the clients.
    private let wholeBytesMax: Int
    /// The length of a change. A longer one is not kept for slow observers.
    private let changeBytesMax: Int
    private var window: LiveWindow?
    /// The type of the first sort key; nil if there is none.
    private var firstKeyKind: Column.Kind?
    /// The result of a query other than a fetch of objects.
    private var lastBatches: [Batch] = []
    /// How the result of such a query is computed from single objects; nil if it is read again.
    private var aggregate: LiveAggregate?
    /// The groups of the aggregate. They are read at the first change that concerns it.
    private var groups: LiveGroups?
    /// The last transaction that the result contains; nil before the first evaluation and after a
    /// failed one.
    private var number: Int64?
    /// Whether there was a result.
    private(set) var hasResult = false
    /// The bytes and the number of the entries that were read, which give the size of one.
    private var readBytes = 0
    private var readCount = 0
    private var plans: [Query: any QueryPlan] = [:]

    var dependencies: QueryDependencies { observable.dependencies }

    /// - Parameter frameBytesMax: The longest frame that the clients accept.
    /// - Throws: errors of the query that need no data.
    init(
        _ request: QueryRequest, isSectioned: Bool, frameBytesMax: Int, _ view: any StoreView,
        _ limits: ServerLimits
    ) throws(LarderError) {
        let store = view.storeDescription
        let query = try request.shape.decoded()
        // The planner's errors name the positions in format strings, so it comes first.
        try view.check(query, request.parameters, isSectioned: isSectioned)
        if let rights = view.rights, !rights.mayWatch(query.entityName) {
            throw rights.denial(of: "observe \(query.entityName)")
        }
        observable = try ObservableQuery(
            query, request.parameters, isSectioned: isSectioned, in: store.schema,
            store: store.identifier, alsoReading: view.rights?.ruleEntities ?? [])
        selection = try HistorySelection(
            HistoryFilter(entities: observable.dependencies.entityNames.sorted()),
            in: view.rights?.wholeSchema ?? store.schema)
        self.view = view
        if let aggregate = observable.aggregate {
            let (query, parameters) = observable.contributions(of: nil, aggregate)
            // A filter may be too deep, or apply to a value that no function takes.
            if (try? view.plan(query, parameters)) != nil { self.aggregate = aggregate }
        }
        batchBytesMax = limits.batchBytesMax
        objectsMax = limits.liveObjectsMax
        wholeBytesMax = frameBytesMax - Self.envelopeBytesMax
        changeBytesMax = min(frameBytesMax, limits.frameBytesMax) - Self.envelopeBytesMax
    }

    private var store: StoreDescription { view.storeDescription }
    private var changedObjectsMax: Int { min(Self.changedObjectsMax, observable.keysMax) }

    private func token(_ number: Int64) -> HistoryToken {
        HistoryToken(store: store.identifier, epoch: store.historyEpoch, number: number)
    }

    // MARK: - Changes

    /// Brings the result up to the snapshot of a job.
    ///
    /// - Parameter isWholeNeeded: Whether ``wholeResult(_:_:)`` will be called.
    func update(_ job: Job, isWholeNeeded: Bool) throws(LarderError) -> Outcome {
        let last = number
        // After an error the window may contain a change that nobody knows.
        number = nil
        var outcome: Outcome
        if let last {
            outcome = try update(job, since: last)
            // A whole result has the time of its reading, and so must the window.
            if isWholeNeeded, dependencies.dependsOnTime, try loadIfDifferent(job) {
                outcome = .replaced
            }
        } else {
            try load(job)
            outcome = .replaced
        }
        number = job.number
        hasResult = true
        return outcome
    }

    /// Roughly the memory of the result and the plans.
    var memoryBytes: Int {
        let entryBytes = readCount == 0 ? 0 : readBytes / readCount + Self.entryBytes
        let planBytes = plans.values.reduce(0) { $0 + $1.byteCount }
        return max(Self.fixedBytes, planBytes) + (window?.entries.count ?? 0) * entryBytes
            + EncodedBatches.byteCount(lastBatches, more: false) + (groups?.byteCount ?? 0)
    }

    /// Releases the groups. The result is read again after each change from then on.
    ///
    /// - Returns: whether there were groups.
    func releaseGroups() -> Bool {
        defer { (aggregate, groups) = (nil, nil) }
        return groups != nil
    }

    private static let fixedBytes = 8 << 10
    private static let entryBytes = 96

    private func update(_ job: Job, since number: Int64) throws(LarderError) -> Outcome {
        guard let changed = try changedKeys(job, since: number) else {
            return try reload(job)
        }
        guard !changed.allSatisfy(\.isEmpty) else { return .unchanged }
        guard let fetch = observable.fetch, window != nil else {
            if let outcome = try updateGroups(changed, job) { return outcome }
            return try reload(job)
        }
        guard let candidates = try candidates(changed, job) else { return try reload(job) }
        guard !candidates.isEmpty else { return .unchanged }
        let (query, parameters) = observable.sortValues(of: candidates.sorted(), fetch)
        let matching = try entries(query, parameters, job)
        let change: LiveWindow.Change
        switch window?.apply(candidates, matching: matching) {
        case .change(let applied): change = applied
        case .needsReading:
            let first = try firstEntries(fetch, job)
            change = window?.change(to: first) ?? LiveWindow.Change()
        case nil: return .unchanged
        }
        if change.isEmpty { return .unchanged }
        guard window?.count ?? 0 <= objectsMax else { throw Self.tooManyObjects }
        guard change.placed.count <= observable.keysMax else { return .replaced }
        return try reply(change, fetch, job).map { .change($0) } ?? .replaced
    }

    /// The changed objects at the end of each path of the query; nil if there are too many, or the
    /// history has not all of them any more.
    private func changedKeys(
        _ job: Job, since number: Int64
    ) throws(LarderError) -> [Set<Int64>]? {
        let paths = dependencies.paths
        var changed = Array(repeating: Set<Int64>(), count: paths.count)
        var start = HistoryPosition(number: number + 1)
        var count = 0
        while true {
            let page: HistoryPage
            do throws(ReadFailure) {
                page = try job.reader.history(
                    HistoryPageRequest(from: start, selection, bytesMax: 1 << 20),
                    budget: job.budget)
            } catch {
                let error = error.larderError
                if error.code == .tokenExpired { return nil }
                throw error
            }
            for run in page.transactions.lazy.flatMap(\.runs) {
                // The rules for what the user sees are not evaluated object by object.
                if dependencies.concernsAll(run) { return nil }
                for (index, path) in paths.enumerated() where concerns(run, path) {
                    count = count.addingClamped(run.keys.count)
                    guard count <= changedObjectsMax else { return nil }
                    changed[index].formUnion(run.keys)
                }
            }
            if page.isLast { return changed }
            start = page.end
        }
    }

    /// Every update of an own object may change its row.
    private func concerns(_ run: HistoryRun, _ path: QueryDependencies.Path) -> Bool {
        if path.relationships.isEmpty, observable.fetch != nil {
            return dependencies.concernsOwnObjects(run)
        }
        return dependencies.concerns(run, path)
    }

    /// The own objects whose rows the changes may concern; nil if there are too many.
    private func candidates(
        _ changed: [Set<Int64>], _ job: Job
    ) throws(LarderError) -> Set<Int64>? {
        var candidates = changed[0]
        for (path, keys) in zip(dependencies.paths, changed).dropFirst() where !keys.isEmpty {
            var (query, parameters) = observable.owners(of: keys.sorted(), along: path)
            parameters.limit = Int64(changedObjectsMax + 1)
            for batch in try batches(query, parameters, job) ?? [] {
                candidates.formUnion(batch.identity?.keys ?? [])
            }
            guard candidates.count <= changedObjectsMax else { return nil }
        }
        return candidates
    }

    /// - Returns: nil if it has more bytes than a change may have.
    private func reply(
        _ change: LiveWindow.Change, _ fetch: Fetch, _ job: Job
    ) throws(LarderError) -> ObserveReply? {
        var rows: Batch?
        if !change.placed.isEmpty {
            let (query, parameters) = observable.rows(change.placed.map(\.key), fetch)
            let batches = try batches(
                query, parameters, job, bytesMax: changeBytesMax, batchBytesMax: changeBytesMax)
            guard let batches, batches.count == 1 else { return nil }
            rows = batches[0]
        }
        precondition(
            rows?.rowCount ?? 0 == change.placed.count, "both reads are of one snapshot")
        // The indexes fit: a window has at most `objectsMax` and `LiveWindow.rowsMax` rows.
        return ObserveReply(
            rows, sections: try sections(of: change.placed.map(\.key)), at: token(job.number),
            newIndexes: change.placed.map { UInt32($0.newIndex) },
            oldIndexes: change.placed.map { $0.oldIndex.map { UInt32($0) + 1 } ?? 0 },
            moved: change.placed.map(\.isMoved), deleted: change.deleted.map { UInt32($0) })
    }

    /// The section of each of some observed rows: the value of its first sort key.
    private func sections(of keys: [Int64]) throws(LarderError) -> Batch? {
        guard observable.isSectioned, !keys.isEmpty, let firstKeyKind else { return nil }
        var column = Column(name: "section", kind: firstKeyKind)
        for key in keys {
            try column.append(window?.values(of: key)?.first?.representative ?? .null)
        }
        return Batch(rowCount: keys.count, columns: [column])
    }

    // MARK: - Groups

    /// Updates the groups of an aggregate.
    ///
    /// - Returns: nil if the result has to be read again.
    private func updateGroups(
        _ changed: [Set<Int64>], _ job: Job
    ) throws(LarderError) -> Outcome? {
        guard let aggregate, let columns = lastBatches.first?.columns else { return nil }
        guard let candidates = try candidates(changed, job) else { return nil }
        guard !candidates.isEmpty else { return .unchanged }
        try updateGroups(of: aggregate, candidates, job)
        let batches = groups?.batches(
            columns, limit: observable.parameters.limit, bytesMax: batchBytesMax)
        guard let batches else {
            _ = releaseGroups()
            return nil
        }
        if batches == lastBatches { return .unchanged }
        lastBatches = batches
        return .replaced
    }

    /// Applies the contributions of the candidates, or of all objects at first. The groups are nil
    /// afterwards if there are too many objects.
    private func updateGroups(
        of aggregate: LiveAggregate, _ candidates: Set<Int64>, _ job: Job
    ) throws(LarderError) {
        let countMax = min(Self.groupedObjectsMax, objectsMax - 1)
        if groups == nil {
            let (query, parameters) = observable.contributions(
                of: nil, aggregate, limit: Int64(countMax + 1))
            // A reading that fails or is too large is not tried again.
            self.aggregate = nil
            let entries = try entries(query, parameters, job)
            guard entries.count <= countMax else { return }
            self.aggregate = aggregate
            groups = LiveGroups(aggregate)
            groups?.apply([], matching: entries)
        } else {
            let (query, parameters) = observable.contributions(of: candidates.sorted(), aggregate)
            groups?.apply(candidates, matching: try entries(query, parameters, job))
            if let count = groups?.objectCount, count > countMax { groups = nil }
        }
    }

    // MARK: - Whole results

    private func load(_ job: Job) throws(LarderError) {
        guard let fetch = observable.fetch else {
            groups = nil
            lastBatches = try wholeBatches(job)
            return
        }
        var window = LiveWindow(
            observable.directions, limit: observable.parameters.limit.map { Int(clamping: $0) })
        self.window = window
        window.replace(with: try firstEntries(fetch, job))
        self.window = window
    }

    /// - Returns: whether the result differs from the last one.
    private func loadIfDifferent(_ job: Job) throws(LarderError) -> Bool {
        let (entries, batches) = (window?.entries, lastBatches)
        try load(job)
        return window?.entries != entries || lastBatches != batches
    }

    private func reload(_ job: Job) throws(LarderError) -> Outcome {
        let before = lastBatches
        try load(job)
        return observable.fetch == nil && before == lastBatches ? .unchanged : .replaced
    }

    private func firstEntries(
        _ fetch: Fetch, _ job: Job
    ) throws(LarderError) -> [LiveWindow.Entry] {
        let (query, parameters) = observable.sortValues(
            of: nil, fetch, limit: window?.readCount.map { Int64($0) })
        return try entries(query, parameters, job)
    }

    /// The replies with the whole result, as it is in the snapshot of the last update.
    func wholeResult(_ job: Job, _ codec: WireCodec) throws(LarderError) -> [Reply] {
        let batches = observable.fetch == nil ? lastBatches : try wholeBatches(job)
        var replies: [Reply] = []
        var byteCount = 0
        for (index, batch) in batches.enumerated() {
            let reply = try codec.encoded(
                ObserveReply(
                    batch, sections: try sections(of: batch.identity?.keys ?? []),
                    at: token(job.number), begins: index == 0, ends: index == batches.count - 1))
            if case .encodedObserved(let bytes) = reply { byteCount += bytes.count }
            guard byteCount <= wholeBytesMax else { throw Self.tooManyBytes }
            replies.append(reply)
        }
        return replies
    }

    private func wholeBatches(_ job: Job) throws(LarderError) -> [Batch] {
        let batches = try batches(
            observable.query, observable.parameters, job, bytesMax: wholeBytesMax)
        guard let batches else { throw Self.tooManyBytes }
        return batches
    }

    // MARK: - Queries

    private func entries(
        _ query: Query, _ parameters: QueryParameters, _ job: Job
    ) throws(LarderError) -> [LiveWindow.Entry] {
        var entries: [LiveWindow.Entry] = []
        guard let batches = try batches(query, parameters, job, rowsMax: objectsMax) else {
            throw Self.tooManyObjects
        }
        readBytes += EncodedBatches.byteCount(batches, more: false)
        readCount += batches.reduce(0) { $0 + $1.rowCount }
        for batch in batches {
            firstKeyKind = batch.columns.first?.kind
            for (row, key) in (batch.identity?.keys ?? []).enumerated() {
                entries.append(
                    LiveWindow.Entry(
                        key,
                        batch.columns.indices.map {
                            batch.value(row: row, column: $0, store: store.identifier)
                        }))
            }
        }
        return entries
    }

    /// All rows; nil if there are more rows or bytes than a maximum.
    private func batches(
        _ query: Query, _ parameters: QueryParameters, _ job: Job, rowsMax: Int = .max,
        bytesMax: Int = .max, batchBytesMax: Int? = nil
    ) throws(LarderError) -> [Batch]? {
        do throws(ReadFailure) {
            let cursor = try job.reader.open(
                try plan(query, parameters), parameters, budget: job.budget)
            defer { cursor.close() }
            var batches: [Batch] = []
            var (rowCount, byteCount) = (0, 0)
            while true {
                let (batch, isLast) = try cursor.next(
                    bytesMax: batchBytesMax ?? self.batchBytesMax, budget: job.budget)
                batches.append(batch)
                rowCount += batch.rowCount
                byteCount += EncodedBatches.byteCount([batch], more: false)
                guard rowCount <= rowsMax, byteCount <= bytesMax else { return nil }
                if isLast { return batches }
            }
        } catch {
            throw error.larderError
        }
    }

    private static let tooManyObjects = LarderError(
        .resourceExhausted, "the query has too many objects to be observed",
        hint: "observe the first rows, by a limit")
    private static let tooManyBytes = LarderError(
        .resourceExhausted, "the result is too large to be observed",
        hint: "observe the first rows, by a limit, or fewer columns")

    private func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(ReadFailure) -> any QueryPlan {
        if let plan = plans[query] { return plan }
        do throws(LarderError) {
            let plan = try view.plan(query, parameters)
            plans[query] = plan
            return plan
        } catch {
            throw .failed(error)
        }
    }
}
