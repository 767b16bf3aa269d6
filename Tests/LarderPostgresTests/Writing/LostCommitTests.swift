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
    "A connection that is lost during a commit",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct LostCommitTests {
    private static func schema() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "A", "attributes": [
                  { "name": "b", "type": "int64" } ] } ] }
                """)
    }

    private static func insert(_ number: Int64) -> ChangeSet {
        ChangeSet([.insert(.new("a", "A"), values: ["b": .int(number)])])
    }

    @Test("A transaction that was not committed runs again, and is stored once")
    func notCommitted() throws {
        let library = try PostgresLibrary(Self.schema())
        let name = library.name
        for statement in [
            "CREATE SEQUENCE public.\(name)_count",
            """
            CREATE FUNCTION public.\(name)_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            IF nextval('public.\(name)_count') = 1 THEN \
            PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$
            """,
            """
            CREATE CONSTRAINT TRIGGER t AFTER INSERT ON _transaction \
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.\(name)_end()
            """,
        ] {
            try library.connection.run(statement)
        }
        let outcomes = library.storeWriter.save([Self.insert(1), Self.insert(2)])
        #expect(try outcomes.map { try $0.get().transaction } == [1, 2])
        #expect(
            try library.rows("SELECT _id, b FROM \(name: "A") ORDER BY 1")
                == [[.integer(1), .integer(1)], [.integer(2), .integer(2)]])
        #expect(
            try library.connection.run("SELECT last_value FROM public.\(name)_count").rows
                == [[.integer(3)]])
    }

    @Test("A transaction that was committed does not run again, and has its result")
    func committed() throws {
        let server = try PostgresServer()
        let store = try PostgresStore.open(server.address(), schema: Self.schema())
        let writer = try store.makeWriter()
        defer { writer.close() }
        _ = try writer.save([Self.insert(1)])[0].get()
        // A commit waits for a standby that does not exist, after it is done.
        let connection = try server.connect()
        try connection.run("ALTER SYSTEM SET synchronous_standby_names = 'none'")
        try connection.run("SELECT pg_reload_conf()")
        // The process that makes checkpoints reads the setting first.
        try connection.run("CHECKPOINT")
        let ended = DispatchGroup()
        let hasEnded = Mutex(false)
        let other = Connection(connection: try server.connect())
        DispatchQueue.global().async(group: ended) {
            let result = try? other.connection.run(
                """
                DO $$ BEGIN LOOP \
                PERFORM pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE wait_event = 'SyncRep'; EXIT WHEN FOUND; \
                PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP; END $$
                """)
            hasEnded.withLock { $0 = result != nil }
        }
        let result = try writer.save([Self.insert(2)])[0].get()
        ended.wait()
        #expect(hasEnded.withLock { $0 })
        #expect(result.transaction == 2)
        #expect(result.inserted.map(\.permanentKey) == [2])
        #expect(
            try connection.run("SELECT count(*) FROM larder.\"A\"").rows == [[.integer(2)]])
    }

    /// Safe to share: one thread uses it.
    private struct Connection: @unchecked Sendable {
        let connection: PostgresConnection
    }
}
#endif
