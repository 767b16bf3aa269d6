import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The right to migrate")
    struct MigrationRightsTests {
        /// A user and a group that no system has.
        private static let nobody: UInt32 = 4_000_000_000

        private static let requests: [Request] = [
            .migrate(.plan(to: MigrationTests.schema)),
            .migrate(.migrate(to: MigrationTests.schema)), .migrate(.begin), .migrate(.commit),
        ]

        @Test("another user's migrations are refused, and the connection stays open")
        func others() async throws {
            let running = try RunningServer(
                .init(migration: .succeeds(nil)), rights: MigrationRights(owner: 77))
            let outcome = Result {
                let peer = try running.ready(as: Self.nobody)
                for request in Self.requests {
                    guard case .failed(let error)? = try peer.call(request) else {
                        Issue.record("\(request) is refused")
                        continue
                    }
                    #expect(error.code == .permissionDenied)
                    #expect(error.message == "user 4000000000 may not migrate this store")
                    #expect(error.hint?.contains("--migration-group") == true)
                }
                #expect(try peer.call(.insert(1))?.errorCode == nil)
            }
            await running.server.stop()
            try outcome.get()
        }

        @Test(
            "root, the user of the server, the owner of the file and the group's members may",
            arguments: [0, geteuid(), 77])
        func permitted(user: UInt32) async throws {
            let running = try RunningServer(
                .init(migration: .succeeds(nil)), rights: MigrationRights(owner: 77))
            let outcome = Result {
                let peer = try running.ready(as: user)
                guard case .migrated? = try peer.call(Self.requests[0]) else {
                    Issue.record("user \(user) may plan a migration")
                    return
                }
            }
            await running.server.stop()
            try outcome.get()
        }

        @Test("a user who is not in the migration group by the system's database is refused")
        func group() async throws {
            let running = try RunningServer(
                .init(migration: .succeeds(nil)), rights: MigrationRights(group: Self.nobody))
            let outcome = Result {
                let peer = try running.ready(as: Self.nobody - 1)
                for request in Self.requests {
                    #expect(try peer.call(request)?.errorCode == .permissionDenied)
                }
                #expect(try peer.call(.insert(1))?.errorCode == nil)
            }
            await running.server.stop()
            try outcome.get()
        }

        @Test("the group of the peer's process is enough, and others are looked up")
        func decisions() {
            func decision(_ rights: MigrationRights, _ group: UInt32) -> MigrationRights.Decision {
                rights.decision(
                    for: PeerCredentials(
                        userIdentifier: Self.nobody, groupIdentifier: group))
            }
            let rights = MigrationRights(group: 500)
            #expect(decision(rights, 500) == .permitted)
            #expect(decision(rights, 501) == .dependsOnGroups)
            #expect(decision(MigrationRights(), 500) == .denied)
            // Every system has root and its group.
            #expect(MigrationRights(group: 0).isMember(0))
            #expect(!MigrationRights(group: 0).isMember(Self.nobody))
            #expect(!MigrationRights().isMember(0))
            #expect(UserDatabase.group(named: "root") == 0)
            #expect(UserDatabase.group(named: "no such group") == nil)
        }
    }
}
