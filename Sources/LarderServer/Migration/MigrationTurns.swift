import LarderModel
import NIOCore
import Synchronization

/// When each user may migrate the store next.
///
/// A migration keeps others out. After one that ended connections of other users, its user has to
/// pause for as long as it took, within two bounds, so that the others work in between; migrations
/// in a loop leave them half of the time, or more.
final class MigrationTurns: Sendable {
    private let pauseMin: TimeAmount
    private let pauseMax: TimeAmount
    private let pauseEnds = Mutex<[UInt32: NIODeadline]>([:])

    init(limits: ServerLimits) {
        pauseMin = TimeAmount(limits.migrationPauseMin)
        pauseMax = TimeAmount(limits.migrationPauseMax)
    }

    /// The end of the pause of a user; nil if there is none.
    func pauseEnd(for user: UInt32, at now: NIODeadline = .now()) -> NIODeadline? {
        pauseEnds.withLock { $0[user] }.flatMap { $0 > now ? $0 : nil }
    }

    /// A migration of a user begins.
    ///
    /// - Parameter keepsOthersOut: Whether other users are connected.
    func begin(for user: UInt32, keepsOthersOut: Bool) -> Turn {
        Turn(turns: keepsOthersOut ? self : nil, user: user)
    }

    /// The time of one migration.
    struct Turn: Sendable {
        fileprivate let turns: MigrationTurns?
        fileprivate let user: UInt32
        private let start = NIODeadline.now()

        fileprivate init(turns: MigrationTurns?, user: UInt32) {
            self.turns = turns
            self.user = user
        }

        /// - Parameter failure: The error of the migration, if it has failed.
        func end(_ failure: LarderError?) {
            // Then another one ran.
            if failure == Migrations.underWay { return }
            turns?.ended(for: user, since: start)
        }
    }

    /// A migration has ended for which others have waited.
    func ended(for user: UInt32, since start: NIODeadline, at now: NIODeadline = .now()) {
        let pauseEnd = now + min(max(now - start, pauseMin), pauseMax)
        pauseEnds.withLock { pauseEnds in
            pauseEnds = pauseEnds.filter { $0.value > now }
            pauseEnds[user] = pauseEnd
        }
    }
}
