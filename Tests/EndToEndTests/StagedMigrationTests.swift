import FoundationEssentials
import Glibc
import LarderClient
import Synchronization
import Testing

@Suite("A migration in stages")
struct StagedMigrationTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private let schemas: [Schema]

    private static func text(_ version: Int, _ attributes: String) -> String {
        """
        {"version": "\(version).0.0", "entities": [{"name": "Person", "attributes": [
          \(attributes)]}]}
        """
    }

    /// The name, the name beside its parts, the parts alone, and these required.
    private static let texts = [
        text(1, #"{"name": "name", "type": "string"}"#),
        text(
            2,
            #"""
            {"name": "name", "type": "string"},
            {"name": "first", "type": "string", "optional": true},
            {"name": "last", "type": "string", "optional": true}
            """#),
        text(
            3,
            #"""
            {"name": "first", "type": "string", "optional": true},
            {"name": "last", "type": "string", "optional": true}
            """#),
        text(
            4,
            #"{"name": "first", "type": "string"}, {"name": "last", "type": "string"}"#),
    ]

    init() throws {
        daemon = try TestDaemon(schema: Self.texts[0])
        client = try daemon.connect()
        schemas = try Self.texts.map { try SchemaFile.schema(parsing: $0) }
    }

    /// Splits the names, then removes them.
    private func staged(
        _ split: @escaping MigrationStage.Action = Self.split,
        before last: MigrationStage.Action? = nil
    ) throws -> StagedMigration {
        try StagedMigration([
            .custom(from: schemas[0], to: schemas[1], didMigrate: split),
            .lightweight(from: schemas[1], to: schemas[2]),
            .custom(from: schemas[2], to: schemas[3], willMigrate: last),
        ])
    }

    private static let split: MigrationStage.Action = { client in
        for person in try client.fetch("Person") {
            guard case .string(let name)? = person["name"] else { continue }
            let parts = name.split(separator: " ").map { Value.string(String($0)) }
            _ = try client.update(person.identifier, ["first": parts[0], "last": parts[1]])
        }
    }

    private func insertPeople() throws -> [PersistentIdentifier] {
        try ["Ann Lee", "Bob Ray"].map { try client.insert("Person", ["name": .string($0)]) }
    }

    @Test("a migration in stages runs its code on the objects, and takes effect at once for all")
    func split() throws {
        let people = try insertPeople()
        let other = try daemon.connect()
        let stranger = try daemon.connect(reconnectWait: .zero)
        let seen = Mutex<[ErrorCode?]>([])
        let summaries = try client.migrate(
            by: staged { client in
                // Others wait, and see nothing of it.
                let error = #expect(throws: LarderError.self) { try stranger.count("Person") }
                seen.withLock { $0.append(error?.code) }
                try Self.split(client)
            })
        let codes = seen.withLock { $0 }
        #expect(codes == [.unavailable] || codes == [.connectionFailed])
        #expect(summaries.count == 3)
        #expect(summaries[1].changes.contains { $0.description.hasPrefix("Person.name: removed") })
        for reader in [client, other] {
            #expect(try reader.count("Person") == 2)
            #expect(try reader.schema() == schemas[3])
            let ann = try #require(try reader.object(for: people[0]))
            #expect(ann["first"] == "Ann" && ann["last"] == "Lee" && ann["name"] == nil)
            #expect(ann.version == 2)
            // The saves of a stage are transactions of the history.
            #expect(try reader.history().transactions.count == 4)
            #expect(try reader.check().findings.isEmpty)
        }
        // All stages have been performed.
        #expect(try client.migrate(by: staged { _ in Issue.record("not again") }).isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: daemon.folder)
                .filter { $0.hasPrefix(".larder") }.isEmpty)
    }

    @Test("a migration of one stage without code leaves the client with the new schema")
    func oneStage() throws {
        let migration = try StagedMigration([.lightweight(from: schemas[0], to: schemas[1])])
        #expect(try client.migrate(by: migration).count == 1)
        #expect(try client.schema() == schemas[1])
    }

    @Test("a migration in stages that fails or is cancelled leaves the store unchanged")
    func failures() async throws {
        let people = try insertPeople()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try client.migrate(
                by: staged { client in
                    try Self.split(client)
                    throw Stop()
                })
        }
        // Bob has no last name in the end.
        let error = #expect(throws: LarderError.self) {
            try client.migrate(
                by: staged(
                    Self.split,
                    before: { client in
                        _ = try client.update(people[1], ["last": .null])
                    }))
        }
        #expect(error?.code == .migrationRefused, "\(error?.message ?? "")")
        #expect(error?.problems == ["\(people[1].uriRepresentation): Person.last is required"])

        let asker = client
        let migration = try staged { stage in
            while true { try stage.ping() }
        }
        let stranger = try daemon.connect(reconnectWait: .zero)
        let task = Task { try await asker.migrate(by: migration) }
        while (try? await stranger.count("Person")) != nil { await Task.yield() }
        task.cancel()
        let result = await task.result
        #expect(throws: LarderError.self) { try result.get() }

        #expect(try await asker.schema() == schemas[0])
        #expect(try await asker.object(for: people[0])?["name"] == "Ann Lee")
        #expect(try await asker.history().transactions.count == 2)
        _ = try await asker.update(people[0], ["name": "Ann Ray"])
    }

    @Test("a migration in stages is abandoned if the server is killed, and leaves no file")
    func killed() throws {
        _ = try insertPeople()
        let daemon = daemon
        #expect(throws: LarderError.self) {
            try daemon.connect(reconnectWait: .zero).migrate(
                by: staged { client in
                    try Self.split(client)
                    daemon.kill()
                    try client.ping()
                })
        }
        try daemon.start()
        #expect(try client.schema() == schemas[0])
        #expect(try client.count("Person", where: "name == 'Ann Lee'") == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: daemon.folder)
                .filter { $0.hasPrefix(".larder") }.isEmpty)
    }

    @Test("a migration in stages that several programs request runs once")
    func race() throws {
        _ = try insertPeople()
        let daemon = daemon
        let runs = Mutex(0)
        let migration = try staged { client in
            runs.withLock { $0 += 1 }
            try Self.split(client)
        }
        inThreads(6) { _ in
            let client = try daemon.connect()
            try client.migrate(by: migration)
            #expect(try client.count("Person", where: "last == 'Lee'") == 1)
        }
        #expect(runs.withLock { $0 } == 1)
    }

    @Test("a migration in stages can keep a backup of the former store")
    func backup() throws {
        _ = try insertPeople()
        let path = "\(daemon.folder)/before"
        try client.migrate(by: staged(), keepingBackupAt: path)
        let shown = try daemon.run(
            "larder", ["restore", path, "--to", "\(daemon.folder)/restored"])
        #expect(shown.status == 0, "\(shown.errors)")
        let names = try daemon.run(
            "larder",
            [
                "fetch", "Person", "--select", "name", "--store", "\(daemon.folder)/restored",
                "--output", "plain",
            ])
        #expect(names.output == "Ann Lee\nBob Ray\n")
        // An existing file ends the migration.
        let error = #expect(throws: LarderError.self) {
            try client.migrate(
                by: StagedMigration([.lightweight(from: schemas[3], to: schemas[1])]),
                keepingBackupAt: path)
        }
        #expect(error?.code == .migrationRefused || error?.code == .fileExists)
    }

    @Test("stages that do not follow each other, or not the store's schema, are refused")
    func plans() throws {
        func error(_ stages: [MigrationStage]) -> LarderError? {
            #expect(throws: LarderError.self) { try StagedMigration(stages) }
        }
        #expect(error([])?.problems == ["there is no stage"])
        let gap = error([
            .lightweight(from: schemas[0], to: schemas[1]),
            .lightweight(from: schemas[2], to: schemas[3]),
        ])
        #expect(gap?.code == .migrationRefused)
        #expect(
            gap?.problems.first?.hasPrefix("stages[1] begins with schema version 3.0.0") == true)
        let cycle = error([
            .lightweight(from: schemas[0], to: schemas[1]),
            .lightweight(from: schemas[1], to: schemas[0]),
        ])
        #expect(
            cycle?.problems.contains {
                $0.hasPrefix("stages[1] leads back to schema version 1.0.0")
                    && $0.hasSuffix("with which stages[0] begins")
            } == true)
        let later = try StagedMigration([.lightweight(from: schemas[1], to: schemas[2])])
        let unknown = #expect(throws: LarderError.self) { try client.migrate(by: later) }
        #expect(unknown?.code == .migrationRefused)
        #expect(unknown?.message.contains("which is schema version 1.0.0") == true)
    }

    @Test("a stage leads to an earlier version in a plan, and not without one")
    func earlierVersion() throws {
        let people = try insertPeople()
        try client.migrate(to: schemas[1])
        _ = try client.update(people[0], ["first": "Ann"])
        let refused = #expect(throws: LarderError.self) { try client.migrate(to: schemas[0]) }
        #expect(refused?.code == .migrationRefused)
        #expect(refused?.problems.first?.hasPrefix("version: 1.0.0 is older") == true)
        for (number, text) in Self.texts.prefix(2).enumerated() {
            try text.write(
                toFile: "\(daemon.folder)/\(number + 1).json", atomically: true, encoding: .utf8)
        }
        let plan = "\(daemon.folder)/plan.json"
        try #"{"stages": [{"from": "2.json", "to": "1.json"}]}"#.write(
            toFile: plan, atomically: true, encoding: .utf8)
        func migrate(_ arguments: [String]) throws -> (status: Int32, text: String) {
            let shown = try daemon.run(
                "larder", ["migrate", "--socket", daemon.socket] + arguments)
            return (shown.status, shown.output + shown.errors)
        }
        let alone = try migrate(["--schema", "\(daemon.folder)/1.json"])
        #expect(alone.status != 0)
        #expect(alone.text.contains("1.0.0 is older than the store's schema, 2.0.0"))
        let dry = try migrate(["--plan", plan, "--dry-run"])
        #expect(dry.status == 0, "\(dry.text)")
        #expect(dry.text.contains("from version 2.0.0 to 1.0.0"), "\(dry.text)")
        #expect(try client.schema() == schemas[1])
        let done = try migrate(["--plan", plan])
        #expect(done.status == 0, "\(done.text)")
        let former = try daemon.connect()
        #expect(try former.schema() == schemas[0])
        #expect(try former.object(for: people[0])?["name"] == "Ann Lee")
        #expect(try former.check().findings.isEmpty)
        // It goes forth again.
        try former.migrate(to: schemas[1])
        let names = try daemon.connect().fetch("Person").map { $0["first"] }
        #expect(names == [.null, .null])
    }
}
