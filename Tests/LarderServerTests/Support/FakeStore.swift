import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import Synchronization

/// A store in memory whose behavior a test chooses by the predicate of a query: `rows 1000` returns
/// 1,000 rows, `slow` waits at a gate, `fails` fails, `heavy` needs more work than an event loop
/// may do, `long` needs more time, and `endless` computes until it is cancelled.
final class FakeStore: StoreBackend {
    struct Options {
        var isReadOnly = false
        var slowReads: Gate?
        var writes: Gate?
        /// Passed by each step of a deletion from the history.
        var deletions: Gate?
        /// Whether the writer accepts more sets for a group while it executes it.
        var takesMore = false
        var needsMaintenance = false
        /// Whether every read of the pool, and the verification of a copy, runs until it is
        /// cancelled.
        var isEndless = false
        var copy = FakeCopy.Options()
        var migration = Migration.unsupported
        /// The former schemas that the current one only adds to, the latest first.
        var formerSchemas: [Schema] = []
    }

    /// The course of a migration.
    enum Migration {
        case unsupported
        /// It passes a gate while it runs, if there is one, and then succeeds.
        case succeeds(Gate?)
        /// The objects do not fit, and the store is opened as it was.
        case isRefused
        /// The store cannot be opened at all.
        case loses
        /// There is no room for a working copy.
        case isFull
        /// It runs, as the making of a working copy does, until it is cancelled.
        case isEndless
    }

    let storeDescription: StoreDescription
    let options: Options
    let records: Records
    private let formerViews: [FakeFormerView]

    /// The data of the store, and counters of what was done with it.
    final class Records: Sendable {
        struct State {
            var numbers: [Int64: Int64] = [:]
            var lastKey: Int64 = 0
            var groups: [Int] = []
            var sources: [ChangeSource] = []
            /// The rows of each transaction of a stream.
            var insertions: [Int] = []
            var plans = 0
            /// The views whose clients saved, by the version of their schema.
            var views: [String?] = []
            /// The plans of fetches of items that exist.
            var itemPlans = 0
            /// The items that these fetches have read.
            var itemsRead = 0
            var readersOpen = 0
            var cursorsOpen = 0
            var cursorsOpenMost = 0
            var batches = 0
            var objectReads = 0
            /// The number of queries that run until they are cancelled.
            var endless = 0
            var maintenances = 0
            var writerIsClosed = false
            /// The version of every object's stamp; nil for no stamps.
            var stamp: UInt64?
            var history = FakeHistory()
            /// The readers that have pinned a snapshot.
            var pinned = 0
            /// The copies that exist.
            var copies = 0
            /// The steps of all copies, and the groups of saves before each of them.
            var copySteps: [Int] = []
        }

        let state = Mutex(State())
        subscript<Value>(path: KeyPath<State, Value> & Sendable) -> Value {
            state.withLock { $0[keyPath: path] }
        }
    }

    init(_ options: Options = Options(), schema: Schema? = nil) throws {
        let schema =
            try schema
            ?? Schema(entities: [
                Entity(name: "Item", attributes: [Attribute(name: "number", type: .int64)])
            ])
        storeDescription = StoreDescription(
            identifier: UUID(), schema: schema, fingerprint: "00112233aabbccdd",
            isReadOnly: options.isReadOnly)
        self.options = options
        let (description, records) = (storeDescription, Records())
        self.records = records
        formerViews = options.formerSchemas.map { FakeFormerView($0, description, records) }
    }

    func formerView(version: String, fingerprint: String) -> (any StoreView)? {
        formerViews.first {
            let description = $0.storeDescription
            return (version.isEmpty || version == description.schema.version)
                && (fingerprint.isEmpty || fingerprint == description.fingerprint)
        }
    }

