import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import Synchronization
import TestSupport
import Testing

@testable import LarderStore
@testable import QueryFuzzing

@Suite("A random migration")
struct MigrationPropertyTests {
    private static let keysMax: Int64 = 200

    @Test("a random migration has the objects of its model, or is refused and changes nothing")
    func model() throws {
        var random = SeededGenerator.fromEnvironment("random migrations")
        let count = RandomTesting.iterations(30)
        var (migrated, refused) = (0, 0)
        for number in 0..<count {
            var one = SeededGenerator(seed: random.next())
            do {
                if try run(&one) { migrated += 1 } else { refused += 1 }
            } catch {
                Issue.record("migration \(number), seed \(one.seed): \(error)")
                return
            }
        }
        // Migrations that all fail, or never do, would test little.
        #expect(migrated > count / 3)
        #expect(count < 100 || refused > 0)
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// - Returns: Whether the store was migrated.
    private func run(_ random: inout SeededGenerator) throws -> Bool {
        let folder = try MemoryFolder()
        let old = try RandomSchema.schema(&random)
        try insert(RandomObjects.objects(of: old, &random), old, folder.storePath)
        let before = try read(folder.storePath, old)
        var migration = RandomMigration(old, before)
        for _ in 0..<random.number(1...6) { migration.edit(&random) }
        let new: Schema
        do {
            new = try migration.schema.schema()
        } catch {
            // Edits that contradict each other, such as an index on what was removed.
            return false
        }
        let kill = random.number(0...12)
        let steps = StepCounter()
        let copy = try MemoryFolder()
        let path = folder.storePath
        let text = migration.edits.joined(separator: "; ")
        do {
            _ = try Store.open(
                path: path, schema: new, options: StoreOptions(migrates: true)
            ) { _ in
                // The files that a process which is killed now leaves behind.
                if steps.next() == kill { Self.copy(path, to: copy.storePath) }
            }
            if migration.isRefused { throw Difference(description: "not refused: \(text)") }
        } catch let error as LarderError {
            guard error.code == .migrationRefused, migration.isRefused else {
                throw Difference(description: "\(error) after: \(text)")
            }
            try expect(before, read(path, old, text), "refused: \(text)")
            return false
        }
        try expect(migration.objects, read(path, new, text), text)
        guard FileManager.default.fileExists(atPath: copy.storePath) else { return true }
        try expect(before, read(copy.storePath, old, text), "killed: \(text)")
        _ = try Store.open(
            path: copy.storePath, schema: new, options: StoreOptions(migrates: true))
        try expect(migration.objects, read(copy.storePath, new, text), "continued: \(text)")
        return true
    }

    private final class StepCounter: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    private static func copy(_ path: String, to destination: String) {
        for suffix in ["", "-wal"] {
            try? FileManager.default.copyItem(
                atPath: path + suffix, toPath: destination + suffix)
        }
    }

    private func insert(_ drafts: [DraftObject], _ schema: Schema, _ path: String) throws {
        let store = try Store.open(path: path, schema: schema)
        let writer = try store.makeWriter()
        defer { writer.close() }
        let results = writer.save([FuzzedStore.insertion(of: drafts, schema)])
        _ = try #require(results.first).get()
    }

    /// Reads and checks a store with exactly this schema.
    private func read(
        _ path: String, _ schema: Schema, _ edits: String = ""
    ) throws -> ModelObjects {
        let store = try Store.open(path: path, schema: schema)
        let reader = try store.makeReader()
        let findings = try reader.check(budget: ReadBudget()).findings
        guard findings.isEmpty else {
            throw Difference(description: "the check finds \(findings.prefix(2)) after \(edits)")
        }
        return try ModelObjects(reader, store.storeDescription, keysMax: Self.keysMax)
    }

    private func expect(
        _ expected: ModelObjects, _ found: ModelObjects, _ edits: String
    ) throws {
        guard expected != found else { return }
        let keys = Set(expected.objects.keys).union(found.objects.keys)
        let lines = keys.sorted(by: ModelObjects.Key.precedes).compactMap { key -> String? in
            let (one, two) = (expected.objects[key], found.objects[key])
            if one == two { return nil }
            return "\(key.entity) \(key.key):\n  expected \(String(describing: one))"
                + "\n  found    \(String(describing: two))"
        }
        throw Difference(
            description: "after \(edits):\n" + lines.prefix(3).joined(separator: "\n"))
    }
}
