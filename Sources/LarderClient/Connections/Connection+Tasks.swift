import LarderModel

/// Waiting in a task, which blocks no thread; `Connection+IOThread.swift` reads.
extension Connection {
    /// The next response to a request. Ends early if the task is cancelled.
    ///
    /// - Parameter isPolling: Whether the request stays open after the deadline.
    func outcome(
        of id: UInt64, until deadline: MonotonicInstant, isPolling: Bool = false
    ) async -> Attempt.Outcome {
        while true {
            let outcome = update { state -> Attempt.Outcome? in
                if let outcome = take(id, &state) { return outcome }
                if Task.isCancelled { return .cancelled(wasSent: abandon(id, &state)) }
                if deadline.isPast {
                    return .timedOut(wasSent: isPolling || abandon(id, &state))
                }
                return nil
            }
            if let outcome { return outcome }
            await waitForChange(of: id, until: deadline)
        }
    }

    /// Returns when the request may have a response, at the deadline, or when the task is
    /// cancelled.
    private func waitForChange(of id: UInt64, until deadline: MonotonicInstant) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = update { state -> Bool in
                    // An earlier cancellation is seen here; a later one finds the waiting task.
                    guard !Task.isCancelled, state.mustWait(id) else { return false }
                    startIOThread(&state)
                    guard state.mustWait(id) else { return false }
                    state.add(WaitingTask(deadline: deadline, continuation: continuation), id)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            update { $0.wake(id) }
        }
    }
}

extension Connection.State {
    /// Whether the request waits for a response and has none yet.
    func mustWait(_ id: UInt64) -> Bool {
        requests.contains(id) && !requests.hasResponse(id)
    }

    fileprivate mutating func add(_ task: Connection.WaitingTask, _ id: UInt64) {
        tasks[id, default: []].append(task)
        earliestTaskDeadline = min(earliestTaskDeadline ?? task.deadline, task.deadline)
    }

    /// Wakes the tasks whose deadline is past.
    mutating func wakeExpiredTasks(now: MonotonicInstant) {
        guard let earliest = earliestTaskDeadline, earliest <= now else { return }
        for (id, waiting) in tasks where waiting.contains(where: { $0.deadline <= now }) {
            wake(id)
        }
        earliestTaskDeadline = tasks.values.joined().map(\.deadline).min()
    }
}
