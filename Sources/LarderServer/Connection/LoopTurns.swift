import NIOCore

/// Shares the time of an event loop between the users of its connections.
///
/// A connection takes frames during a turn. The turns of one user may take together
/// `ServerLimits.turnTimeMax`. After that the user's connections wait for the next round, in which
/// each user has that time again. Before each round the event loop reads the sockets that are
/// ready, so the requests of another user wait for a round at most, whatever number of connections
/// one user has.
///
/// Sendable unchecked: there is one per event loop, used on that loop alone, which is asserted in
/// debug builds.
final class LoopTurns: @unchecked Sendable {
    private struct User {
        let identifier: UInt32
        var connectionCount = 0
        /// The time of the turns since the last round.
        var time = TimeAmount.zero
        /// Begins the turns that wait for the next round, in their order.
        var waiting: [() -> Void] = []
    }

    /// A user without others has rounds too, so that a new user does not wait long, but fewer.
    private static let timeFactorAlone: Int64 = 4
    /// An event loop reads its sockets when no task may run now. So the task for a round must not
    /// be ready when the task that schedules it ends.
    private static let roundDelay = TimeAmount.microseconds(5)

    private let eventLoop: any EventLoop
    private let timeMax: TimeAmount
    /// The users of the open connections. Few are searched faster than hashed.
    private var users: [User] = []
    /// When the part of the turn began that is running: each frame is one.
    private(set) var start = NIODeadline.uptimeNanoseconds(0)
    /// The time of the last part.
    private(set) var lastTime = TimeAmount.zero
    private(set) var isRunning = false
    private var isRoundScheduled = false

    init(eventLoop: any EventLoop, timeMax: TimeAmount) {
        self.eventLoop = eventLoop
        self.timeMax = timeMax
    }

    private func index(of user: UInt32) -> Int? {
        users.firstIndex { $0.identifier == user }
    }

    // MARK: Connections

    /// A connection of a user opens.
    func open(for user: UInt32) {
        eventLoop.assertInEventLoop()
        if let index = index(of: user) {
            users[index].connectionCount += 1
        } else {
            users.append(User(identifier: user, connectionCount: 1))
        }
    }

    func close(for user: UInt32) {
        eventLoop.assertInEventLoop()
        guard let index = index(of: user) else { return }
        users[index].connectionCount -= 1
        if users[index].connectionCount == 0 { users.remove(at: index) }
    }

    // MARK: Turns

    /// Whether a connection of a user may begin a turn now. Otherwise it has to wait
    /// (``append(for:_:)``).
    func mayBegin(for user: UInt32) -> Bool {
        guard let index = index(of: user) else { return true }
        return users[index].time <= (users.count > 1 ? timeMax : timeMax * Self.timeFactorAlone)
    }

    /// A turn begins.
    func begin() {
        isRunning = true
        start = .now()
    }

    /// Whether the turn that is running has to end, so that others can run.
    func isOver(for user: UInt32) -> Bool {
        endPart(for: user)
        return !mayBegin(for: user)
    }

    /// The turn that is running ends.
    func end(for user: UInt32) {
        endPart(for: user)
        isRunning = false
    }

    private func endPart(for user: UInt32) {
        let now = NIODeadline.now()
        lastTime = now - start
        if let index = index(of: user) { users[index].time = users[index].time + lastTime }
        start = now
    }

    // MARK: Rounds

    /// Lets a connection of a user begin a turn in the next round.
    func append(for user: UInt32, _ beginTurn: @escaping () -> Void) {
        guard let index = index(of: user) else { return }
        users[index].waiting.append(beginTurn)
        scheduleRound()
    }

    private func scheduleRound() {
        guard !isRoundScheduled else { return }
        isRoundScheduled = true
        eventLoop.scheduleTask(in: Self.roundDelay) { self.runRound() }
    }

    private func runRound() {
        for index in users.indices { users[index].time = .zero }
        for user in users.map(\.identifier) { beginTurns(of: user) }
        isRoundScheduled = false
        if users.contains(where: { !$0.waiting.isEmpty }) { scheduleRound() }
    }

    /// Begins turns in their order, until the time of the user is used up. A connection that needs
    /// another one is appended again.
    private func beginTurns(of user: UInt32) {
        guard let index = index(of: user), !users[index].waiting.isEmpty else { return }
        let waiting = users[index].waiting
        users[index].waiting = []
        var begun = 0
        while begun < waiting.count, mayBegin(for: user) {
            waiting[begun]()
            begun += 1
        }
        // A turn may have closed the last connection.
        guard let index = self.index(of: user) else { return }
        users[index].waiting.insert(contentsOf: waiting[begun...], at: 0)
    }
}
