import LarderModel
import LarderWire
import Logging
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("A migration of a served store")
    struct MigrationTests {
        static let schema = """
            {"version": "2.0.0", "entities": [{"name": "Item", "attributes": [
              {"name": "number", "type": "int64"}, {"name": "more", "type": "int64"}]}]}
            """

        private static let migrate = Request.migrate(.migrate(to: schema))

        @Test("a migration ends other connections, refuses new ones with its step, then serves")
        func connections() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(migration: .succeeds(gate))) { running in
                let (requester, other) = (try running.ready(), try running.ready())
                let id = try requester.send(Self.migrate)
                #expect(try other.receiveUntilClosed() == [.unavailable])
                gate.waitForArrival()
                let late = try running.connect()
                guard case .failed(let refusal)? = try late.receive()?.reply else {
                    Issue.record("a new connection is refused")
                    return
                }
                #expect(refusal.code == .unavailable)
                #expect(
                    refusal.message
                        == "the store is being migrated to schema version 2.0.0 (rewrites Item)")
                gate.open()
                #expect(try requester.receive()?.reply == .migrationProgress("rewrites Item"))
                let reply = try #require(try requester.receive())
                guard case .migrated(let summary) = reply.reply else {
                    Issue.record("\(reply)")
                    return
                }
                #expect(reply.id == id && summary.changes.count == 1)
                #expect(try requester.receiveUntilClosed() == [.unavailable])
                let after = try running.ready()
                guard case .schema(let text)? = try after.call(.schema) else {
                    Issue.record("the schema is served")
                    return
                }
                #expect(text.contains("2.0.0"))
                #expect(try after.call(.insert(1))?.errorCode == nil)
                // The store has the schema now.
                guard case .migrated(let nothing)? = try after.result(of: Self.migrate) else {
                    Issue.record("a second migration finds it done")
                    return
                }
                #expect(nothing.changes.isEmpty)
            }
        }

        @Test("a migration that is refused returns the reason, and the store is served as before")
        func refused() async throws {
            try await RunningServer.run(.init(migration: .isRefused)) { running in
                let requester = try running.ready()
                #expect(try requester.result(of: Self.migrate)?.errorCode == .migrationRefused)
                let after = try running.ready()
                guard case .schema(let text)? = try after.call(.schema) else {
                    Issue.record("the schema is served")
                    return
                }
                #expect(text.contains("1.0.0"))
                #expect(try after.call(.insert(1))?.errorCode == nil)
            }
        }

        @Test("a migration that is impossible, or only planned, closes no connection")
        func harmless() async throws {
            try await RunningServer.run { running in
                let (requester, other) = (try running.ready(), try running.ready())
                #expect(try requester.result(of: Self.migrate)?.errorCode == .unsupported)
                guard case .migrated? = try requester.call(Request.migrate(.plan(to: Self.schema)))
                else {
                    Issue.record("a dry run has a plan")
                    return
                }
                let damaged = Request.migrate(.migrate(to: "{"))
                #expect(try requester.call(damaged)?.errorCode == .malformedSchema)
                #expect(try other.call(.insert(1))?.errorCode == nil)
            }
            try await RunningServer.run(.init(isReadOnly: true)) { running in
                let peer = try running.ready()
                #expect(try peer.result(of: Self.migrate)?.errorCode == .readOnly)
            }
        }

        @Test("a server stops if its store cannot be opened after a migration")
        func lost() async throws {
            let store = try FakeStore(.init(migration: .loses))
            let server = try Server(
                backend: store, options: Server.Options(name: "test"), logger: .silent)
            let running = Task { try await server.run() }
            let peer = try RunningServer.connect(to: server)
            try peer.shakeHands()
            #expect(try peer.result(of: Self.migrate)?.errorCode == .storageFailed)
            try await running.value
        }

        @Test("a running migration is completed before the server stops")
        func stop() async throws {
            let gate = Gate()
            let running = try RunningServer(.init(migration: .succeeds(gate)))
            let requester = try running.ready()
            try requester.send(Self.migrate)
            gate.waitForArrival()
            async let stopped: Void = running.server.stop()
            gate.open()
            guard case .migrated? = try requester.resultOfMigration() else {
                Issue.record("the migration is answered")
                return
            }
            await stopped
        }
    }
}
