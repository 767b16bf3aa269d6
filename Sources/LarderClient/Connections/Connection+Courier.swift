import Glibc
import LarderModel

/// The connection's own thread: it reads for tasks, keeps their deadlines, and sends what the
/// socket did not take at once.
///
/// It starts with the first need of it and ends with the connection.
extension Connection {
    /// Protected by the monitor's lock.
    final class Courier {
        let wakeUp: WakeUp
        /// What it waits for now; nil while it is at work and will look again by itself.
        var plan: Plan?

        init(wakeUp: WakeUp) { self.wakeUp = wakeUp }
    }

    struct Plan {
        var reads: Bool
        var sends: Bool
        var deadline: Moment?
    }

    /// Makes sure that there is a courier. Under the lock.
    func startCourier(_ state: inout State) {
        guard state.courier == nil, state.exchange.failure == nil else { return }
        do throws(LarderError) {
            let wakeUp = try WakeUp()
            try ServiceThread.start { self.runCourier(wakeUp) }
            state.courier = Courier(wakeUp: wakeUp)
        } catch {
            end(error, &state)
        }
    }

    /// Wakes the courier if it waits for less than is now needed. Under the lock.
    func ringCourier(_ state: inout State) {
        guard let plan = state.courier?.plan else { return }
        let mustRead = state.reader == .nobody && state.followers.isEmpty && !state.tasks.isEmpty
        let isLate =
            if let due = state.earliestTaskDeadline, !state.tasks.isEmpty {
                plan.deadline.map { due < $0 } ?? true
            } else {
                false
            }
        guard
            state.exchange.failure != nil || (mustRead && !plan.reads)
                || (!state.outbox.isEmpty && !plan.sends) || isLate
        else { return }
        state.courier?.plan = nil
        state.courier?.wakeUp.ring()
    }

    private func runCourier(_ wakeUp: WakeUp) {
        while let plan = update({ nextPlan(&$0) }) {
            let (canRead, canSend) = poll(plan, wakeUp)
            let reads = update { state -> Bool in
                state.courier?.plan = nil
                if canSend { flush(&state) }
                guard canRead, state.reader == .nobody else { return false }
                state.reader = .courier
                return true
            }
            guard reads else { continue }
            let reading = reader.read(until: nil)
            update { state in
                absorb(reading, &state)
                state.passReaderOn()
            }
        }
    }

    /// What to wait for next; nil once the connection has ended.
    private func nextPlan(_ state: inout State) -> Plan? {
        guard state.exchange.failure == nil else { return nil }
        state.wakeExpiredTasks(now: .now)
        let plan = Plan(
            reads: state.reader == .nobody, sends: !state.outbox.isEmpty,
            deadline: state.tasks.isEmpty ? nil : state.earliestTaskDeadline)
        state.courier?.plan = plan
        return plan
    }

    private func poll(_ plan: Plan, _ wakeUp: WakeUp) -> (canRead: Bool, canSend: Bool) {
        let events = (plan.reads ? POLLIN : 0) | (plan.sends ? POLLOUT : 0)
        // A descriptor without events would still report that the peer has gone, again and again.
        let descriptor = events == 0 ? -1 : socket.descriptor
        var descriptors = [
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
        ]
        Glibc.poll(&descriptors, 2, plan.deadline?.remainingMilliseconds ?? -1)
        if descriptors[0].revents != 0 { wakeUp.silence() }
        let found = Int32(descriptors[1].revents)
        let isBroken = found & (POLLHUP | POLLERR) != 0
        return (
            plan.reads && (found & POLLIN != 0 || isBroken),
            plan.sends && (found & POLLOUT != 0 || isBroken)
        )
    }
}
