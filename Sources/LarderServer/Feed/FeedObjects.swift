import FoundationEssentials
import LarderModel
import LarderQuery
import LarderWire

/// The objects that a reader of the history wants: leaves out changes of other objects of their
/// entities, and reads the values that the wanted ones have now.
///
/// The history has no old values. A change is left out if the object does not match now, and
/// nothing that the predicate reads has changed in the transaction or after it; so the object did
/// not match before or after it either.
struct FeedObjects: Sendable {
    /// A page with the wanted changes, and the objects that match now.
    struct Result {
        var page: HistoryPage
        var batches: [Batch] = []
        var byteCount = 0
    }

    /// The means to evaluate a page: a reader that has pinned a snapshot.
    struct Job {
        let reader: any StoreReader
        let budget: ReadBudget
        /// The number of the last transaction in the snapshot.
        let number: Int64
        /// The maximum size of all values.
        let bytesMax: Int
    }

    private let parts: [Part]

    /// - Throws: errors of the fetches that need no data.
    init(_ requests: [QueryRequest], _ view: any StoreView) throws(LarderError) {
        var parts: [Part] = []
        for request in requests {
            let part = try Part(request, view)
            if let other = parts.first(where: { !$0.entityNames.isDisjoint(with: part.entityNames) }
            ) {
                throw LarderError(
                    .unsupported,
                    "two fetches select objects of \(other.fetch.entityName)",
                    hint: "combine their predicates by OR")
            }
            parts.append(part)
        }
        self.parts = parts
    }

    /// - Returns: nil if the objects or their values are too many.
    func select(from page: HistoryPage, _ job: Job) throws(ReadFailure) -> Result? {
        var result = Result(page: page)
        for part in parts {
            part.removeImpossible(from: &result.page)
            let changed = part.changedKeys(in: result.page)
            guard !changed.isEmpty else { continue }
            guard let batches = try part.read(changed, job, after: result.byteCount)
            else { return nil }
            result.batches += batches.filter { $0.rowCount > 0 }
            result.byteCount += EncodedBatches.byteCount(batches, more: false)
            let matching = Set(batches.lazy.flatMap { $0.identity?.keys ?? [] })
            let others = changed.subtracting(matching)
            guard !others.isEmpty, part.fetch.predicate != nil else { continue }
            try part.remove(others, from: &result.page, job)
        }
        return result
    }
}

/// The objects of one fetch.
private struct Part: Sendable {
    let fetch: Fetch
    /// The entities of the objects that the fetch can select.
    let entityNames: Set<String>
    private let observable: ObservableQuery
    /// The objects and properties that the predicate reads.
    private let dependencies: QueryDependencies
    /// The changes of that.
    private let selection: HistorySelection
    private let plan: any QueryPlan
    /// The only objects that can match, if the predicate names them; nil if it names none.
    private let possibleKeys: Set<Int64>?

    init(_ request: QueryRequest, _ view: any StoreView) throws(LarderError) {
        let store = view.storeDescription
        let query = try request.shape.decoded()
        _ = try view.plan(query, request.parameters)
        guard case .fetch(var predicateOnly) = query, request.parameters.limit == nil else {
            throw Self.notSupported
        }
        observable = try ObservableQuery(
            query, request.parameters, in: store.schema, store: store.identifier)
        guard let fetch = observable.fetch, fetch.sort.isEmpty else { throw Self.notSupported }
        self.fetch = fetch
        let entity = fetch.entityName
        entityNames =
            fetch.includesSubentities
            ? Set([entity] + store.schema.subentities(of: entity).map(\.name)) : [entity]
        predicateOnly.selection = .identifiers
        dependencies = try ObservableQuery(
            .fetch(predicateOnly), request.parameters, in: store.schema, store: store.identifier
        ).dependencies
        selection = try HistorySelection(
            HistoryFilter(entities: dependencies.entityNames.sorted()), in: store.schema)
        let (rows, parameters) = observable.rows([], fetch)
        plan = try view.plan(rows, parameters)
        if case .tree(let predicate)? = fetch.predicate {
            possibleKeys = predicate.objectKeys(request.parameters, in: store.identifier)
        } else {
            possibleKeys = nil
        }
    }

