import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("the budget of a write")
struct WriteBudgetTests {
    private let library: Library

    init() throws { library = try Library() }

    private func save(_ changes: [Change]) throws -> SaveResult {
        try library.writer.save([ChangeSet(changes)])[0].get()
    }

    private static func inserts(_ count: Int) -> [Change] {
        (0..<count).map { .insert(.new("t\($0)", "Tag"), values: [:]) }
    }

    private static var late: ReadBudget { ReadBudget(deadline: .now) }

    private static var cancelled: ReadBudget {
        let cancellation = ReadCancellation()
        cancellation.cancel()
        return ReadBudget(cancellation: cancellation)
    }

    private func code(_ outcome: Result<SaveResult, LarderError>?) -> ErrorCode? {
        guard case .failure(let error)? = outcome else { return nil }
        return error.code
    }

    @Test("the budget of a write stops each kind of change set, and nothing has changed")
    func kinds() throws {
        let tag = try library.insert("Tag")
        let article = try library.insert("Article", ["title": "a"])
        let document = "[\(repeatElement("1", count: 100_000).joined(separator: ","))]"
        let kinds: [[Change]] = [
            Self.inserts(1), Self.inserts(3_000),
            [.update(article, ifVersion: nil, values: ["title": "b"])],
            [.update(article, ifVersion: nil, values: ["notes": .json(document)])],
            [
                .update(
                    article, ifVersion: nil,
                    values: ["title": .string(String(repeating: "é", count: 100_000))])
            ],
            [.update(article, ifVersion: 1, values: ["tags": .objects([tag])])],
            [.delete(tag, ifVersion: nil)], [.deleteAll("Article")],
            [.updateAll("Article", set: ["small": "1"])],
        ]
        let before = try library.contents()
        for changes in kinds {
            let outcomes = library.writer.save(
                [
                    SaveRequest(ChangeSet(changes), budget: Self.late),
                    SaveRequest(ChangeSet(changes), budget: Self.cancelled),
                ], more: { [] })
            #expect(outcomes.map { code($0) } == [.timeout, .cancelled])
        }
        #expect(try library.contents() == before)
        let patient = ReadBudget(deadline: .now.advanced(by: .seconds(600)))
        let sets = kinds.suffix(2).map { SaveRequest(ChangeSet($0), budget: patient) }
        #expect(library.writer.save(sets, more: { [] }).map { code($0) } == [nil, nil])
    }

    @Test("the budget of a write stops one set of a group and keeps the others")
    func group() throws {
        let sets = [Self.late, nil, Self.cancelled, nil, Self.late].map {
            SaveRequest(ChangeSet(Self.inserts(40)), budget: $0)
        }
        let outcomes = library.writer.save(sets, more: { [] })
        #expect(outcomes.map { code($0) } == [.timeout, nil, .cancelled, nil, .timeout])
        #expect(try library.count("Tag") == 80)
        let keys = try outcomes[3].get().inserted.compactMap(\.permanentKey)
        #expect(keys == Array(41...80))
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    /// Rows for `Tag`, with a hook before each batch.
    private final class Rows: RowSource {
        private var batchesLeft: Int
        private let hook: (_ batchesLeft: Int) -> Void

        init(_ batches: Int, hook: @escaping (Int) -> Void = { _ in }) {
            batchesLeft = batches
            self.hook = hook
        }

        func next() throws(LarderError) -> Batch? {
            hook(batchesLeft)
            guard batchesLeft > 0 else { return nil }
            batchesLeft -= 1
            return Batch(rowCount: 100, columns: [])
        }
    }

    private func insert(
        _ rows: Rows, _ budget: ReadBudget?, answerBytesMax: Int? = nil
    ) -> Result<InsertedRows, LarderError> {
        library.writer.insert(
            InsertionRequest(
                Insertion("Tag", wantsIdentifiers: true), budget: budget,
                answerBytesMax: answerBytesMax), firstRow: 0, rows)
    }

    @Test("the budget of a write stops an insertion before, between and after its batches")
    func insertion() throws {
        #expect(throws: LarderError.self) { try insert(Rows(1), Self.late).get() }
        for stop in 0...3 {
            let cancellation = ReadCancellation()
            let rows = Rows(3) { if $0 == stop { cancellation.cancel() } }
            guard
                case .failure(let error) = insert(rows, ReadBudget(cancellation: cancellation))
            else {
                Issue.record("the rows were stored")
                continue
            }
            #expect(error.code == .cancelled)
        }
        #expect(try library.count("Tag") == 0)
        #expect(try insert(Rows(3), ReadBudget()).get().rowCount == 300)
        #expect(try library.count("Tag") == 300)
    }

    @Test("a write advances its progress with each part of the work")
    func progress() throws {
        let progress = library.writer.progress
        func advances(_ least: Int, _ work: () throws -> Void) rethrows {
            let before = progress.count
            try work()
            #expect(progress.count >= before + least)
        }
        // Once in 16 changes.
        try advances(31) { _ = try save(Self.inserts(500)) }
        try advances(50) { _ = try insert(Rows(50), nil).get() }
        try advances(31) { _ = try save([.deleteAll("Tag")]) }
        let large = String(repeating: "x", count: 6 << 20)
        try library.insert("Article", ["title": .string(large)])
        #expect(library.writer.needsMaintenance)
        advances(2) { library.writer.performMaintenance() }
    }

    @Test("a write whose result is longer than its reply may be is refused")
    func answers() throws {
        let set = ChangeSet(Self.inserts(100))
        let size = try library.writer.save([set])[0].get().encodedBytesMax
        for (maximum, expected) in [(size, nil), (size - 1, ErrorCode.resourceExhausted)] {
            let outcome = library.writer.save(
                [SaveRequest(set, answerBytesMax: maximum)], more: { [] })[0]
            #expect(code(outcome) == expected)
        }
        #expect(try library.count("Tag") == 200)
        #expect(throws: LarderError.answerTooLong) {
            try insert(Rows(1), nil, answerBytesMax: 10).get()
        }
        #expect(try library.count("Tag") == 200)
        #expect(try insert(Rows(1), nil, answerBytesMax: 1_000).get().rowCount == 100)
    }

    @Test("an idempotent save repeats its result in the same size")
    func repeated() throws {
        let set = SaveRequest(
            ChangeSet(Self.inserts(10), idempotencyKey: "k"), digest: 1, answerBytesMax: 1_000)
        let first = try library.writer.save([set], more: { [] })[0].get()
        let second = try library.writer.save([set], more: { [] })[0].get()
        #expect(first == second)
    }

    @Test("a long log is shortened once no reader needs it")
    func log() throws {
        let large = String(repeating: "x", count: 12 << 20)
        try library.insert("Article", ["title": "a"])
        try library.readConnection.execute("BEGIN")
        _ = try library.count("Article")
        for number in 0..<6 {
            try library.insert("Article", ["title": .string("\(number)" + large)])
            library.writer.performMaintenance()
        }
        #expect(library.writer.logByteCount > 64 << 20)
        #expect(library.writer.needsReadersToEnd)
        library.writer.performMaintenance()
        #expect(library.writer.needsReadersToEnd)
        try library.readConnection.execute("COMMIT")
        library.writer.performMaintenance()
        #expect(!library.writer.needsReadersToEnd)
        #expect(library.writer.logByteCount == 0)
    }
}
