import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import Synchronization
import TestSupport
import Testing

@testable import QueryFuzzing

/// Long reads that several connections share.
@Suite("A parallel read") struct ParallelReadTests {
    private static let schema = """
        { "version": "1.0.0", "entities": [ { "name": "Item",
          "attributes": [
            { "name": "n", "type": "int64", "optional": true },
            { "name": "real", "type": "double", "optional": true },
            { "name": "decimal", "type": "decimal", "optional": true },
            { "name": "text", "type": "string", "optional": true },
            { "name": "indexed", "type": "int64", "indexed": true } ] } ] }
        """
    private static let itemCount = 600

    /// A store whose connections read five keys at a time.
    private static func store(_ generator: inout SeededGenerator) throws -> Store {
        let inserter = try inserter(&generator)
        inserter.writer.close()
        return inserter.store
    }

    /// The writer of such a store.
    private static func inserter(_ generator: inout SeededGenerator) throws -> Inserter {
        var options = StoreOptions()
        options.parallelKeysMin = 16
        let store = try Store.inMemory(
            schema: try SchemaFile.schema(parsing: schema), options: options)
        let inserter = try Inserter(store)
        let changes = (0..<itemCount).map { number in
            Change.insert(
                PersistentIdentifier(temporary: "i\(number)", entityName: "Item"),
                values: values(number, &generator))
        }
        for result in inserter.writer.save([ChangeSet(changes)]) { _ = try result.get() }
        return inserter
    }

    private static func values(
        _ number: Int, _ generator: inout SeededGenerator
    ) -> [String: Value] {
        let integers: [Int64?] = [nil, -1, 0, 1, 7, 1 << 62]
        let reals: [Double?] = [nil, -0.0, 0, 0.1, 1e300, -1e300, 1e-300]
        let decimals = [nil, "0.1", "-3", "99999999999999999999", "0.00000000000000000001"]
        let texts = [nil, "", "a", "A", "ä", String(repeating: "b", count: 40)]
        var values: [String: Value] = ["indexed": .int(Int64(number % 9))]
        if let n = integers.randomElement(using: &generator) ?? nil { values["n"] = .int(n) }
        if let real = reals.randomElement(using: &generator) ?? nil {
            values["real"] = .double(real)
        }
        if let text = decimals.randomElement(using: &generator) ?? nil,
            let decimal = Decimal(string: text)
        {
            values["decimal"] = .decimal(decimal)
        }
        if let text = texts.randomElement(using: &generator) ?? nil {
            values["text"] = .string(text)
        }
        return values
    }