    private static let notSupported = LarderError(
        .unsupported,
        "the objects of a history are given by a fetch of objects without order and limit",
        hint: "use a predicate, and columns to select values")

    private func covers(_ run: HistoryRun) -> Bool { entityNames.contains(run.entityName) }

    /// Removes the changes of objects that never match, deletions included.
    func removeImpossible(from page: inout HistoryPage) {
        guard let possibleKeys else { return }
        for index in page.transactions.indices {
            page.transactions[index].runs = page.transactions[index].runs.flatMap { run in
                covers(run) ? run.parts(where: possibleKeys.contains) : [run]
            }
            page.transactions[index].tombstones.removeAll {
                entityNames.contains($0.entityName) && !possibleKeys.contains($0.key)
            }
        }
    }

    /// The objects that a page inserts or updates.
    func changedKeys(in page: HistoryPage) -> Set<Int64> {
        var keys: Set<Int64> = []
        for run in page.transactions.lazy.flatMap(\.runs) where covers(run) && run.kind != .deleted
        {
            keys.formUnion(run.keys)
        }
        return keys
    }

    /// The objects among some that match, with their values.
    ///
    /// - Parameter byteCount: The size of the values that were read before.
    /// - Returns: nil if the objects or their values are too many.
    func read(
        _ keys: Set<Int64>, _ job: FeedObjects.Job, after byteCount: Int
    ) throws(ReadFailure) -> [Batch]? {
        guard keys.count <= observable.keysMax else { return nil }
        let (_, parameters) = observable.rows(keys.sorted(), fetch)
        let cursor = try job.reader.open(plan, parameters, budget: job.budget)
        defer { cursor.close() }
        var batches: [Batch] = []
        while true {
            let left = job.bytesMax - byteCount - EncodedBatches.byteCount(batches, more: false)
            guard left > 0 else { return nil }
            let (batch, isLast) = try cursor.next(bytesMax: left, budget: job.budget)
            batches.append(batch)
            if isLast { break }
        }
        let total = byteCount + EncodedBatches.byteCount(batches, more: false)
        return total <= job.bytesMax ? batches : nil
    }

    // MARK: Changes of objects that do not match

    /// The last transactions that changed whether objects match.
    private struct LastChanges {
        var ofObjects: [Int64: Int64] = [:]
        /// The last change of another object that the predicate reads.
        var ofOthers: Int64 = 0

        /// Whether an object may have matched before or after a transaction.
        func mayHaveMatched(_ key: Int64, in number: Int64) -> Bool {
            number <= ofOthers || number <= ofObjects[key] ?? 0
        }
    }

    /// Removes the inserts and updates of objects that do not match, if they did not match before
    /// or after them either.
    func remove(
        _ keys: Set<Int64>, from page: inout HistoryPage, _ job: FeedObjects.Job
    ) throws(ReadFailure) {
        let last = try lastChanges(of: keys, since: page, job)
        for index in page.transactions.indices {
            let number = page.transactions[index].id
            page.transactions[index].runs = page.transactions[index].runs.flatMap { run in
                guard covers(run), run.kind != .deleted else { return [run] }
                return run.parts { !keys.contains($0) || last.mayHaveMatched($0, in: number) }
            }
        }
    }

    /// More of the history is not read for one page; then any object may have changed.
    private static let pagesMax = 16
    private static let pageBytes = 256 << 10

