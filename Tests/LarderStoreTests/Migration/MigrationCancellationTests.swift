import LarderModel
import LarderQuery
import Synchronization
import Testing

@testable import LarderStore

@Suite("A migration that is stopped")
struct MigrationCancellationTests {
    private let folder: MemoryFolder
    private let store: Store

    private static func schema(_ version: Int, _ type: String) throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                {"version": "\(version).0.0", "entities": [{"name": "Book", "attributes": [
                  {"name": "pages", "type": "\(type)"}, {"name": "title", "type": "string",
                   "indexed": \(version > 1)}]}]}
                """)
    }

    init() throws {
        folder = try MemoryFolder()
        store = try Store.open(path: folder.storePath, schema: Self.schema(1, "int64"))
        let writer = try store.makeWriter()
        let books = (0..<2_000).map { number in
            Change.insert(
                .new("b\(number)", "Book"),
                values: ["pages": .int(Int64(number)), "title": .string("Book \(number)")])
        }
        _ = try #require(writer.save([ChangeSet(books)]).first).get()
        writer.close()
        try store.prepareToReopen()
    }

    /// Checks that the store can be opened as it was.
    private func expectUnchanged(_ comment: Comment) throws {
        let reopened = try store.reopened(.none) { _ in }
        #expect(reopened.storeDescription.schema.version == "1.0.0", comment)
        let plan = try reopened.plan(.count(entityName: "Book", predicate: nil), QueryParameters())
        let cursor = try reopened.makeReader().open(plan, QueryParameters(), budget: ReadBudget())
        defer { cursor.close() }
        let (batch, _) = try cursor.next(bytesMax: 1_000, budget: ReadBudget())
        #expect(batch.columns.first?.storage == .integers([2_000]), comment)
        try store.prepareToReopen()
    }

    private func error(of body: () throws -> Void) -> LarderError? {
        do { try body() } catch { return error as? LarderError }
        return nil
    }

    @Test("a migration stopped before any of its steps changes nothing; its commit is not stopped")
    func steps() throws {
        let new = try Self.schema(2, "string")
        for step in 0... {
            let cancellation = ReadCancellation()
            let passed = Mutex(0)
            if step == 0 { cancellation.cancel() }
            let name = Mutex("")
            let failure = error {
                _ = try store.reopened(.migration(new, stoppedBy: cancellation)) { progress in
                    let count = passed.withLock { passed in
                        passed += 1
                        return passed
                    }
                    guard count == step else { return }
                    name.withLock { $0 = progress.step }
                    cancellation.cancel()
                }
            }
            guard let failure else {
                #expect(name.withLock { $0 } == "commits" && step > 2)
                return
            }
            #expect(failure.code == .cancelled, "step \(step): \(failure)")
            try expectUnchanged("step \(step)")
        }
    }

    @Test("a stopped migration on a working copy leaves the store as it was")
    func workingCopy() throws {
        let stopped = ReadCancellation()
        stopped.cancel()
        #expect(error { _ = try store.makeWorkingCopy(stoppedBy: stopped) }?.code == .cancelled)
        try expectUnchanged("no copy was made")
        let copy = try store.makeWorkingCopy(stoppedBy: ReadCancellation())
        let migrated = try copy.reopened(
            .migration(Self.schema(2, "string"), stoppedBy: ReadCancellation())
        ) { _ in }
        let failure = error {
            _ = try store.reopened(.contents(of: migrated, stoppedBy: stopped)) { _ in }
        }
        #expect(failure?.code == .cancelled)
        try expectUnchanged("the copy was not stored")
    }
}
