import NIOCore
import Synchronization

extension Server {
    /// Reports to the service manager that the server is alive, each time after a read on every
    /// event loop and a sign of the writer's progress. A check that has not ended in half of the
    /// manager's time is logged: after all of it, the manager ends the process.
    ///
    /// - Returns: nil if the manager does not watch the server.
    func startWatchdog() -> RepeatedTask? {
        guard let interval = notification.watchdogInterval else { return nil }
        let watch = Watch()
        return group.next().scheduleRepeatedTask(
            initialDelay: .zero, delay: TimeAmount(interval / 4)
        ) { _ in
            if watch.silence > TimeAmount(interval / 2) {
                self.failures.report(
                    .error,
                    "the server does not work: an event loop, the writer or the disk hangs")
            }
            // While the store is migrated, nothing can be read.
            if self.state.withLock({ $0.isMigrating }) { return self.noteLife(watch) }
            self.core.probe { self.noteLife(watch) }
        }
    }

    private func noteLife(_ watch: Watch) {
        watch.noteLife()
        notification.alive()
    }

    /// The time of the last check that has ended well.
    private final class Watch: Sendable {
        private let last = Mutex(NIODeadline.now())

        var silence: TimeAmount { last.withLock { .now() - $0 } }

        func noteLife() { last.withLock { $0 = .now() } }
    }
}