    func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        records.state.withLock { $0.plans += 1 }
        guard query.entityName == "Item" else {
            throw LarderError(.unknownEntity, "unknown entity")
        }
        if let items = FakeItems(query) { return FakePlan(items, records) }
        guard case .fetch(let fetch) = query, case .format(let text)? = fetch.predicate else {
            return FakePlan(words: ["rows", "1"])
        }
        return FakePlan(words: text.split(separator: " ").map(String.init))
    }

    func makeReader() throws(LarderError) -> any StoreReader {
        records.state.withLock { $0.readersOpen += 1 }
        return FakeReader(self)
    }

    func makeWriter() throws(LarderError) -> any StoreWriter { FakeWriter(self) }

    func makeCopy(in folder: String) throws(LarderError) -> any StoreCopy { FakeCopy(self) }

    func isCurrent(_ stamp: ObjectStamp) -> Bool { records[\.stamp] == stamp.version }

    let logByteCount = 4_096

    /// Computes until it is cancelled.
    func run(until cancellation: ReadCancellation) -> LarderError {
        records.state.withLock { $0.endless += 1 }
        while !cancellation.isCancelled { poll(nil, 0, 1) }
        records.state.withLock { $0.endless -= 1 }
        return LarderError(.cancelled, "the fake store was stopped")
    }

    func identifier(_ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(store: storeDescription.identifier, entityName: "Item", key: key)
    }
}

final class FakePlan: QueryPlan {
    let words: [String]
    let items: FakeItems?

    private let records: FakeStore.Records?

    init(words: [String]) { (self.words, items, records) = (words, nil, nil) }

    init(_ items: FakeItems, _ records: FakeStore.Records) {
        (words, self.items, self.records) = ([], items, records)
        records.state.withLock { $0.itemPlans += 1 }
    }

    deinit { records?.state.withLock { $0.itemPlans -= 1 } }

    var dependsOnArguments: Bool { words.contains("%K") }
    func serves(_ parameters: QueryParameters) -> Bool { true }

    var byteCount: Int { words.reduce(0) { $0 + $1.utf8.count } }
}

private final class FakeReader: StoreReader {
    private let store: FakeStore
    /// The state that the reader sees since it has pinned a snapshot.
    private var pinned: FakeStore.Records.State?

    init(_ store: FakeStore) { self.store = store }

    deinit {
        unpinSnapshot()
        store.records.state.withLock { $0.readersOpen -= 1 }
    }

    private func runIfEndless(_ budget: ReadBudget) throws(ReadFailure) {
        guard store.options.isEndless else { return }
        guard budget.work == nil else { throw .budgetExceeded }
        guard let cancellation = budget.cancellation else { return }
        throw .failed(store.run(until: cancellation))
    }

