import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a stream of rows")
struct InsertionTests {
    private let library: Library

    init() throws { library = try Library() }

    @Test("a stream of rows is one transaction, with one row in the history")
    func oneTransaction() throws {
        let result = try library.inserted(
            Insertion("Tag", author: "me", wantsIdentifiers: true),
            [
                library.batch("Tag", ["articles"], Array(repeating: [.objects([])], count: 700)),
                library.batch("Tag", [], []),
                library.batch("Tag", ["articles"], [[.objects([])]]),
            ])
        #expect(result.rowCount == 701 && result.keys == [KeyRange(first: 1, count: 701)])
        let history = try library.history(try #require(result.transaction))
        #expect(history.map(\.description) == ["inserted Tag 1-701"])
        #expect(try library.rows("SELECT author FROM _transaction") == [[.text("me")]])
    }

    @Test("a stream of plain rows in many batches assigns consecutive keys")
    func plainRows() throws {
        let batches = try (0..<5).map { part in
            try library.batch("Category", ["name"], (0..<300).map { [.string("\(part) \($0)")] })
        }
        let result = try library.inserted(
            Insertion("Category", wantsIdentifiers: true), batches)
        #expect(result.keys == [KeyRange(first: 1, count: 1_500)])
        #expect(try library.count("Category") == 1_500)
        let next = try library.insert("Category", ["name": "next"])
        #expect(next.permanentKey == 1_501)
    }

    @Test("an invalid row of a stream is reported by its index, and nothing is stored")
    func badRow() throws {
        let batch = try library.batch(
            "Article", ["title", "wordCount"],
            [["a", 1], ["b", 1_001], [nil, 5], ["d", 1_000]])
        let error = try library.refusal(Insertion("Article"), firstRow: 70_000, [batch])
        #expect(error.code == .validationFailed)
        #expect(error.details.map(\.change) == [70_001, 70_002])
        #expect(error.details.map(\.propertyNames) == [["wordCount"], ["title"]])
        #expect(error.problems.first?.hasPrefix("rows[70001]: Article.wordCount") == true)
        #expect(error.message.hasSuffix("and the stream has 1 other error"))
    }

    @Test("the errors of one batch of a stream are reported, and later batches are not checked")
    func firstBadBatch() throws {
        let good = try library.batch("Category", ["name"], [["a"], ["b"]])
        let bad = try library.batch("Category", ["name"], [["c"], [nil], [nil]])
        let rows = Batches([good, bad, bad])
        let error = try library.refusal(Insertion("Category"), rows)
        #expect(error.details.map(\.change) == [3, 4])
        #expect(rows.left == 1)
    }

    @Test("a stream of rows rejects values that the store or an earlier row has already")
    func uniqueness() throws {
        let old = try library.insert("Category", ["name": "old"])
        let batches = [
            try library.batch("Category", ["name"], [["a"], ["b"]]),
            try library.batch("Category", ["name"], [["c"], ["a"], ["old"]]),
        ]
        let error = try library.refusal(Insertion("Category"), batches)
        #expect(error.code == .uniquenessViolated)
        #expect(error.details.map(\.change) == [3, 4])
        #expect(error.details.map(\.uri) == [nil, old.uriRepresentation])
        #expect(error.details.first?.message.contains("another object of the set") == true)
    }

    @Test("many rows that one statement stores are checked in their order")
    func manyRows() throws {
        let old = try library.insert("Category", ["name": "old"])
        var rows = (0..<200).map { [Value.string("c\($0)")] }
        rows[40] = ["old"]
        rows[100] = [nil]
        rows[150] = rows[20]
        rows[199] = rows[198]
        let bad = try library.batch("Category", ["name"], rows)
        let error = try library.refusal(Insertion("Category"), firstRow: 5_000, [bad])
        #expect(error.details.map(\.change) == [5_040, 5_100, 5_150, 5_199])
        #expect(error.details[0].uri == old.uriRepresentation)
        #expect(
            error.details.map(\.code) == [
                .uniquenessViolated, .missingValue, .uniquenessViolated, .uniquenessViolated,
            ])
    }

