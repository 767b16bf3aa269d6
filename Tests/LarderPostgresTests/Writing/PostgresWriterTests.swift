#if PostgreSQL
import Foundation
import LarderModel
import LarderQuery
import QueryScripts
import Synchronization
import Testing

@testable import LarderPostgres
@testable import LarderSQL

@Suite(
    "Writing to PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresWriterTests {
    private static func counters() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "Counter", "history": "values", "attributes": [
                    { "name": "name", "type": "string", "unique": true },
                    { "name": "number", "type": "int64", "default": 0 } ],
                    "relationships": [
                      { "name": "marks", "destination": "Mark", "toMany": true, "ordered": true,
                        "inverse": "counter", "deleteRule": "cascade" } ] },
                  { "name": "Mark", "relationships": [
                    { "name": "counter", "destination": "Counter", "inverse": "marks",
                      "optional": false } ] } ] }
                """)
    }

    private static func counter(_ name: String) -> Change {
        .insert(.new("c", "Counter"), values: ["name": .string(name)])
    }

    private static let increment = Change.updateAll(
        ObjectSelection("Counter"), set: [PropertyAssignment("number", .format("number + 1"))])

    private static func failure(_ outcome: Result<SaveResult, LarderError>) -> ErrorCode? {
        if case .failure(let error) = outcome { error.code } else { nil }
    }

    // MARK: - Several writers

    @Test("Two writers at once lose no update, share no identifier, and leave no number out")
    func twoWriters() throws {
        let first = try PostgresLibrary(Self.counters())
        let second = try PostgresLibrary(nil, named: first.name)
        let counter = try first.storeWriter.save([ChangeSet([Self.counter("a")])])[0].get()
            .inserted[0]
        let saves = 40
        let successes = Mutex<[SaveResult]>([])
        let errors = Mutex<[LarderError]>([])
        let writers = [first, second].map { Writer(writer: $0.storeWriter) }
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for _ in 0..<saves {
                let set = ChangeSet([
                    Self.increment,
                    .insert(.new("m", "Mark"), values: ["counter": .object(counter)]),
                ])
                for outcome in writers[index].writer.save([set, set]) {
                    switch outcome {
                    case .success(let result): successes.withLock { $0.append(result) }
                    case .failure(let error): errors.withLock { $0.append(error) }
                    }
                }
            }
        }
        let results = successes.withLock { $0 }
        // A set that conflicts too often is refused, and changes nothing.
        #expect(errors.withLock { $0.allSatisfy { $0.code == .unavailable } })
        #expect(results.count > saves)
        #expect(
            try first.rows("SELECT number FROM \(name: "Counter")")
                == [[.integer(Int64(results.count))]])
        let numbers = try first.rows(
            "SELECT number FROM \(name: Layout.transactionTable) ORDER BY 1")
        #expect(numbers.compactMap { $0[0].int64 } == Array(1...Int64(results.count + 1)))
        #expect(results.compactMap(\.transaction).sorted() == Array(2...Int64(results.count + 1)))
        let marks = results.flatMap(\.inserted)
        #expect(Set(marks).count == results.count)
        // The values before each transaction have its number.
        let former = try first.rows(
            """
            SELECT transaction_number, value FROM \(name: Layout.preservedTable) \
            WHERE property = 'number' ORDER BY 1
            """)
        let expected: [[SQLValue]] = (0..<results.count).map { index in
            [.integer(Int64(index + 2)), .text(String(index))]
        }
        #expect(former == expected)
        let positions = try first.rows(
            "SELECT \(name: "_position.counter") FROM \(name: "Mark") ORDER BY 1")
        #expect(Set(positions).count == results.count)
    }

    @Test("Two writers at once store each outcome of one user once, with the number of its save")
    func outcomes() throws {
        let first = try PostgresLibrary(Self.counters())
        let second = try PostgresLibrary(nil, named: first.name)
        let writers = [first, second].map { Writer(writer: $0.storeWriter) }
        let requests = (0..<40).map { number in
            SaveRequest(
                ChangeSet([Self.counter("c\(number)")], idempotencyKey: "k\(number)"), digest: 1)
        }
        let saved = Mutex<[Int: SaveResult]>([:])
        let errors = Mutex<[LarderError]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            // Both repeat some saves of the other one.
            for number in (0..<30).map({ index == 0 ? $0 : 39 - $0 }) {
                switch writers[index].writer.save([requests[number]])[0] {
                case .success(let result):
                    let former = saved.withLock { $0.updateValue(result, forKey: number) }
                    #expect(former == nil || former == result)
                case .failure(let error): errors.withLock { $0.append(error) }
                }
            }
        }
        #expect(errors.withLock { $0.allSatisfy { $0.code == .unavailable } })
        let results = saved.withLock { $0 }
        #expect(results.count > 20)
        for (number, result) in results {
            #expect(try second.storeWriter.save([requests[number]])[0].get() == result)
        }
        #expect(
            try first.rows("SELECT count(*) FROM \(name: "Counter")")
                == [[.integer(Int64(results.count))]])
        #expect(Set(results.values.compactMap(\.transaction)) == Set(1...Int64(results.count)))
    }

    /// Safe to share: each is used by one thread.
    private struct Writer: @unchecked Sendable {
        let writer: any StoreWriter
    }

    @Test("A value that another writer has made unique is found, and its object updated")
    func duplicates() throws {
        let first = try PostgresLibrary(Self.counters())
        let second = try PostgresLibrary(nil, named: first.name)
        let inserted = try first.storeWriter.save([ChangeSet([Self.counter("a")])])[0].get()
        let outcomes = second.storeWriter.save([
            ChangeSet([Self.counter("a")]), ChangeSet([Self.counter("b")]),
            ChangeSet([Self.counter("a")], onUniqueConflict: .upsert),
        ])
        #expect(outcomes.map(Self.failure) == [.uniquenessViolated, nil, nil])
        #expect(try outcomes[2].get().inserted == inserted.inserted)
        // An object with a greater key than those that this writer takes is not one of its own.
        let upserted = try outcomes[1].get().inserted[0]
        #expect((upserted.permanentKey ?? 0) > 100)
        let update = Change.update(upserted, ifVersion: 1, values: ["number": .int(3)])
        #expect(
            try first.storeWriter.save([ChangeSet([update])])[0].get().updatedVersions == [2])
        let run = HistoryRun(.updated, "Counter", 101...101, properties: ["number"])
        #expect(try first.runs(of: 4) == [run])
    }

    @Test("A save with an idempotency key is done once, whichever writer repeats it")
    func idempotency() throws {
        let first = try PostgresLibrary(Self.counters())
        let second = try PostgresLibrary(nil, named: first.name)
        let set = ChangeSet([Self.counter("a")], idempotencyKey: "k")
        let requests = [SaveRequest(set, digest: 1), SaveRequest(set, digest: 1)]
        let results = try first.storeWriter.save(requests).map { try $0.get() }
        #expect(results[0] == results[1])
        #expect(results[0].transaction == 1)
        #expect(try second.storeWriter.save([requests[0]])[0].get() == results[0])
        let other = second.storeWriter.save([SaveRequest(set, digest: 2)])[0]
        #expect(Self.failure(other) == .idempotencyMismatch)
        #expect(try first.rows("SELECT count(*) FROM \(name: "Counter")") == [[.integer(1)]])
    }

    @Test("A set whose object another transaction has changed meanwhile runs again")
    func conflict() throws {
        let library = try PostgresLibrary(Self.counters())
        _ = library.storeWriter.save([ChangeSet([Self.counter("a")])])
        let other = try PostgresServer.connection()
        try other.run("SET search_path = \(library.name), pg_catalog")
        var hasChanged = false
        let outcomes = library.storeWriter.save([SaveRequest(ChangeSet([Self.increment]))]) {
            // The first run has its snapshot.
            if !hasChanged { _ = try? other.run("UPDATE \"Counter\" SET number = 10") }
            hasChanged = true
            return []
        }
        #expect(outcomes.compactMap { try? $0.get().transaction } == [2])
        #expect(try library.rows("SELECT number FROM \(name: "Counter")") == [[.integer(11)]])
        #expect(
            try library.rows("SELECT value FROM \(name: Layout.preservedTable)")
                == [[.text("10")]])
    }

    @Test("A group of which one set conflicts each time saves the others alone")
    func divided() throws {
        let library = try PostgresLibrary(Self.counters())
        _ = library.storeWriter.save([ChangeSet([Self.counter("a")])])
        let other = try PostgresServer.connection()
        try other.run("SET search_path = \(library.name), pg_catalog")
        var count = 0
        let sets = [ChangeSet([Self.counter("b")]), ChangeSet([Self.increment])]
        let outcomes = library.storeWriter.save(sets.map { SaveRequest($0) }) {
            count += 1
            _ = try? other.run("UPDATE \"Counter\" SET number = number + 10")
            return []
        }
        #expect(count == PostgresWriter.attemptsMax)
        #expect(outcomes.compactMap { try? $0.get().transaction } == [2, 3])
        #expect(
            try library.rows("SELECT number FROM \(name: "Counter") ORDER BY 1")
                == [[.integer(1)], [.integer(Int64(10 * count + 1))]])
    }

    // MARK: - One writer

    @Test("A text with U+0000 is an error of its set alone")
    func zero() throws {
        let library = try PostgresLibrary(Self.counters())
        let outcomes = library.storeWriter.save([
            ChangeSet([Self.counter("a")]), ChangeSet([Self.counter("b\0c")]),
            ChangeSet([Self.counter("d")]),
        ])
        #expect(outcomes.map(Self.failure) == [nil, .unsupported, nil])
        #expect(outcomes.compactMap { try? $0.get().transaction } == [1, 2])
    }

    @Test("A set that its budget stops changes nothing, and the others are saved")
    func stopped() throws {
        let library = try PostgresLibrary(Self.counters())
        let cancellation = ReadCancellation()
        cancellation.cancel()
        let outcomes = library.storeWriter.save([
            SaveRequest(ChangeSet([Self.counter("a")])),
            SaveRequest(
                ChangeSet([Self.counter("b")]), budget: ReadBudget(cancellation: cancellation)),
            SaveRequest(ChangeSet([Self.increment]), budget: ReadBudget(deadline: .now)),
        ])
        #expect(outcomes.map(Self.failure) == [nil, .cancelled, .timeout])
        #expect(try library.rows("SELECT count(*) FROM \(name: "Counter")") == [[.integer(1)]])
    }

    @Test("Derived values that overflow are errors of their set, all of them as in SQLite")
    func overflow() throws {
        let stores = try PairedStores(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [
                      { "name": "A", "attributes": [
                        { "name": "b", "type": "int64" },
                        { "name": "c", "type": "int64", "derived": "b + 1" },
                        { "name": "d", "type": "int64", "derived": "parts.@sum.b" } ],
                        "relationships": [
                          { "name": "parts", "destination": "A", "toMany": true } ] } ] }
                    """))
        func insert(_ numbers: Int64..., sum: Bool = false) -> ChangeSet {
            let new = numbers.indices.map { PersistentIdentifier.new("\($0)", "A") }
            return ChangeSet(
                zip(new, numbers).map { object, number in
                    let parts = sum ? new : []
                    return .insert(object, values: ["b": .int(number), "parts": .objects(parts)])
                })
        }
        let outcomes = stores.save(
            insert(1), insert(.max), insert(.max - 1, .max - 2, sum: true), insert(2))
        let codes: [[ErrorCode]] = outcomes.postgres.map { outcome in
            if case .failure(let error) = outcome { error.details.map(\.code) } else { [] }
        }
        #expect(
            codes == [[], [.missingValue], [.arithmeticOverflow, .arithmeticOverflow], []])
        for (first, second) in zip(outcomes.sqlite, outcomes.postgres) {
            guard case (.failure(let first), .failure(let second)) = (first, second) else {
                #expect(first == second)
                continue
            }
            #expect(first.details.map(\.code) == second.details.map(\.code))
            #expect(first.details.map(\.propertyNames) == second.details.map(\.propertyNames))
        }
        #expect(try stores.differences() == [])
    }

    @Test("A set in parts, and a stream of rows, have the effects of a set")
    func streams() throws {
        let library = try PostgresLibrary(Self.counters())
        let changes = (0..<250).map { number in
            Change.insert(.new("\(number)", "Counter"), values: ["name": .string("c\(number)")])
        }
        let saved = try library.storeWriter.save(
            SaveRequest(ChangeSet()), reading: Parts(changes, 100)
        ).get()
        #expect(saved.inserted.count == 250)
        #expect(saved.transaction == 1)
        let batch = { (names: [String]) in
            var column = Column(name: "name", kind: .attribute(.string))
            for name in names { column.append(bytes: name.utf8) }
            return Batch(rowCount: names.count, columns: [column])
        }
        let inserted = try library.storeWriter.insert(
            InsertionRequest(Insertion("Counter", isAtomic: true, wantsIdentifiers: true)),
            firstRow: 0, Rows([batch(["x", "y"]), batch(["z"])])
        ).get()
        #expect(inserted.rowCount == 3)
        #expect(inserted.transaction == 2)
        #expect(inserted.keys == [KeyRange(first: 251, count: 3)])
        let refused = library.storeWriter.insert(
            InsertionRequest(Insertion("Counter", isAtomic: true)), firstRow: 0,
            Rows([batch(["new"]), batch(["x"])]))
        guard case .failure(let error) = refused else {
            Issue.record("a value was stored twice")
            return
        }
        #expect(error.code == .uniquenessViolated)
        #expect(error.details.first?.change == 1)
        #expect(try library.rows("SELECT count(*) FROM \(name: "Counter")") == [[.integer(253)]])
    }

    private final class Parts: ChangeSetReader {
        private let parts: [ChangeSet]
        private var index = 0

        init(_ changes: [Change], _ count: Int) {
            parts = stride(from: 0, to: changes.count, by: count).map {
                ChangeSet(Array(changes[$0..<min($0 + count, changes.count)]))
            }
        }

        var digest: UInt64 { 1 }
        func rewind() { index = 0 }

        func next() -> ChangeSet? {
            defer { index += 1 }
            return index < parts.count ? parts[index] : nil
        }
    }

    private final class Rows: RowSource {
        private var batches: [Batch]
        init(_ batches: [Batch]) { self.batches = batches }
        func next() -> Batch? { batches.isEmpty ? nil : batches.removeFirst() }
    }
}
#endif
