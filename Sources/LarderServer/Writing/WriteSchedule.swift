import LarderModel
import NIOCore

/// Which of the waiting writes run next: each user has a queue of its own, in the order of arrival.
///
/// A group of writes shares one commit. It takes writes of all users in turn, so that a user with
/// thousands of writes delays the others by a few of its own only. A user whose long writes (large
/// saves, changes by predicate, rows) make others wait has to pause after each, for a multiple of
/// the time that they have waited, as long as others make short saves: so few of those are late.
/// Without such others nothing waits.
///
/// It has no lock and no clock; `WriteQueue` provides both.
struct WriteSchedule {
    typealias Item = WriteQueue.Item

    enum Next {
        /// Writes to be executed together.
        case group([Item])
        /// Every waiting write has to wait until then.
        case pause(until: NIODeadline)
        case nothing
    }

    private struct Queue {
        let user: UInt32
        var items: [Item] = []
        /// The turns of all users are counted; the user with the lowest number is next.
        var lastTurn = 0
        /// No long write begins before.
        var pauseEnd = NIODeadline.uptimeNanoseconds(0)
        /// When the last short write was taken.
        var lastShort: NIODeadline?
    }

    /// A user that made a short save within this time makes others' long writes pause.
    static let activeTime = TimeAmount.seconds(1)
    /// The pause after a long write, as a multiple of the time that others have waited for it.
    /// Others wait for at most a quarter of the time if each wait is short, and otherwise for
    /// less than one part in 250.
    static let pauseFactor: Int64 = 3
    static let longPauseFactor: Int64 = 255
    static let shortWait = TimeAmount.milliseconds(10)
    /// The short writes of one user in a group while others write too.
    static let userGroupMax = 16
    /// The number of users at which those without writes are forgotten.
    private static let usersKept = 16

    private let limits: ServerLimits
    private var shares: UserShares
    private var queues: [Queue] = []
    private var turns = 0
    private(set) var count = 0

    init(limits: ServerLimits) {
        self.limits = limits
        shares = UserShares(limits.writesQueued)
    }

    var isEmpty: Bool { count == 0 }

    /// - Returns: false, with nothing changed, if the user has too many writes waiting.
    mutating func append(_ item: Item) -> Bool {
        guard shares.take(1, for: item.user) else { return false }
        count += 1
        queues[index(of: item.user)].items.append(item)
        return true
    }

    /// Puts back a write that was stopped, to be the next of its user.
    mutating func putBack(_ item: Item) {
        shares.add(1, to: item.user)
        count += 1
        queues[index(of: item.user)].items.insert(item, at: 0)
    }

    /// Appends a write that has been executed in part, after the other writes of its user.
    mutating func appendAgain(_ item: Item) {
        shares.add(1, to: item.user)
        count += 1
        queues[index(of: item.user)].items.append(item)
    }

    private mutating func index(of user: UInt32) -> Int {
        if let index = queues.firstIndex(where: { $0.user == user }) { return index }
        queues.append(Queue(user: user))
        return queues.count - 1
    }

    /// Forgets the users who have done nothing for long.
    private mutating func forgetUsers(at now: NIODeadline) {
        queues.removeAll { queue in
            queue.items.isEmpty && queue.pauseEnd < now
                && queue.lastShort.map { now - $0 >= Self.activeTime } ?? true
        }
    }

    /// Removes and returns the writes to execute now.
    mutating func next(at now: NIODeadline) -> Next {
        guard !isEmpty else { return .nothing }
        if queues.count > Self.usersKept { forgetUsers(at: now) }
        guard let first = nextQueue(at: now) else {
            let ends = queues.lazy.filter { !$0.items.isEmpty }.map(\.pauseEnd)
            return .pause(until: ends.min() ?? now)
        }
        if !isShared(besides: queues[first].user, at: now) {
            return .group(takeGroup(first, at: now))
        }
        if queues[first].items[0].isShort {
            return .group(takeShort(atMost: limits.writeGroupMax, at: now))
        }
        return .group(take(1, from: first, at: now))
    }

    /// The queue whose turn it is, among those whose first write may run.
    private func nextQueue(at now: NIODeadline) -> Int? {
        var best: Int?
        for (index, queue) in queues.enumerated() {
            guard let item = queue.items.first,
                item.isShort || queue.pauseEnd <= now || !isActive(besides: queue.user, at: now)
            else { continue }
            if let best, queues[best].lastTurn <= queue.lastTurn { continue }
            best = index
        }
        return best
    }

    /// Whether another user makes short saves.
    private func isActive(besides user: UInt32, at now: NIODeadline) -> Bool {
        queues.contains { queue in
            guard queue.user != user, let lastShort = queue.lastShort else { return false }
            return now - lastShort < Self.activeTime
        }
    }

    /// Whether a write of another user waits.
    func hasWaiting(besides user: UInt32) -> Bool {
        queues.contains { $0.user != user && !$0.items.isEmpty }
    }

    /// Whether other users write too.
    private func isShared(besides user: UInt32, at now: NIODeadline) -> Bool {
        hasWaiting(besides: user) || isActive(besides: user, at: now)
    }

    /// Takes the first writes of a queue: one, or the saves that can share its commit.
    private mutating func takeGroup(_ index: Int, at now: NIODeadline) -> [Item] {
        let items = queues[index].items
        guard items[0].isGroupable else { return take(1, from: index, at: now) }
        var number = 0
        var bytes = 0
        for item in items.prefix(limits.writeGroupMax) {
            bytes += item.frameBytes
            guard item.isGroupable, number == 0 || bytes <= limits.writeGroupBytesMax else { break }
            number += 1
        }
        return take(number, from: index, at: now)
    }

    /// Takes the short writes at the heads of all queues in turn.
    mutating func takeShort(atMost countMax: Int, at now: NIODeadline) -> [Item] {
        let waiting = queues.indices.filter { queues[$0].items.first?.isShort == true }
            .sorted { queues[$0].lastTurn < queues[$1].lastTurn }
        var group: [Item] = []
        for index in waiting {
            let userMax = isShared(besides: queues[index].user, at: now) ? Self.userGroupMax : .max
            let room = min(userMax, countMax - group.count)
            guard room > 0 else { break }
            let number = queues[index].items.prefix(room).prefix { $0.isShort }.count
            group += take(number, from: index, at: now)
        }
        return group
    }

    private mutating func take(
        _ number: Int, from index: Int, at now: NIODeadline
    ) -> [Item] {
        turns += 1
        // Also if a long write of another user takes it along into its group.
        if queues[index].items[0].isShort { queues[index].lastShort = now }
        queues[index].lastTurn = turns
        count -= number
        shares.add(-number, to: queues[index].user)
        guard number < queues[index].items.count else {
            defer { queues[index].items = [] }
            return queues[index].items
        }
        let taken = Array(queues[index].items.prefix(number))
        queues[index].items.removeFirst(number)
        return taken
    }

    /// A long write of a user has ended, for which others have waited.
    mutating func longEnded(
        for user: UInt32, othersWaited time: TimeAmount, at now: NIODeadline
    ) {
        let factor = time <= Self.shortWait ? Self.pauseFactor : Self.longPauseFactor
        queues[index(of: user)].pauseEnd = now + time * factor
    }

    /// Removes and returns the waiting writes whose time is up.
    mutating func takeExpired(at now: NIODeadline) -> [Item] {
        var expired: [Item] = []
        for index in queues.indices {
            queues[index].items.removeAll { item in
                guard item.deadline <= now else { return false }
                expired.append(item)
                shares.add(-1, to: item.user)
                return true
            }
        }
        count -= expired.count
        return expired
    }
}