    @Test("each of many rows of a stream is appended to its ordered list")
    func manyRowsOfAList() throws {
        let library = try Library(schema: Lists.schema())
        let shelves = [try library.insert("Shelf"), try library.insert("Shelf")]
        let rows = (0..<200).map { [Value.object(shelves[$0 % 2])] }
        _ = try library.inserted(
            Insertion("Book"), [library.batch("Book", ["shelf"], rows)])
        #expect(try library.keys(shelves[0], "books") == (0..<100).map { Int64(2 * $0 + 1) })
        #expect(try library.keys(shelves[1], "books") == (1...100).map { Int64(2 * $0) })
        let positions: SQL = "SELECT count(DISTINCT \"_position.shelf\") FROM \"Book\""
        #expect(try library.rows(positions) == [[.integer(100)]])
    }

    @Test("a stream of rows finds equal combinations, which have no UNIQUE index")
    func combinations() throws {
        let shelf = Value.object(try library.insert("Collection"))
        let batch = try library.batch(
            "Article", ["title", "collection"],
            [["a", shelf], ["a", nil], ["a", nil], ["b", shelf], ["a", shelf]])
        let error = try library.refusal(Insertion("Article"), [batch])
        #expect(error.code == .uniquenessViolated && error.details.map(\.change) == [4])
    }

    @Test("a row of a stream under upsert updates the object with its unique values")
    func upsert() throws {
        let old = try library.insert("Category", ["name": "old"])
        let result = try library.inserted(
            Insertion("Category", onUniqueConflict: .upsert, wantsIdentifiers: true),
            [
                library.batch("Category", ["name"], [["new"], ["old"]]),
                library.batch("Category", ["name"], [["new"]]),
            ])
        let keys = result.identifiers(
            of: "Category", store: library.store.storeDescription.identifier)
        let found = Array(keys)
        #expect(result.rowCount == 3 && found.count == 3)
        #expect(found[1] == old && found[0] == found[2])
        #expect(try library.count("Category") == 2)
        #expect(try library.version(old) == 2)
    }

    @Test("a row of a stream to a missing object, or without a required one, is rejected")
    func destinations() throws {
        let gone = library.identifier("Category", 9)
        let missing = try library.refusal(
            Insertion("Article"),
            [
                library.batch(
                    "Article", ["title", "category"], [["a", nil], ["b", .object(gone)]])
            ])
        #expect(missing.code == .objectNotFound && missing.details.map(\.change) == [1])
        #expect(missing.uri == gone.uriRepresentation)
        let required = try library.refusal(
            Insertion("Page"), [library.batch("Page", ["number"], [[1], [2]])])
        #expect(required.code == .missingValue && required.details.first?.change == 0)
        let lists = try library.refusal(
            Insertion("Book"), [library.batch("Book", ["pages"], [[.objects([])]])])
        #expect(lists.code == .missingValue)
    }