    /// The rows of a query, or its error.
    private static func rows(
        _ query: Query, _ store: Store, _ workers: WorkerThreads? = nil,
        _ parameters: QueryParameters = QueryParameters(), budget: ReadBudget = ReadBudget()
    ) throws -> Result<[Batch], LarderError> {
        let plan = try store.plan(query, parameters)
        let reader = try store.makeReader()
        do throws(ReadFailure) {
            let cursor = try reader.open(plan, parameters, budget: budget, workers: workers)
            defer { cursor.close() }
            var batches: [Batch] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: 1 << 20, budget: budget)
                batches.append(batch)
                if isLast { return .success(batches) }
            }
        } catch {
            return .failure(error.larderError)
        }
    }

    /// Inserts one item at a time, from any thread.
    ///
    /// Sendable unchecked: the writer is used under the lock.
    private final class Inserter: @unchecked Sendable {
        let store: Store
        let writer: any StoreWriter
        private let isSaving = Mutex(())

        init(_ store: Store) throws {
            self.store = store
            writer = try store.makeWriter()
        }

        func insert() {
            isSaving.withLock { _ in
                let item = PersistentIdentifier(temporary: "new", entityName: "Item")
                let insert = Change.insert(item, values: ["indexed": .int(1)])
                _ = writer.save([ChangeSet([insert])])
            }
        }
    }

    // MARK: The same rows

    private static let predicates: [QueryTerm?] =
        [nil]
        + [
            "n > 0", "text CONTAINS 'a' OR real < 1", "decimal == nil", "n == 12345",
            "real * 2 > 0 AND text != nil", "indexed == 3",
        ].map { .format($0) }
    private static let aggregates: [Aggregate.Column] = [
        .count, .init(.count, "text"), .init(.sum, "n * 0 + indexed", name: "computed"),
        .init(.sum, "real"), .init(.average, "real"), .init(.sum, "decimal"),
        .init(.average, "decimal"), .init(.average, "n"), .init(.minimum, "n"),
        .init(.maximum, "n"), .init(.minimum, "real"), .init(.maximum, "real"),
        .init(.countDistinct, "text"), .init(.median, "n"), .init(.sum, "indexed"),
    ]
    private static let keys: [[QueryColumn]] = [
        [], ["n"], ["text"], ["real"], ["text", "n"], ["n", "real", "text"], ["indexed"],
    ]

    @Test("aggregates have the same values as in a read by one connection")
    func aggregates() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let store = try Self.store(&generator)
        let workers = try WorkerThreads(3, of: store)
        for number in 0..<150 {
            let count = Int.random(in: 1...4, using: &generator)
            let columns = Self.aggregates.shuffled(using: &generator).prefix(count)
            let having: [QueryTerm?] =
                columns.contains(.count) ? [nil, .format("count > 40")] : [nil]
            let query = Query.aggregate(
                Aggregate(
                    "Item", where: Self.predicates.randomElement(using: &generator) ?? nil,
                    groupBy: Self.keys.randomElement(using: &generator) ?? [], Array(columns),
                    having: having.randomElement(using: &generator) ?? nil))
            var parameters = QueryParameters()
            if number % 5 == 0 { parameters.limit = 3 }
            let alone = try Self.rows(query, store, nil, parameters)
            let together = try Self.rows(query, store, workers, parameters)
            #expect(together == alone, "seed \(seed), \(query)")
        }
        #expect(workers.endedCount > 0)
    }

    @Test("a count, a filter and the first objects of an order are the same")
    func objects() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let store = try Self.store(&generator)
        let workers = try WorkerThreads(3, of: store)
        let orders: [[SortKey]] = [
            [], [SortKey("real")], [SortKey("text", descending: true), SortKey("n")],
            [SortKey("indexed")],
        ]
        for _ in 0..<150 {
            let predicate = Self.predicates.randomElement(using: &generator) ?? nil
            var parameters = QueryParameters()
            var query = Query.count(entityName: "Item", predicate: predicate)
            if Bool.random(using: &generator) {
                let order = orders.randomElement(using: &generator) ?? []
                query = .fetch(Fetch("Item", where: predicate, sort: order))
                parameters.limit = [nil, 0, 1, 10, 700].randomElement(using: &generator) ?? nil
                parameters.offset = [nil, 0, 5].randomElement(using: &generator) ?? nil
            }
            let alone = try Self.rows(query, store, nil, parameters)
            let together = try Self.rows(query, store, workers, parameters)
            #expect(together == alone, "seed \(seed), \(query), \(parameters)")
        }
        #expect(workers.endedCount > 0)
    }

    // MARK: Who takes part

    @Test("the connections read each row once")
    func partsAreDisjoint() throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Self.store(&generator)
        let workers = try WorkerThreads(3, of: store)
        // The index has one of the two.
        let query = Query.aggregate(
            Aggregate(
                "Item", where: .format("indexed * 1 < 5 AND (n == nil OR n != nil)"), [.count]))
        for _ in 0..<50 {
            let batches = try Self.rows(query, store, workers).get()
            #expect(batches[0].columns[0].storage == .integers([335]))
        }
        #expect(workers.endedCount == 150)
    }

    @Test("a connection that begins after a commit takes no part, and the read sees one state")
    func laterSnapshot() throws {
        var generator = SeededGenerator(seed: 2)
        let inserter = try Self.inserter(&generator)
        let store = inserter.store
        defer { inserter.writer.close() }
        let workers = try WorkerThreads(3, of: store) { inserter.insert() }
        let query = Query.aggregate(
            Aggregate("Item", where: .format("n == nil OR n != nil"), [.count]))
        for round in 0..<20 {
            let count = Int64(Self.itemCount + 3 * round)
            let batches = try Self.rows(query, store, workers).get()
            #expect(batches[0].columns[0].storage == .integers([count]))
        }
        #expect(workers.endedCount == 60)
    }

    @Test("only queries that read all rows of a table are divided")
    func divided() throws {
        var generator = SeededGenerator(seed: 3)
        let store = try Self.store(&generator)
        let alone: [Query] = [
            .count(entityName: "Item", predicate: nil),
            .count(entityName: "Item", predicate: .format("indexed == 3")), .fetch(Fetch("Item")),
            .fetch(Fetch("Item", sort: [SortKey("real")])),
            .aggregate(Aggregate("Item", groupBy: ["indexed"], [.count])),
            .aggregate(Aggregate("Item", [.init(.median, "n")])),
            .aggregate(Aggregate("Item", [.init(.maximum, "indexed")])),
        ]
        for query in alone {
            let workers = try WorkerThreads(1, of: store)
            _ = try Self.rows(query, store, workers).get()
            #expect(workers.endedCount == 0, "\(query)")
        }
        let shared: [Query] = [
            .count(entityName: "Item", predicate: .format("n == 3")),
            .fetch(Fetch("Item", where: .format("real > 1"))),
            .aggregate(Aggregate("Item", groupBy: ["n"], [.init(.sum, "real")])),
            .aggregate(Aggregate("Item", [.init(.maximum, "real")])),
        ]
        for query in shared {
            let workers = try WorkerThreads(1, of: store)
            _ = try Self.rows(query, store, workers).get()
            #expect(workers.endedCount == 1, "\(query)")
        }
    }

    // MARK: Errors

    @Test("an error in a part is the error of the read")
    func failure() throws {
        var generator = SeededGenerator(seed: 4)
        let store = try Self.store(&generator)
        let workers = try WorkerThreads(3, of: store)
        let query = Query.count(
            entityName: "Item", predicate: .format("text MATCHES '(b|bb)+[cd]'"))
        let alone = try Self.rows(query, store)
        #expect(throws: LarderError.self) { try alone.get() }
        #expect(try Self.rows(query, store, workers) == alone)
        let sum = Query.aggregate(Aggregate("Item", [.init(.sum, "n")]))
        #expect(try Self.rows(sum, store, workers) == Self.rows(sum, store))
    }

    @Test("a cancelled read ends in all of its parts")
    func cancellation() throws {
        var generator = SeededGenerator(seed: 5)
        let store = try Self.store(&generator)
        let cancellation = ReadCancellation()
        let workers = try WorkerThreads(2, of: store) { cancellation.cancel() }
        let query = Query.count(entityName: "Item", predicate: .format("text LIKE '*a*' OR n != 3"))
        for _ in 0..<20 {
            let budget = ReadBudget(cancellation: cancellation)
            let result = try Self.rows(query, store, workers, budget: budget)
            if case .failure(let error) = result { #expect(error.code == .cancelled) }
        }
        #expect(workers.endedCount == 40)
        #expect(cancellation.isCancelled)
    }

    @Test("groups that do not fit into memory are found by sorting")
    func tooManyGroups() throws {
        var options = StoreOptions()
        options.parallelKeysMin = 16
        let store = try Store.inMemory(
            schema: try SchemaFile.schema(parsing: Self.schema), options: options)
        let writer = try store.makeWriter()
        defer { writer.close() }
        for part in 0..<24 {
            let item = PersistentIdentifier(temporary: "i", entityName: "Item")
            let text = String(repeating: "x", count: 1 << 20) + String(part)
            let set = ChangeSet([
                .insert(item, values: ["indexed": .int(1), "text": .string(text)])
            ])
            for result in writer.save([set]) { _ = try result.get() }
        }
        let workers = try WorkerThreads(2, of: store)
        let query = Query.aggregate(
            Aggregate("Item", groupBy: ["text"], [.init(.sum, "indexed", name: "sum")]))
        let rows = try Self.rows(query, store, workers).get()
        #expect(rows.reduce(0) { $0 + $1.rowCount } == 24)
    }
}
