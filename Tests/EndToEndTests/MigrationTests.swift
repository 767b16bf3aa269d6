import FoundationEssentials
import Glibc
import LarderClient
import Synchronization
import Testing

@Suite("A migration of a served store")
struct MigrationTests {
    private static let one = """
        {"version": "1.0.0", "entities": [{"name": "Book", "attributes": [
          {"name": "title", "type": "string"},
          {"name": "pages", "type": "string", "optional": true}]}]}
        """
    private static let two = """
        {"version": "2.0.0", "entities": [{"name": "Volume", "originalName": "Book", "attributes": [
          {"name": "title", "type": "string"},
          {"name": "pages", "type": "int64", "optional": true},
          {"name": "price", "type": "decimal", "default": "9.99"}]}]}
        """

    private let daemon: TestDaemon
    private let client: StoreClient
    private let schema: Schema

    init() throws {
        daemon = try TestDaemon(schema: Self.one)
        client = try daemon.connect()
        schema = try SchemaFile.schema(parsing: Self.two)
    }

    @Test("a migration gives every client the new schema, and objects keep their identifiers")
    func clients() async throws {
        let book = try await client.insert("Book", ["title": "Sea", "pages": "120"])
        let other = try daemon.connect()
        #expect(try await other.count("Book") == 1)
        let plan = try await client.migrate(to: schema, dryRun: true)
        #expect(plan.changes.contains { $0.description == "Volume: renamed from Book" })
        #expect(plan.steps.contains { $0.isRewriting && $0.rowCount == 1 })
        #expect(try await client.count("Book") == 1)

        let steps = Mutex<[String]>([])
        let summary = try await client.migrate(to: schema) { progress in
            steps.withLock { $0.append(progress.step) }
        }
        #expect(summary.changes == plan.changes)
        #expect(steps.withLock { $0 }.contains("rewrites the table of Volume"))
        // The clients go on, over new connections.
        #expect(try await other.count("Volume", where: "pages == 120") == 1)
        #expect(try await other.schema() == schema)
        let record = try #require(try await client.object(for: book))
        #expect(record.identifier.entityName == "Volume")
        #expect(record["price"] == .decimal(Decimal(string: "9.99")!))
        #expect(record.version == 1)
        #expect(try await client.check().findings.isEmpty)
        // The second request finds it done.
        #expect(try await client.migrate(to: schema).changes.isEmpty)
    }

    @Test("a refused migration changes nothing, and the store is served as before")
    func refused() async throws {
        _ = try await client.insert("Book", ["title": "Sea", "pages": "many"])
        let other = try daemon.connect()
        let error = await #expect(throws: LarderError.self) {
            try await client.migrate(to: schema)
        }
        #expect(error?.code == .migrationRefused)
        #expect(error?.problems.first?.contains("/Volume/p1: expected a whole number") == true)
        #expect(try await other.count("Book", where: "pages == \"many\"") == 1)
        _ = try await other.insert("Book", ["title": "Sky"])
        #expect(try await client.count("Book") == 2)
        let backward = try SchemaFile.schema(
            parsing: Self.two.replacing("2.0.0", with: "0.1.0"))
        let reason = await #expect(throws: LarderError.self) {
            try await client.migrate(to: backward)
        }
        #expect(reason?.problems.first?.hasPrefix("version: 0.1.0 is older") == true)
    }

    @Test("a client built for the former schema is refused after a migration, with both versions")
    func formerVersion() throws {
        _ = try client.migrate(to: schema)
        var options = StoreClient.Options()
        options.schemaVersion = "1.0.0"
        let error = #expect(throws: LarderError.self) {
            try StoreClient.connect(to: daemon.socket, options: options)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("1.0.0") == true)
        #expect(error?.message.contains("2.0.0") == true)
    }

    @Test("a migration that many clients request is done once, and no save is lost")
    func race() throws {
        let daemon = daemon
        let schema = schema
        let saved = Mutex(0)
        inThreads(12) { number in
            let client = try daemon.connect()
            if number < 6 {
                // Clients of the former schema save until it is gone.
                for item in 0..<10_000 {
                    do throws(LarderError) {
                        _ = try client.insert("Book", ["title": .string("\(number) \(item)")])
                        saved.withLock { $0 += 1 }
                    } catch {
                        guard error.code == .unknownEntity || error.code == .indeterminate else {
                            throw error
                        }
                        if error.code == .unknownEntity { return }
                    }
                }
            } else {
                // Until others have saved, or one of them has migrated the store.
                while let count = try? client.count("Book"), count < 20 {}
                while true {
                    do throws(LarderError) {
                        _ = try client.migrate(to: schema)
                        return
                    } catch {
                        guard error.code == .unavailable || error.code == .connectionFailed else {
                            throw error
                        }
                    }
                }
            }
        }
        #expect(try client.schema() == schema)
        let count = try client.count("Volume")
        #expect(count >= Int64(saved.withLock { $0 }))
        #expect(try client.check().findings.isEmpty)
        let line = "the store is being migrated to"
        let migrations = daemon.errors.components(separatedBy: line).count - 1
        #expect(migrations == 1)
    }

    @Test("a migration ends before a stop of the server, and the store is consistent")
    func stop() throws {
        for number in 0..<200 { _ = try client.insert("Book", ["title": .string("\(number)")]) }
        let daemon = daemon
        let schema = schema
        let client = try daemon.connect(reconnectWait: .zero)
        inThreads(2) { number in
            if number == 0 { _ = try? client.migrate(to: schema) } else { _ = daemon.stop() }
        }
        let result = try daemon.run("larder", ["check", "--store", daemon.store])
        #expect(result.status == 0, "\(result.errors)")
    }
}