    @Test("a column of a stream that does not match its property is rejected before any row")
    func columns() throws {
        func column(_ name: String, _ kind: Column.Kind, _ storage: Column.Storage) -> Batch {
            Batch(rowCount: 1, columns: [Column(name: name, kind: kind, storage: storage)])
        }
        func code(_ entityName: String, _ batch: Batch) throws -> ErrorCode {
            try library.refusal(Insertion(entityName), [batch]).code
        }
        let number = Column.Storage.integers([1])
        #expect(try code("Nothing", Batch(columns: [])) == .unknownEntity)
        #expect(
            try code("Category", column("nothing", .attribute(.int64), number)) == .unknownProperty)
        #expect(try code("Category", column("name", .attribute(.int64), number)) == .wrongType)
        #expect(
            try code("Article", column("category", .object(entityName: "Tag"), number))
                == .wrongType)
        #expect(
            try code("Article", column("tags", .object(entityName: "Tag"), number)) == .wrongType)
        let name = Column(
            name: "name", kind: .attribute(.string), storage: .bytes(heap: [97], ends: [1]))
        #expect(
            try code("Category", Batch(rowCount: 1, columns: [name, name])) == .malformedMessage)
        var known = try library.batch("Category", ["name"], [["a"]])
        known.identity = Batch.Identity(entityName: "Category", keys: [1], versions: [1])
        #expect(try code("Category", known) == .malformedMessage)
        // An integer of another size is accepted if it is in range.
        let small = column("small", .attribute(.int64), .integers([70_000]))
        var batch = try library.batch("Article", ["title"], [["a"]])
        batch.columns += small.columns
        #expect(try code("Article", batch) == .wrongType)
    }

    @Test("a stream of rows that fails leaves nothing, and the writer continues")
    func brokenSource() throws {
        let rows = Batches([try library.batch("Category", ["name"], [["a"]])])
        rows.failure = LarderError(.cancelled, "enough")
        #expect(try library.refusal(Insertion("Category"), rows).code == .cancelled)
        #expect(try library.insert("Category", ["name": "a"]).permanentKey == 1)
    }

    @Test("a stream of rows keeps records of a limited number of objects")
    func records() throws {
        let categories = try ["a", "b", "c"].map { name in
            Value.object(try library.insert("Category", ["name": .string(name)]))
        }
        let writer = library.writer
        func error(_ recordsMax: Int) throws -> LarderError? {
            try library.withContext { context in
                let run = ChangeSetRun(
                    context, values: writer.values, transaction: 9, time: 0)
                let article = try #require(writer.schema.number(of: "Article"))
                let insertion = try InsertionRun(
                    Insertion("Article"), into: writer.schema.entities[article], firstRow: 0,
                    run, #require(writer.statements), lastKeys: writer.lastKeys,
                    planner: writer.planner, recordsMax: recordsMax)
                try insertion.insert(
                    library.batch("Article", ["title", "category"], categories.map { ["t", $0] }))
                return context.errors.error(changeCount: 2)
            }
        }
        #expect(try error(3) == nil)
        #expect(try error(2)?.code == .resourceExhausted)
    }
}

/// Prepared batches, perhaps followed by a failure.
final class Batches: RowSource {
    private var batches: ArraySlice<Batch>
    var failure: LarderError?
    var left: Int { batches.count }

    init(_ batches: [Batch]) { self.batches = batches[...] }

    func next() throws(LarderError) -> Batch? {
        if let batch = batches.popFirst() { return batch }
        if let failure { throw failure }
        return nil
    }
}

extension Library {
    func batch(_ entityName: String, _ names: [String], _ rows: [[Value]]) throws -> Batch {
        let description = store.storeDescription
        let entity = try #require(description.schema.entity(named: entityName))
        var builder = try RowBuilder(
            entity, names, in: description.schema, store: description.identifier)
        for row in rows { try builder.append(row) }
        return builder.take()
    }

    func inserted(_ insertion: Insertion, _ batches: [Batch]) throws -> InsertedRows {
        try writer.insert(InsertionRequest(insertion), firstRow: 0, Batches(batches)).get()
    }

    func refusal(
        _ insertion: Insertion, firstRow: Int64 = 0, _ batches: [Batch]
    ) throws -> LarderError {
        try refusal(insertion, firstRow: firstRow, Batches(batches))
    }

    /// The error of a stream that must fail without changing anything.
    func refusal(
        _ insertion: Insertion, firstRow: Int64 = 0, _ rows: Batches
    ) throws -> LarderError {
        let before = try contents()
        let outcome = writer.insert(InsertionRequest(insertion), firstRow: firstRow, rows)
        #expect(try contents() == before)
        guard case .failure(let error) = outcome else {
            Issue.record("the rows were stored")
            return LarderError(.indeterminate, "")
        }
        return error
    }
}