    private func lastChanges(
        of keys: Set<Int64>, since page: HistoryPage, _ job: FeedObjects.Job
    ) throws(ReadFailure) -> LastChanges {
        var last = LastChanges()
        if dependencies.dependsOnTime {
            last.ofOthers = job.number
            return last
        }
        let first = page.transactions.lazy.map(\.id).min() ?? job.number
        var start = HistoryPosition(number: first)
        for _ in 0..<Self.pagesMax {
            let changes: HistoryPage
            do throws(ReadFailure) {
                changes = try job.reader.history(
                    HistoryPageRequest(from: start, selection, bytesMax: Self.pageBytes),
                    budget: job.budget)
            } catch .failed(let error) where error.code == .tokenExpired {
                break
            }
            for transaction in changes.transactions {
                for run in transaction.runs { note(run, of: keys, transaction.id, in: &last) }
            }
            if changes.isLast { return last }
            start = changes.end
        }
        last.ofOthers = job.number
        return last
    }

    private func note(
        _ run: HistoryRun, of keys: Set<Int64>, _ number: Int64, in last: inout LastChanges
    ) {
        let isOther = dependencies.paths.dropFirst().contains { dependencies.concerns(run, $0) }
        if isOther { last.ofOthers = number }
        let own = dependencies.paths[0]
        guard covers(run), run.kind != .inserted, dependencies.concerns(run, own) else { return }
        if run.keys.count < keys.count {
            for key in run.keys where keys.contains(key) { last.ofObjects[key] = number }
        } else {
            for key in keys where run.keys.contains(key) { last.ofObjects[key] = number }
        }
    }
}

extension HistoryRun {
    /// The parts of the run that have only objects with some keys.
    func parts(where isWanted: (Int64) -> Bool) -> [HistoryRun] {
        var parts: [HistoryRun] = []
        for key in keys where isWanted(key) {
            if let end = parts.last?.keys.upperBound, end + 1 == key {
                parts[parts.count - 1].keys = parts[parts.count - 1].keys.lowerBound...key
            } else {
                var part = self
                part.keys = key...key
                parts.append(part)
            }
        }
        return parts
    }
}

extension QueryExpression {
    /// The keys of the only objects for which a predicate can be true: those that `SELF == …` and
    /// `SELF IN …` name, alone or combined by AND with others. nil if it names none.
    fileprivate func objectKeys(_ parameters: QueryParameters, in store: UUID) -> Set<Int64>? {
        switch self {
        case .and(let parts):
            return parts.lazy.compactMap { $0.objectKeys(parameters, in: store) }.first
        case .comparison(let comparison) where comparison.modifier == .direct:
            switch (comparison.left, comparison.operator, comparison.right) {
            case (.object, .equal, let other), (let other, .equal, .object),
                (.object, .in, let other):
                return other.keys(parameters, in: store)
            default: return nil
            }
        default: return nil
        }
    }

    /// The keys of the objects that an operand names; nil if it is anything else.
    private func keys(_ parameters: QueryParameters, in store: UUID) -> Set<Int64>? {
        switch self {
        case .constant(let value): return Self.keys([value], in: store)
        case .argument(let index) where parameters.arguments.indices.contains(index):
            return Self.keys(parameters.arguments[index], in: store)
        case .variable(let name):
            return parameters.variables[name].flatMap { Self.keys($0, in: store) }
        case .list(let elements):
            let sets = elements.map { $0.keys(parameters, in: store) }
            return sets.contains(nil) ? nil : Set(sets.compactMap { $0 }.joined())
        default: return nil
        }
    }

    private static func keys(_ argument: QueryArgument, in store: UUID) -> Set<Int64>? {
        switch argument {
        case .value(let value): keys([value], in: store)
        case .list(let values): keys(values, in: store)
        }
    }

    private static func keys(_ values: [Value], in store: UUID) -> Set<Int64>? {
        var keys: Set<Int64> = []
        for value in values {
            let identifier: PersistentIdentifier? =
                switch value {
                case .object(let identifier): identifier
                case .string(let text): try? PersistentIdentifier(text: text, in: store)
                default: nil
                }
            guard let key = identifier?.permanentKey else { return nil }
            keys.insert(key)
        }
        return keys
    }
}
