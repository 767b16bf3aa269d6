import Glibc
import LarderModel

/// The connection's I/O thread: it reads while only tasks wait, wakes them at their deadlines, and
/// sends what the socket did not take at once.
///
/// It starts when it is first needed and ends with the connection.
extension Connection {
    /// Protected by the monitor's lock.
    final class IOThread {
        let wakeUp: WakeUpDescriptor
        /// The events that `poll` waits for; nil while the thread works and will check the state
        /// again.
        var interest: PollInterest?

        init(wakeUp: WakeUpDescriptor) { self.wakeUp = wakeUp }
    }

    struct PollInterest {
        var reads: Bool
        var sends: Bool
        var deadline: MonotonicInstant?
    }

    /// Starts the I/O thread unless it runs. Called under the lock.
    func startIOThread(_ state: inout State) {
        guard state.ioThread == nil, state.requests.failure == nil else { return }
        do throws(LarderError) {
            let wakeUp = try WakeUpDescriptor()
            try BackgroundThread.start { self.runIOThread(wakeUp) }
            state.ioThread = IOThread(wakeUp: wakeUp)
        } catch {
            end(error, &state)
        }
    }

    /// Wakes the I/O thread if it waits for less than is needed now. Called under the lock.
    func wakeIOThreadIfNeeded(_ state: inout State) {
        guard let interest = state.ioThread?.interest else { return }
        let mustRead = !state.isReading && state.waitingThreadCount == 0 && !state.tasks.isEmpty
        let isLate =
            if let due = state.earliestTaskDeadline, !state.tasks.isEmpty {
                interest.deadline.map { due < $0 } ?? true
            } else {
                false
            }
        guard
            state.requests.failure != nil || (mustRead && !interest.reads)
                || (!state.sendQueue.isEmpty && !interest.sends) || isLate
        else { return }
        state.ioThread?.interest = nil
        state.ioThread?.wakeUp.wake()
    }

    private func runIOThread(_ wakeUp: WakeUpDescriptor) {
        while let interest = update({ nextInterest(&$0) }) {
            let (canRead, canSend) = poll(interest, wakeUp)
            let reads = update { state -> Bool in
                state.ioThread?.interest = nil
                if canSend { flush(&state) }
                guard canRead, !state.isReading else { return false }
                state.isReading = true
                return true
            }
            guard reads else { continue }
            let reading = reader.read(until: nil)
            update { state in
                finishReading(reading, &state)
                state.mustSignal = true
            }
        }
    }

    /// The events to wait for next; nil after the connection has ended.
    private func nextInterest(_ state: inout State) -> PollInterest? {
        guard state.requests.failure == nil else { return nil }
        state.wakeExpiredTasks(now: .now)
        let interest = PollInterest(
            reads: !state.isReading, sends: !state.sendQueue.isEmpty,
            deadline: state.tasks.isEmpty ? nil : state.earliestTaskDeadline)
        state.ioThread?.interest = interest
        return interest
    }

    private func poll(
        _ interest: PollInterest, _ wakeUp: WakeUpDescriptor
    ) -> (canRead: Bool, canSend: Bool) {
        // The bits of `poll` fit into 16 bits.
        let events = Int16((interest.reads ? POLLIN : 0) | (interest.sends ? POLLOUT : 0))
        // `poll` reports a closed peer even without events, so the descriptor must be left out.
        let descriptor = events == 0 ? -1 : socket.descriptor
        var descriptors = [
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: events, revents: 0),
        ]
        Glibc.poll(&descriptors, 2, interest.deadline?.remainingMilliseconds ?? -1)
        if descriptors[0].revents != 0 { wakeUp.drain() }
        let found = Int32(truncatingIfNeeded: descriptors[1].revents)
        let isBroken = found & (POLLHUP | POLLERR) != 0
        return (
            interest.reads && (found & POLLIN != 0 || isBroken),
            interest.sends && (found & POLLOUT != 0 || isBroken)
        )
    }
}
