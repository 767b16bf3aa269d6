import Glibc
import LarderModel
import LarderQuery
import LarderWire
import Synchronization
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("A migration session")
    struct MigrationSessionTests {
        private static let schema = MigrationTests.schema
        private static let possible = FakeStore.Options(migration: .succeeds(nil))

        /// Begins a session.
        ///
        /// - Returns: its key.
        private static func begin(_ peer: Peer) throws -> String {
            guard case .migrationBegun(let key)? = try peer.result(of: .migrate(.begin)) else {
                Issue.record("a session begins")
                return ""
            }
            return key
        }

        /// A connection of the session.
        private static func member(_ running: RunningServer, _ key: String) throws -> Peer {
            let peer = try running.connect()
            let hello = Hello(clientName: "member", migrationSession: key)
            guard case .welcome? = try peer.call(.hello(hello)) else {
                Issue.record("a client with the key is welcome")
                return peer
            }
            return peer
        }

        /// The error with which a new connection is refused; nil if it is welcome.
        private static func refusal(_ running: RunningServer, _ key: String = "") throws
            -> LarderError?
        {
            let peer = try running.connect()
            // The server may have closed the connection already.
            _ = try? peer.send(.hello(Hello(clientName: "other", migrationSession: key)))
            switch try peer.receive()?.reply {
            case .failed(let error): return error
            case .welcome: return nil
            default: return ConnectionState.stopping
            }
        }

        private static func version(_ peer: Peer) throws -> String? {
            guard case .schema(let text)? = try peer.call(.schema) else { return nil }
            return text.contains("2.0.0") ? "2" : "1"
        }

        @Test("a migration session is for connections with its key, and its result is for all")
        func commit() async throws {
            try await RunningServer.run(Self.possible) { running in
                let control = try running.ready()
                let bystander = try running.ready()
                let key = try Self.begin(control)
                #expect(try bystander.receiveUntilClosed() == [.unavailable])
                #expect(
                    try Self.refusal(running)?.message
                        == "the store is being migrated (another client performs a stage)")
                #expect(try Self.refusal(running, "wrong")?.code == .cancelled)

                let member = try Self.member(running, key)
                #expect(try member.call(.insert(1))?.errorCode == nil)
                guard case .migrated? = try member.result(of: .migrate(.migrate(to: Self.schema)))
                else {
                    Issue.record("a stage changes the schema")
                    return
                }
                // As after each migration, the connection that requested it ends too.
                #expect(try member.receiveUntilClosed() == [.unavailable])
                #expect(try Self.refusal(running)?.code == .unavailable)
                let second = try Self.member(running, key)
                #expect(try Self.version(second) == "2")
                #expect(try second.result(of: .migrate(.begin))?.errorCode == .unavailable)
                guard case .migrated? = try second.result(of: .migrate(.commit)) else {
                    Issue.record("the session is committed")
                    return
                }
                guard case .migrated? = try control.receive()?.reply else {
                    Issue.record("the request that began the session has a second reply")
                    return
                }
                #expect(try control.receiveUntilClosed() == [.unavailable])
                #expect(try Self.version(running.ready()) == "2")
                #expect(try Self.refusal(running, key)?.code == .cancelled)
            }
        }

        @Test("a migration session that is cancelled leaves the store as it was")
        func cancel() async throws {
            try await RunningServer.run(Self.possible) { running in
                let control = try running.ready()
                let id = try control.send(.migrate(.begin))
                guard case .migrationBegun(let key)? = try control.resultOfMigration() else {
                    Issue.record("a session begins")
                    return
                }
                let member = try Self.member(running, key)
                _ = try member.result(of: .migrate(.migrate(to: Self.schema)))
                let second = try Self.member(running, key)
                try control.send(.cancel(requestID: id))
                #expect(try second.receiveUntilClosed() == [.unavailable])
                #expect(try control.receive()?.reply.errorCode == .cancelled)
                #expect(try Self.version(running.ready()) == "1")
            }
        }

        @Test(
            "a server that has stopped keeps nothing of a store that a session has migrated",
            arguments: [true, false])
        func released(_ isCommitted: Bool) async throws {
            func migrate() async throws -> FormerStore {
                let running = try RunningServer(Self.possible)
                let outcome = Result {
                    let control = try running.ready()
                    let key = try Self.begin(control)
                    let member = try Self.member(running, key)
                    guard isCommitted else { return control.close() }
                    _ = try member.result(of: .migrate(.commit))
                    #expect(try control.receive()?.reply.errorCode == nil)
                }
                await running.server.stop()
                try outcome.get()
                return FormerStore(running)
            }
            try await migrate().expectRelease()
        }

        @Test("a migration session ends with the connection that began it")
        func lost() async throws {
            try await RunningServer.run(Self.possible) { running in
                let control = try running.ready()
                let key = try Self.begin(control)
                let member = try Self.member(running, key)
                control.close()
                #expect(try member.receiveUntilClosed() == [.unavailable])
                #expect(try eventually { try Self.refusal(running) == nil })
                #expect(try Self.version(running.ready()) == "1")
            }
        }

        @Test("a migration session is abandoned when its time is over")
        func timeOver() async throws {
            let limits: (inout ServerLimits) -> Void = { limits in
                limits.migrationTimeMax = .milliseconds(50)
            }
            try await RunningServer.run(Self.possible, limits: limits) { running in
                var control: Peer
                var reply: Reply?
                // The time may be over before the session is open.
                repeat {
                    control = try running.ready()
                    reply = try control.result(of: .migrate(.begin))
                } while reply?.errorCode == .timeout
                guard case .migrationBegun? = reply else {
                    Issue.record("a session begins")
                    return
                }
                #expect(try control.receive()?.reply.errorCode == .timeout)
                #expect(try Self.version(running.ready()) == "1")
            }
        }

        @Test("a migration session whose client sends nothing ends, and the store is as it was")
        func silent() async throws {
            let limits: (inout ServerLimits) -> Void = { limits in
                limits.migrationSilenceMax = .seconds(2)
            }
            try await RunningServer.run(Self.possible, limits: limits) { running in
                let control = try running.ready()
                let key = try Self.begin(control)
                let member = try Self.member(running, key)
                guard case .failed(let error)? = try control.receive()?.reply else {
                    Issue.record("the session ends")
                    return
                }
                #expect(error.code == .timeout)
                #expect(error.hint?.contains("--migration-idle-timeout") == true)
                #expect(try member.receiveUntilClosed() == [.unavailable])
                #expect(try Self.version(running.ready()) == "1")
            }
        }

        @Test("a migration session continues while its client sends credit and nothing else")
        func alive() async throws {
            let limits: (inout ServerLimits) -> Void = { limits in
                limits.migrationSilenceMax = .seconds(2)
            }
            try await RunningServer.run(Self.possible, limits: limits) { running in
                let control = try running.ready()
                let id = try control.send(.migrate(.begin))
                guard case .migrationBegun(let key)? = try control.resultOfMigration() else {
                    Issue.record("a session begins")
                    return
                }
                let end = ContinuousClock.now + .seconds(5)
                while ContinuousClock.now < end {
                    try control.send(.credit(requestID: id, batches: 1))
                    // Other clients' attempts are no messages of the session.
                    #expect(try Self.refusal(running)?.code == .unavailable)
                    poll(nil, 0, 50)
                }
                let member = try Self.member(running, key)
                #expect(try member.call(.insert(1))?.errorCode == nil)
            }
        }

        @Test("a migration session continues while a stage of the server runs, however long")
        func longStage() async throws {
            let gate = Gate()
            let limits: (inout ServerLimits) -> Void = { limits in
                limits.migrationSilenceMax = .seconds(2)
            }
            try await RunningServer.run(.init(migration: .succeeds(gate)), limits: limits) {
                running in
                let control = try running.ready()
                let key = try Self.begin(control)
                let member = try Self.member(running, key)
                try member.send(.migrate(.migrate(to: Self.schema)))
                gate.waitForArrival()
                let end = ContinuousClock.now + .seconds(4)
                while ContinuousClock.now < end {
                    #expect(try Self.refusal(running)?.code == .unavailable)
                    poll(nil, 0, 50)
                }
                gate.open()
                guard case .migrated? = try member.resultOfMigration() else {
                    Issue.record("the stage is performed")
                    return
                }
            }
        }

        @Test("a migration session whose stage is refused may try another stage")
        func refusedStage() async throws {
            try await RunningServer.run(.init(migration: .isRefused)) { running in
                let control = try running.ready()
                let key = try Self.begin(control)
                let member = try Self.member(running, key)
                let refused = try member.result(of: .migrate(.migrate(to: Self.schema)))
                #expect(refused?.errorCode == .migrationRefused)
                let second = try Self.member(running, key)
                #expect(try Self.version(second) == "1")
                #expect(try second.call(.insert(1))?.errorCode == nil)
            }
        }

        @Test("a migration session that cannot begin leaves the store served")
        func full() async throws {
            try await RunningServer.run(.init(migration: .isFull)) { running in
                let control = try running.ready()
                #expect(try control.result(of: .migrate(.begin))?.errorCode == .storageFull)
                #expect(try Self.version(running.ready()) == "1")
            }
            try await RunningServer.run { running in
                let peer = try running.ready()
                #expect(try peer.result(of: .migrate(.begin))?.errorCode == .unsupported)
                #expect(try peer.result(of: .migrate(.commit))?.errorCode == .unsupported)
                #expect(try peer.call(.insert(1))?.errorCode == nil)
            }
        }

        @Test("a migration session is abandoned when the server stops")
        func stop() async throws {
            let running = try RunningServer(Self.possible)
            let control = try running.ready()
            let key = try Self.begin(control)
            let member = try Self.member(running, key)
            await running.server.stop()
            #expect(try member.receiveUntilClosed() == [.unavailable])
            #expect(try control.receiveUntilClosed().first == .unavailable)
        }

        @Test("a server that stops waits for every exchange, not only for the last one")
        func stopBesideReply() async throws {
            let running = try RunningServer(Self.possible)
            let control = try running.ready()
            let server = running.server
            let port = try #require(server.core.registry.open.first?.port)
            let cancellation = ReadCancellation()
            let session = MigrationSession(
                stoppedBy: cancellation, eventLoop: port.eventLoop,
                abandon: { server.abandon($0, $1) }, whenEnded: { _ in })
            let work = Server.MigrationWork(
                requester: port, cancellation: cancellation, progress: { _ in })
            let reply = Gate()
            server.begin(session, work) { _ in reply.pass() }
            reply.waitForArrival()
            let hasStopped = Atomic(false)
            async let stopped: Void = {
                await server.stop()
                hasStopped.store(true, ordering: .relaxed)
            }()
            #expect(eventually { server.state.withLock { $0.isStopping && $0.session == nil } })
            // Long enough for a server that does not wait.
            poll(nil, 0, 100)
            let isEarly = hasStopped.load(ordering: .relaxed)
            #expect(!isEarly)
            reply.open()
            await stopped
            control.close()
        }
    }
}
