import Glibc
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A copy of a store")
struct StoreCopyTests {
    private let fixture: CopyFixture

    init() throws { fixture = try CopyFixture() }

    private var library: Library { fixture.library }

    @Test("a copy of a store has the state of its last step")
    func lastStep() throws {
        let copy = try fixture.copy()
        var number = 0
        let steps = try fixture.complete(copy) {
            number += 1
            try fixture.save([
                fixture.insert("during \(number)"),
                .update(
                    library.identifier("Category", 1), ifVersion: nil,
                    values: ["name": .string("u \(number)")]),
            ])
        }
        #expect(steps > 3 && number == steps - 1)
        let last = try #require(try library.readConnection.integer(Layout.lastTransaction))
        try fixture.save([fixture.insert("after")])
        #expect(try copy.verify(budget: ReadBudget()) == last)
        try fixture.write(copy, to: fixture.path("backup"))
        let restored = try Store.restore(
            fixture.path("backup"), to: fixture.path("restored"))
        #expect(restored.lastTransaction == last)
        let store = try Store.open(path: fixture.path("restored"), schema: nil)
        let connection = try store.openReadConnection()
        #expect(
            try connection.integer("SELECT count(*) FROM Category") == Int64(2_000 + number))
        let name = try connection.prepare("SELECT name FROM Category WHERE _id = 1")
        #expect(try name.step() && name.string(at: 0) == "u \(number)")
    }

    @Test("a copy of a store is completed in few steps more despite failed saves and checkpoints")
    func noRestart() throws {
        let alone = try fixture.complete(try fixture.copy())
        let copy = try fixture.copy()
        var number = 0
        let steps = try fixture.complete(copy) {
            number += 1
            // Each fails after it has changed pages: in a group of its own, after another, and as
            // rows of a stream.
            let failing = ChangeSet([
                fixture.insert("twice \(number)"), fixture.insert("name 7"),
            ])
            let good = ChangeSet([fixture.insert("good \(number)")])
            #expect(library.writer.save([failing]).map(\.isSuccess) == [false])
            #expect(
                library.writer.save([failing, good, failing]).map(\.isSuccess)
                    == [false, true, false])
            #expect(!insertTwice("row \(number)").isSuccess)
            let connection = try #require(library.writer.statements?.connection)
            #expect(connection.autocommit)
            try connection.checkpoint([.passive, .restart, .truncate][number % 3])
        }
        // The store grows by the good saves only.
        #expect(steps <= alone * 2 + 10, "\(steps) steps instead of \(alone)")
        _ = try copy.verify(budget: ReadBudget())
        #expect(try library.count("Category") == 2_000 + number)
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    private func insertTwice(_ name: String) -> Result<InsertedRows, LarderError> {
        let length = UInt32(name.utf8.count)
        let column = Column(
            name: "name", kind: .attribute(.string),
            storage: .bytes(heap: Array("\(name)\(name)".utf8), ends: [length, 2 * length]))
        return library.writer.insert(
            InsertionRequest(Insertion("Category")), firstRow: 0,
            OneBatch(Batch(rowCount: 2, columns: [column])))
    }

    @Test("a copy of a store does not keep the log from being checkpointed")
    func log() throws {
        let copy = try fixture.copy()
        _ = try copy.step(timeMax: .zero)
        let connection = try #require(library.writer.statements?.connection)
        try fixture.save([fixture.insert("new")])
        try connection.checkpoint(.truncate)
        #expect(library.store.logByteCount == 0)
        try fixture.complete(copy)
        _ = try copy.verify(budget: ReadBudget())
    }

    @Test("a copy of a store leaves no file in its folder, at any time")
    func noName() throws {
        let before = fixture.files
        let copy = try fixture.copy()
        #expect(fixture.files == before)
        try fixture.complete(copy)
        _ = try copy.verify(budget: ReadBudget())
        #expect(fixture.files == before)
        let abandoned = try fixture.copy()
        _ = try abandoned.step(timeMax: .zero)
        abandoned.cancel()
        #expect(library.writer.statements?.connection.isBeingCopied == false)
        #expect(fixture.files == before)
    }

    @Test("a copy fails if the writer's connection is replaced, and another copy succeeds")
    func replacedConnection() throws {
        let copy = try fixture.copy()
        _ = try copy.step(timeMax: .zero)
        library.writer.recordFailure(SQLError(.inputOutput, "disk I/O error"))
        try fixture.save([fixture.insert("new")])
        let error = #expect(throws: LarderError.self) { try copy.step(timeMax: .zero) }
        #expect(error?.code == .unavailable)
        copy.cancel()
        let second = try fixture.copy()
        try fixture.complete(second)
        _ = try second.verify(budget: ReadBudget())
    }

    @Test("a copy of a store with a damaged object is refused, with the findings")
    func damagedStore() throws {
        let connection = try #require(library.writer.statements?.connection)
        try connection.execute("UPDATE Category SET _version = 0 WHERE _id = 3")
        let copy = try fixture.copy()
        try fixture.complete(copy)
        let error = #expect(throws: LarderError.self) {
            try copy.verify(budget: ReadBudget())
        }
        #expect(error?.code == .storageFailed)
        let uri = library.identifier("Category", 3).uriRepresentation
        #expect(error?.problems == ["Category: \(uri): its version is not positive"])
    }

    @Test("a copy of a store is verified within its budget")
    func budget() throws {
        let copy = try fixture.copy()
        try fixture.complete(copy)
        let error = #expect(throws: LarderError.self) {
            try copy.verify(budget: ReadBudget(deadline: .now))
        }
        #expect(error?.code == .timeout)
    }

    @Test("a copy of a store in a folder that does not exist is refused")
    func missingFolder() throws {
        let error = #expect(throws: LarderError.self) {
            try library.writer.makeCopy(in: fixture.path("missing")).get()
        }
        #expect(error?.code == .storageFailed)
    }

    @Test("a copy of a store without a writer is complete")
    func withoutWriter() throws {
        let copy = try library.store.makeCopy(in: fixture.folder.path)
        try fixture.complete(copy)
        #expect(try copy.verify(budget: ReadBudget()) == 4)
    }
}

private final class OneBatch: RowSource {
    private var batch: Batch?

    init(_ batch: Batch) { self.batch = batch }

    func next() -> Batch? {
        defer { batch = nil }
        return batch
    }
}

extension Result {
    fileprivate var isSuccess: Bool { (try? get()) != nil }
}
