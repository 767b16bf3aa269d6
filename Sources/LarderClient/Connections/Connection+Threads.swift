import LarderModel

/// Waiting in a thread, which reads the socket itself unless another thread does.
extension Connection {
    private enum Step {
        case done(Attempt.Outcome)
        /// Read the socket.
        case read
        /// Wait for the thread that reads.
        case wait
    }

    /// The next response to a request. Blocks until there is one, or the deadline.
    ///
    /// - Parameter isPolling: Whether the request stays open after the deadline.
    func outcome(
        of id: UInt64, until deadline: MonotonicInstant, isPolling: Bool = false
    ) -> Attempt.Outcome {
        var reading: ReplyReader.ReadResult?
        var isWaiting = false
        while true {
            let step = update { state -> Step in
                let hasRead = reading != nil
                if let reading { finishReading(reading, &state) }
                if isWaiting { state.waitingThreadCount -= 1 }
                // The clock is read only after a wait.
                let step = nextStep(
                    id, hasRead || isWaiting ? deadline : nil, isPolling: isPolling, &state)
                switch step {
                case .done: if hasRead { state.mustSignal = true }
                case .read: state.isReading = true
                case .wait: state.waitingThreadCount += 1
                }
                return step
            }
            (reading, isWaiting) = (nil, false)
            switch step {
            case .done(let outcome): return outcome
            case .read: reading = reader.read(until: deadline)
            case .wait:
                waitForChange(until: deadline) { state in
                    !state.isReading || !state.mustWait(id)
                }
                isWaiting = true
            }
        }
    }

    /// - Parameter deadline: nil before the first wait.
    private func nextStep(
        _ id: UInt64, _ deadline: MonotonicInstant?, isPolling: Bool, _ state: inout State
    ) -> Step {
        if let outcome = take(id, &state) { return .done(outcome) }
        if let deadline, deadline.isPast {
            return .done(.timedOut(wasSent: isPolling || abandon(id, &state)))
        }
        return state.isReading ? .wait : .read
    }
}