    private var numbers: [Int64: Int64] { pinned?.numbers ?? store.records[\.numbers] }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch] {
        let keys = identifiers.compactMap(\.permanentKey)
        try runIfEndless(budget)
        guard keys.count <= 1_000 || budget.work == nil else { throw .budgetExceeded }
        store.records.state.withLock { $0.objectReads += 1 }
        let numbers = numbers
        let found = keys.compactMap { key in numbers[key].map { (key, $0) } }
        let identity = Batch.Identity(
            entityName: "Item", keys: found.map(\.0), versions: found.map { _ in 1 })
        let column = Column(
            name: "number", kind: .attribute(.int64), storage: .integers(found.map(\.1)))
        return [Batch(rowCount: found.count, identity: identity, columns: [column])]
    }

    func history(
        _ request: HistoryPageRequest, budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage {
        if budget.work == nil { try runIfEndless(budget) }
        do throws(LarderError) {
            let history = store.records.state.withLock { state in
                if budget.work == nil {
                    state.history.poolPages += 1
                } else {
                    state.history.loopPages += 1
                }
                return pinned?.history ?? state.history
            }
            return try history.page(request, of: store.storeDescription)
        } catch {
            throw .failed(error)
        }
    }

    func pinSnapshot() throws(LarderError) -> Int64 {
        let state = store.records.state.withLock { state in
            state.pinned += 1
            return state
        }
        pinned = state
        return state.history.last
    }

    func unpinSnapshot() {
        guard pinned != nil else { return }
        pinned = nil
        store.records.state.withLock { $0.pinned -= 1 }
    }

    func stamp(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp? {
        store.records[\.stamp].map { ObjectStamp(slot: 0, version: $0) }
    }

    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget,
        workers: (any ReadWorkers)?
    ) throws(ReadFailure) -> any ResultCursor {
        guard let plan = plan as? FakePlan else { throw .failed(LarderError(.unsupported, "")) }
        try runIfEndless(budget)
        if let items = plan.items {
            let keys = items.keys(numbers, parameters)
            store.records.state.withLock { $0.itemsRead += keys.count }
            return FakeItemsCursor(items, keys, numbers)
        }
        switch plan.words.first {
        case "long":
            guard let time = budget.workTimeMax else { return FakeCursor(store, rowsLeft: 1) }
            let end = ContinuousClock.now.advanced(by: time)
            while ContinuousClock.now < end {}
            throw .budgetExceeded
        case "fails": throw .failed(LarderError(.storageFailed, "the disk is gone"))
        case "slow", "heavy", "endless":
            if budget.work != nil { throw .budgetExceeded }
            if plan.words.first == "endless", let cancellation = budget.cancellation {
                while !cancellation.isCancelled { poll(nil, 0, 1) }
                throw .failed(LarderError(.cancelled, "the read was cancelled"))
            }
            if plan.words.first == "slow" { store.options.slowReads?.pass() }
            return FakeCursor(store, rowsLeft: 1)
        default:
            let count = plan.words.count > 1 ? Int(plan.words[1]) : nil
            return FakeCursor(store, rowsLeft: count ?? 1)
        }
    }

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation {
        try runIfEndless(budget)
        return Explanation(
            plan: "fake", sql: "", steps: ["SCAN items", "  USE TEMP B-TREE"], warnings: [])
    }

    func migrationSummary(
        to schema: Schema, budget: ReadBudget
    ) throws(ReadFailure) -> MigrationSummary {
        MigrationSummary(
            changes: [SchemaChange("Item: changed")],
            steps: [MigrationSummary.Step("rewrites Item", rowCount: 1, isRewriting: true)],
            isAdditive: false, byteCount: 0)
    }

    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        try runIfEndless(budget)
        return CheckReport(findings: [], isTruncated: false)
    }

    func releaseMemory() {}

    func setCacheBytes(_ bytes: Int) {}

    func statistics() throws(LarderError) -> [Statistic] {
        [Statistic("objects", .int(Int64(store.records[\.numbers].count)))]
    }
}

private final class FakeCursor: ResultCursor {
    private let store: FakeStore
    private var rowsLeft: Int

    init(_ store: FakeStore, rowsLeft: Int) {
        self.store = store
        self.rowsLeft = rowsLeft
        store.records.state.withLock { state in
            state.cursorsOpen += 1
            state.cursorsOpenMost = max(state.cursorsOpenMost, state.cursorsOpen)
        }
    }

    func next(
        bytesMax: Int, budget: ReadBudget
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        store.records.state.withLock { $0.batches += 1 }
        let count = min(rowsLeft, max(1, bytesMax / 8))
        rowsLeft -= count
        let column = Column(
            name: "number", kind: .attribute(.int64),
            storage: .integers([Int64](repeating: 7, count: count)))
        return (Batch(rowCount: count, columns: [column]), rowsLeft == 0)
    }

    func close() { store.records.state.withLock { $0.cursorsOpen -= 1 } }

    let work = ReadWork()
}

private final class FakeItemsCursor: ResultCursor {
    private let items: FakeItems
    private var keys: ArraySlice<Int64>
    private let numbers: [Int64: Int64]

    init(_ items: FakeItems, _ keys: [Int64], _ numbers: [Int64: Int64]) {
        (self.items, self.keys, self.numbers) = (items, keys[...], numbers)
    }

    func next(
        bytesMax: Int, budget: ReadBudget
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        let part = keys.prefix(max(1, bytesMax / 24))
        keys = keys.dropFirst(part.count)
        return (items.batch(part, numbers), keys.isEmpty)
    }

    func close() {}

    let work = ReadWork()
}

private final class FakeWriter: StoreWriter {
    let progress = WriterProgress()
    let needsReadersToEnd = false
    let logByteCount = 0
    private let store: FakeStore
    init(_ store: FakeStore) { self.store = store }

