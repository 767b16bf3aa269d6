import NIOCore
import Synchronization

/// Reports once that the server has had no connection for a given time.
final class IdleWatch: Sendable {
    private struct State {
        var idleSince: NIODeadline?
        var isScheduled = false
        var isIdle: @Sendable () -> Bool = { true }
    }

    private let time: TimeAmount
    private let eventLoop: any EventLoop
    private let timeElapsed: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        time: Duration, eventLoop: any EventLoop, timeElapsed: @escaping @Sendable () -> Void
    ) {
        self.time = TimeAmount(time)
        self.eventLoop = eventLoop
        self.timeElapsed = timeElapsed
    }

    /// - Parameter isIdle: Returns whether the server has no connection now.
    func watch(isIdle: @escaping @Sendable () -> Bool) {
        state.withLock { $0.isIdle = isIdle }
    }

    /// The last connection has closed, or the server has started.
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

    /// Checks whether the server was idle for the whole time. If a connection has come and gone
    /// in the meantime, waits for the rest; if one is open, the next ``becameIdle()`` starts again.
    private func check() {
        let (isIdle, idleSince) = state.withLock { state in
            state.isScheduled = false
            return (state.isIdle, state.idleSince)
        }
        guard isIdle(), let idleSince else { return }
        if NIODeadline.now() - idleSince >= time { return timeElapsed() }
        schedule(at: idleSince + time)
    }
}
