import LarderModel

/// Waiting in a task, which holds no thread; see `Connection+Courier.swift` for who reads then.
extension Connection {
    /// The next answer to a request. Ends early if the task is cancelled.
    func outcome(
        of id: UInt64, until deadline: Moment
    ) async -> Attempt.Outcome {
        while true {
            let outcome = update { state -> Attempt.Outcome? in
                if let outcome = take(id, &state) { return outcome }
                if Task.isCancelled { return .cancelled(wasSent: abandon(id, &state)) }
                if deadline.isPast { return .timedOut(wasSent: abandon(id, &state)) }
                return nil
            }
            if let outcome { return outcome }
            await pause(id, until: deadline)
        }
    }

    /// Returns when there may be something new for the request.
    private func pause(_ id: UInt64, until deadline: Moment) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = update { state -> Bool in
                    // A cancellation before this is seen here; a later one finds the task waiting.
                    guard !Task.isCancelled, state.mustWait(id) else { return false }
                    startCourier(&state)
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
    fileprivate func mustWait(_ id: UInt64) -> Bool {
        exchange.knows(id) && !exchange.hasAnswer(id)
    }

    fileprivate mutating func add(_ task: Connection.WaitingTask, _ id: UInt64) {
        tasks[id, default: []].append(task)
        earliestTaskDeadline = min(earliestTaskDeadline ?? task.deadline, task.deadline)
    }

    /// Wakes the tasks whose time is up.
    mutating func wakeExpiredTasks(now: Moment) {
        guard let earliest = earliestTaskDeadline, earliest <= now else { return }
        for (id, waiting) in tasks where waiting.contains(where: { $0.deadline <= now }) {
            wake(id)
        }
        earliestTaskDeadline = tasks.values.joined().map(\.deadline).min()
    }
}
