import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import NIOEmbedded
import Testing

@testable import LarderServer

@Suite("The order of waiting writes")
struct WriteScheduleTests {
    private let eventLoop = EmbeddedEventLoop()
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func save(
        _ user: UInt32, bytes: Int = 100, isBulk: Bool = false, deadline: NIODeadline? = nil
    ) -> WriteQueue.Item {
        let selection = ObjectSelection("Item", where: .format("TRUEPREDICATE"))
        let changes = isBulk ? [Change.deleteAll(selection)] : []
        return .save(
            WriteQueue.Save(
                SaveRequest(ChangeSet(changes)), for: user, frameBytes: bytes,
                deadline: deadline ?? .distantFuture, on: eventLoop, reply: { _ in }))
    }

    private func schedule(_ items: [WriteQueue.Item]) -> WriteSchedule {
        var schedule = WriteSchedule(limits: ServerLimits())
        for item in items where !schedule.append(item) { Issue.record("a write was refused") }
        return schedule
    }

    /// The users of the writes that run next.
    private func users(_ next: WriteSchedule.Next) -> [UInt32] {
        if case .group(let items) = next { items.map(\.user) } else { [] }
    }

    @Test("the writes of one user run in their order, as many together as a group may have")
    func oneUser() {
        var schedule = schedule((0..<300).map { _ in save(1) })
        let sizes = (0..<2).map { _ in users(schedule.next(at: start)).count }
        #expect(sizes == [256, 44])
        #expect(schedule.isEmpty)
        guard case .nothing = schedule.next(at: start) else {
            Issue.record("an empty schedule has a next write")
            return
        }
    }

    @Test("a group has at most 16 short saves of a user while another user waits too")
    func sharedGroup() {
        var schedule = schedule((0..<100).map { _ in save(1) } + [save(2), save(3)])
        let group = users(schedule.next(at: start))
        #expect(group.count(where: { $0 == 1 }) == 16)
        #expect(group.contains(2) && group.contains(3))
    }

    @Test("users alternate with their long writes")
    func turns() {
        var schedule = schedule([
            save(1, isBulk: true), save(1, isBulk: true), save(2, isBulk: true),
            save(2, isBulk: true),
        ])
        let order = (0..<4).flatMap { _ in users(schedule.next(at: start)) }
        #expect(order == [1, 2, 1, 2])
    }

    @Test("a change by predicate shares its commit with no other write")
    func bulk() {
        var schedule = schedule([save(1), save(1, isBulk: true), save(1)])
        let sizes = (0..<3).map { _ in users(schedule.next(at: start)).count }
        #expect(sizes == [1, 1, 1])
    }

    @Test("a long write is followed by a pause while other users make short saves")
    func pause() {
        var schedule = schedule([save(2), save(1, isBulk: true)])
        let first = users(schedule.next(at: start))
        #expect(first == [2])
        schedule.longEnded(for: 1, othersWaited: .milliseconds(10), at: start)
        guard case .pause(let end) = schedule.next(at: start) else {
            Issue.record("the long write did not wait")
            return
        }
        #expect(end == start + .milliseconds(30))
        // The other user's writes do not wait.
        _ = schedule.append(save(2))
        let order = [start, end].flatMap { users(schedule.next(at: $0)) }
        #expect(order == [2, 1])
    }

    @Test("a long write for which others have waited long is followed by a long pause")
    func longPause() {
        var schedule = schedule([save(2), save(1, isBulk: true)])
        let first = users(schedule.next(at: start))
        #expect(first == [2])
        schedule.longEnded(for: 1, othersWaited: .milliseconds(100), at: start)
        guard case .pause(let end) = schedule.next(at: start) else {
            Issue.record("the long write did not wait")
            return
        }
        #expect(end == start + .milliseconds(25_500))
    }

    @Test("a long write does not wait without other users, and after they have stopped")
    func noPause() {
        var schedule = schedule([save(1, isBulk: true), save(1, isBulk: true)])
        schedule.longEnded(for: 1, othersWaited: .seconds(10), at: start)
        let first = users(schedule.next(at: start))
        _ = schedule.append(save(2))
        let others = users(schedule.next(at: start))
        let second = users(schedule.next(at: start + WriteSchedule.activeTime))
        #expect(first == [1] && others == [2] && second == [1])
    }

    @Test("short saves that join a long write's group make the next long write pause")
    func joined() {
        var schedule = schedule([save(1, isBulk: true), save(1, isBulk: true)])
        let long = users(schedule.next(at: start))
        _ = schedule.append(save(2))
        let joined = schedule.takeShort(atMost: 10, at: start).map(\.user)
        schedule.longEnded(for: 1, othersWaited: .milliseconds(10), at: start)
        #expect(long == [1] && joined == [2])
        guard case .pause = schedule.next(at: start) else {
            Issue.record("the next long write did not wait")
            return
        }
    }

    @Test("a write that was stopped is the next one of its user")
    func putBack() {
        var schedule = schedule([save(1, isBulk: true), save(1)])
        guard case .group(let stopped) = schedule.next(at: start) else { return }
        schedule.putBack(stopped[0])
        guard case .group(let again) = schedule.next(at: start), case .save(let save) = again[0]
        else { return }
        #expect(save.runsQueries && schedule.count == 1)
    }

    @Test("waiting writes whose time is up are removed, for every user")
    func expired() {
        var schedule = schedule([
            save(1, deadline: start), save(1), save(2, deadline: start - .seconds(1)),
        ])
        let expired = schedule.takeExpired(at: start).map(\.user)
        #expect(expired == [1, 2])
        #expect(schedule.count == 1 && !schedule.hasWaiting(besides: 1))
    }

    @Test("a write whose time is up frees its slot in the queue")
    func expiredPlaces() {
        var limits = ServerLimits()
        limits.writesQueued = SharedLimit(2, userShare: 0.5)
        var schedule = WriteSchedule(limits: limits)
        var accepted = [schedule.append(save(1, deadline: start)), schedule.append(save(1))]
        let expired = schedule.takeExpired(at: start)
        accepted.append(schedule.append(save(1)))
        #expect(expired.count == 1 && accepted == [true, false, true])
    }

    @Test("a user may have a share of the queue's slots, and one more write is refused")
    func places() {
        var limits = ServerLimits()
        limits.writesQueued = SharedLimit(4, userShare: 0.5)
        var schedule = WriteSchedule(limits: limits)
        let accepted = [1, 1, 1, 2, 2, 3].map { schedule.append(save($0)) }
        #expect(accepted == [true, true, false, true, false, true])
    }
}
