import FoundationEssentials
import LarderClient
import Testing

@Suite("Conditions of a save, from the client")
struct ConditionTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private static let ann = Change.insert(
        PersistentIdentifier(temporary: "a", entityName: "Student"),
        values: ["name": "Ann", "birthOfYear": 2_001])

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
    }

    @Test("a change set is saved only if no object matches, or the expected number does")
    func formats() throws {
        var changes = ChangeSet([Self.ann])
        changes.unless(
            "Student", where: "name == %@ AND birthOfYear > $year", arguments: ["Ann"],
            variables: ["year": 2_000])
        _ = try client.save(changes)
        let refused = failure { _ = try client.save(changes) }
        #expect(refused?.code == .conditionFailed)
        #expect(refused?.details.map(\.condition) == [0] && refused?.details.map(\.found) == [1])
        var others = ChangeSet([Self.ann])
        others.expect(1, of: "Student", where: nil)
        others.unless("Category", where: nil)
        _ = try client.save(others)
        #expect(failure { _ = try client.save(others) }?.code == .conditionFailed)
        #expect(try client.count("Student") == 2)
    }

    @Test("a condition of a save may be a Swift predicate")
    func predicates() throws {
        let name = "c"
        let insert = Change.insert(
            PersistentIdentifier(temporary: "c", entityName: "Category"),
            values: ["name": .string(name)])
        var changes = ChangeSet([insert])
        try changes.unless(where: #Predicate<Category> { $0.name == name })
        _ = try client.save(changes)
        #expect(failure { _ = try client.save(changes) }?.code == .conditionFailed)
        var others = ChangeSet()
        try others.expect(1, where: #Predicate<Category> { $0.name == name })
        #expect(try client.save(others) == SaveResult())
    }

    @Test("only one of several clients that check and insert at the same time succeeds")
    func phantom() async throws {
        var changes = ChangeSet([Self.ann])
        changes.unless("Student", where: nil)
        let (set, daemon) = (changes, daemon)
        let saved = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let client = try daemon.connect()
                    do throws(LarderError) {
                        _ = try await client.save(set)
                        return true
                    } catch {
                        guard error.code == .conditionFailed else { throw error }
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(saved == 1)
    }
}
