import NIOCore
import Synchronization

/// Notices that nobody has been connected for a time, and then says so.
final class IdleWatch: Sendable {
    private struct State {
        var idleSince: NIODeadline?
        var isScheduled = false
        var isIdle: @Sendable () -> Bool = { true }
    }

    private let time: TimeAmount
    private let eventLoop: any EventLoop
    private let idleForLong: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        time: Duration, eventLoop: any EventLoop, idleForLong: @escaping @Sendable () -> Void
    ) {
        self.time = TimeAmount(time)
        self.eventLoop = eventLoop
        self.idleForLong = idleForLong
    }

    /// - Parameter isIdle: whether nobody is connected just now.
    func watch(isIdle: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isIdle = isIdle }
    }

    /// The last connection has gone, or none has come yet.
    func becameIdle() {
        let now = NIODeadline.now()
        state.withLock { $0.idleSince = now }
        schedule(at: now + time)
    }

    private func schedule(at deadline: NIODeadline) {
        let isScheduled = state.withLock { state in
            defer { state.isScheduled = true }
            return state.isScheduled
        }
        if !isScheduled { eventLoop.scheduleTask(deadline: deadline) { self.check() } }
    }

    /// Looks whether all of the time was idle; if idleness was broken off and began anew, waits for
    /// the rest. If it is broken off now, the next ``becameIdle()`` begins again.
    private func check() {
        let (isIdle, idleSince) = state.withLock { state in
            state.isScheduled = false
            return (state.isIdle, state.idleSince)
        }
        guard isIdle(), let idleSince else { return }
        if NIODeadline.now() - idleSince >= time { return idleForLong() }
        schedule(at: idleSince + time)
    }
}