    func save(
        _ sets: [SaveRequest], more: () -> [SaveRequest]
    ) -> [Result<SaveResult, LarderError>] {
        if let budget = sets.first?.budget,
            case .deleteAll(let selection)? = sets[0].changeSet.changes.first,
            selection.predicate == .format("endless")
        {
            return [.failure(Self.compute(within: budget))]
        }
        store.options.writes?.pass()
        let sets = store.options.takesMore ? sets + more() : sets
        return store.records.state.withLock { state in
            state.groups.append(sets.count)
            state.sources += sets.map(\.source)
            state.views += sets.map { $0.view?.storeDescription.schema.version }
            return sets.map { apply($0.changeSet, &state) }
        }
    }

    /// A delete of the objects with the predicate `endless` computes until it is stopped.
    private static func compute(within budget: ReadBudget) -> LarderError {
        while true {
            if budget.cancellation?.isCancelled == true { return LarderError(.cancelled, "") }
            if let deadline = budget.deadline, deadline < .now { return LarderError(.timeout, "") }
        }
    }

    private func apply(
        _ set: ChangeSet, _ state: inout FakeStore.Records.State
    ) -> Result<SaveResult, LarderError> {
        var result = SaveResult()
        for change in set.changes {
            guard case .insert(_, let values, _) = change, case .int(let number)? = values["number"]
            else { return .failure(LarderError(.invalidChangeSet, "only inserts here")) }
            state.lastKey += 1
            state.numbers[state.lastKey] = number
            result.inserted.append(store.identifier(state.lastKey))
        }
        if !result.inserted.isEmpty {
            let first = state.lastKey - Int64(result.inserted.count) + 1
            result.transaction = state.history.append(
                store.storeDescription.identifier, first...state.lastKey, author: set.author)
        }
        return .success(result)
    }

    func save(
        _ request: SaveRequest, reading changes: any ChangeSetReader
    ) -> Result<SaveResult, LarderError> {
        store.options.writes?.pass()
        var set = ChangeSet()
        do throws(LarderError) {
            while let part = try changes.next() {
                set.changes += part.changes
                set.author += part.author
            }
        } catch {
            return .failure(error)
        }
        return store.records.state.withLock { apply(set, &$0) }
    }

    /// Stores the rows unless one of them is negative.
    func insert(
        _ insertion: InsertionRequest, firstRow: Int64, _ rows: any RowSource
    ) -> Result<InsertedRows, LarderError> {
        store.options.writes?.pass()
        var numbers: [Int64] = []
        do throws(LarderError) {
            while let batch = try rows.next() {
                guard case .integers(let column)? = batch.columns.first?.storage else { continue }
                numbers += column
            }
        } catch {
            return .failure(error)
        }
        if let index = numbers.firstIndex(where: { $0 < 0 }) {
            let fault = ChangeViolation(
                .validationFailed, "Item.number must not be less than 0",
                change: Int(firstRow) + index)
            return .failure(LarderError(fault))
        }
        return store.records.state.withLock { state in
            state.insertions.append(numbers.count)
            state.sources.append(insertion.source)
            var result = InsertedRows(rowCount: Int64(numbers.count))
            for number in numbers {
                state.lastKey += 1
                state.numbers[state.lastKey] = number
                if insertion.insertion.wantsIdentifiers {
                    KeyRange.append(state.lastKey, to: &result.keys)
                }
            }
            if !numbers.isEmpty {
                let first = state.lastKey - Int64(numbers.count) + 1
                result.transaction = state.history.append(
                    store.storeDescription.identifier, first...state.lastKey)
            }
            return .success(result)
        }
    }

    func makeCopy(in folder: String) -> Result<any StoreCopy, LarderError> {
        .success(FakeCopy(store))
    }

    var needsMaintenance: Bool { store.options.needsMaintenance }

    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError> {
        .success(store.records.state.withLock { $0.history.end(of: deletion) })
    }

    func deleteHistory(
        upTo number: Int64, rowsMax: Int
    ) -> Result<HistoryDeletionStep, LarderError> {
        store.options.deletions?.pass()
        return .success(
            store.records.state.withLock { state in
                state.history.delete(upTo: number, rowsMax: rowsMax)
            })
    }

    func performMaintenance() {
        if needsMaintenance { store.records.state.withLock { $0.maintenances += 1 } }
    }

    func close() { store.records.state.withLock { $0.writerIsClosed = true } }
}
