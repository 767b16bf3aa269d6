import LarderModel
import LarderWire
import NIOCore
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The turns of migrations")
    struct MigrationTurnsTests {
        private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

        @Test("others work between two migrations as long as the first took, within bounds")
        func pauses() {
            let turns = MigrationTurns(limits: ServerLimits())
            for (took, pause) in [(0, 1), (1, 1), (20, 20), (60, 60), (3_600, 60)]
                as [(Int64, Int64)]
            {
                let end = Self.start + .seconds(took)
                turns.ended(for: 1, since: Self.start, at: end)
                #expect(turns.pauseEnd(for: 1, at: end) == end + .seconds(pause))
                #expect(turns.pauseEnd(for: 1, at: end + .seconds(pause)) == nil)
                #expect(turns.pauseEnd(for: 2, at: end) == nil)
            }
        }

        private static func run(
            _ body: (RunningServer) throws -> Void
        ) async throws {
            try await RunningServer.run(.init(migration: .succeeds(nil))) { limits in
                limits.migrationPauseMin = .seconds(3_600)
                limits.migrationPauseMax = .seconds(3_600)
            } _: {
                try body($0)
            }
        }

        /// Begins a session and ends it.
        private static func migrate(_ running: RunningServer) throws {
            let peer = try running.ready()
            let id = try peer.send(.migrate(.begin))
            guard case .migrationBegun? = try peer.resultOfMigration() else {
                throw RunningServer.NotReached(description: "no session began")
            }
            try peer.send(.cancel(requestID: id))
            #expect(try peer.resultOfMigration()?.errorCode == .cancelled)
        }

        @Test("a user's second session waits while another user is served, and can be cancelled")
        func waits() async throws {
            try await Self.run { running in
                let other = try running.ready(as: 2)
                try Self.migrate(running)
                #expect(try other.receiveUntilClosed() == [.unavailable])
                let (again, back) = (try running.ready(), try running.ready(as: 2))
                let id = try again.send(.migrate(.begin))
                let second = try again.send(.migrate(.migrate(to: MigrationTests.schema)))
                // Both have been received when this has its reply.
                #expect(try again.call(.schema)?.errorCode == nil)
                for number: Int64 in 1...10 {
                    #expect(try back.call(.insert(number))?.errorCode == nil)
                }
                try again.send(.cancel(requestID: id))
                try again.send(.cancel(requestID: second))
                for _ in 0..<2 {
                    #expect(try again.receive()?.reply.errorCode == .cancelled)
                }
                #expect(try back.call(.insert(11))?.errorCode == nil)
            }
        }

        @Test("a session that waits for its turn does not keep a server from stopping")
        func stop() async throws {
            try await Self.run { running in
                let other = try running.ready(as: 2)
                try Self.migrate(running)
                _ = try other.receiveUntilClosed()
                let again = try running.ready()
                try again.send(.migrate(.begin))
                #expect(try again.call(.schema)?.errorCode == nil)
            }
        }

        @Test("a migration session follows another at once without other users")
        func alone() async throws {
            try await Self.run { running in
                try Self.migrate(running)
                try Self.migrate(running)
            }
        }
    }
}
