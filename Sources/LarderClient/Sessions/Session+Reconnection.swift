import LarderModel
internal import LarderWire

/// Getting a connection, and a new one for one that was lost.
extension Session {
    /// Where the replacement of a lost connection stands.
    ///
    /// A run is a thread that tries to connect, with growing pauses, until it succeeds, is refused
    /// for good, or nobody waits any more. There is one run at a time.
    struct Reconnection {
        /// Counts the runs, from 1.
        var run = 0
        var isRunning = false
        /// Somebody waits until then.
        var waitedForUntil: Moment?
        var backoff = Backoff()
        /// Why the last attempt failed.
        var lastError: LarderError?
        /// The last run that was refused for good, and how.
        var refusal: (run: Int, error: LarderError)?
        var tasks: [Connection.WaitingTask] = []
    }

    /// One that wants a connection.
    private struct Want {
        /// The connection that did not serve, if there was one, and how it did not.
        var failed: Connection?
        var loss: LarderError?
        var deadline: Moment
        /// The run that it waits for, once it has to.
        var run: Int?
    }

    /// A connection that serves; after a failed one, another. Blocks as long as the attempt may.
    func connection(
        replacing failed: Connection?, for attempt: Attempt
    ) throws(LarderError) -> Connection {
        if failed == nil, let connection = servingConnection { return connection }
        var want = want(failed, attempt)
        let result = monitor.wait(for: changed, until: want.deadline) { answer(&want, &$0) }
        return try (result ?? .failure(givenUp(want))).get()
    }

    /// The same without blocking; ends early if the task is cancelled.
    func connection(
        replacing failed: Connection?, for attempt: Attempt
    ) async throws(LarderError) -> Connection {
        if failed == nil, let connection = servingConnection { return connection }
        var want = want(failed, attempt)
        while true {
            if let result = answerNow(&want) { return try result.get() }
            if Task.isCancelled { throw LarderError(.cancelled, "the call was cancelled") }
            if want.deadline.isPast { throw givenUp(want) }
            await pause(&want)
        }
    }

    /// Changes the state; then wakes all who wait for a connection.
    func update<Answer>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, tasks) = monitor.withLock { state in
            let answer = body(&state)
            defer { state.reconnection.tasks = [] }
            return (answer, state.reconnection.tasks)
        }
        changed.signal()
        for task in tasks { task.continuation.resume() }
        return answer
    }

    /// The connection that serves now: all that most calls ever want.
    private var servingConnection: Connection? {
        monitor.withLock { state in
            guard let current = state.current, !current.hasEnded else { return nil }
            return current
        }
    }

    private func want(_ failed: Connection?, _ attempt: Attempt) -> Want {
        Want(
            failed: failed, loss: attempt.loss, deadline: attempt.connectionDeadline(now: .now))
    }

    private func answerNow(_ want: inout Want) -> Result<Connection, LarderError>? {
        monitor.withLock { answer(&want, &$0) }
    }

    /// What can be said at once to one that wants a connection; nil if it must wait for a run.
    /// Under the lock.
    private func answer(
        _ want: inout Want, _ state: inout State
    ) -> Result<Connection, LarderError>? {
        if state.isClosed { return .failure(.clientClosed) }
        if let current = state.current {
            if current !== want.failed, !current.hasEnded { return .success(current) }
            state.drop(current)
        }
        guard reconnectWait > .zero else {
            return .failure(want.loss ?? .serverClosed)
        }
        if let run = want.run, let refusal = state.reconnection.refusal, refusal.run >= run {
            return .failure(refusal.error)
        }
        if want.deadline.isPast { return nil }
        let latest = state.reconnection.waitedForUntil ?? want.deadline
        state.reconnection.waitedForUntil = max(latest, want.deadline)
        if !state.reconnection.isRunning {
            do throws(LarderError) {
                try ServiceThread.start { self.reconnect() }
            } catch {
                return .failure(error)
            }
            state.reconnection.isRunning = true
            state.reconnection.run += 1
        }
        want.run = want.run ?? state.reconnection.run
        return nil
    }

    /// Returns when there may be something new.
    private func pause(_ want: inout Want) async {
        var wanted = want
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = monitor.withLock { state in
                    // What has changed since is seen here; a later change finds the task waiting.
                    guard !Task.isCancelled, answer(&wanted, &state) == nil else { return false }
                    state.reconnection.tasks.append(
                        Connection.WaitingTask(
                            deadline: wanted.deadline, continuation: continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            update { _ in }
        }
        want = wanted
    }

    private func givenUp(_ want: Want) -> LarderError {
        let error =
            monitor.withLock { $0.reconnection.lastError } ?? want.loss ?? .serverClosed
        return LarderError(
            error.code, "\(error.message), and the server did not come back in time",
            hint: error.hint)
    }
}

// MARK: - The thread that connects

extension Session {
    private enum Progress {
        case connected(Connection)
        case failed(LarderError)
    }

    private func reconnect() {
        guard let path else { return }
        while let pauseEnd = nextPause() {
            _ = monitor.wait(for: changed, until: pauseEnd) { $0.isClosed ? true : nil }
            let progress: Progress
            do throws(LarderError) {
                progress = .connected(try Session.connect(to: path, options: options))
            } catch {
                progress = .failed(error)
            }
            if take(progress) { return }
        }
    }

    /// Until when to pause before the next attempt; nil if nobody waits for one.
    private func nextPause() -> Moment? {
        let now = Moment.now
        let pauseEnd = monitor.withLock { state -> Moment? in
            guard let until = state.reconnection.waitedForUntil, until > now, !state.isClosed else {
                state.reconnection.isRunning = false
                state.reconnection.waitedForUntil = nil
                return nil
            }
            let pauseEnd = now.advanced(by: state.reconnection.backoff.next())
            return state.reconnection.tasks.map(\.deadline).reduce(pauseEnd, min)
        }
        let someoneIsLate = monitor.withLock { state in
            state.reconnection.tasks.contains { $0.deadline <= now }
        }
        if pauseEnd == nil || someoneIsLate { update { _ in } }
        return pauseEnd
    }

    /// - Returns: whether the run is over.
    private func take(_ progress: Progress) -> Bool {
        switch progress {
        case .failed(let error):
            let isFinal = !Session.mayPass(error)
            update { state in
                state.reconnection.lastError = error
                if isFinal { state.refuse(error) }
            }
            return isFinal
        case .connected(let connection):
            let error = update { state -> LarderError? in
                let error =
                    state.isClosed ? .clientClosed : state.mismatch(with: connection.welcome)
                if let error { state.refuse(error) } else { state.adopt(connection) }
                return error
            }
            if let error { connection.end(error) }
            return true
        }
    }

    /// Whether the next attempt may succeed where this one failed.
    private static func mayPass(_ error: LarderError) -> Bool {
        switch error.code {
        case .connectionFailed, .unavailable, .timeout, .resourceExhausted: true
        default: false
        }
    }
}

extension Session.State {
    /// The connection takes no more calls; those under way on it may still be answered.
    mutating func drop(_ connection: Connection) {
        current = nil
        // One that never answered leads to the next pause, so that a server that fails at once
        // is not asked again and again without any.
        if connection.retire() { reconnection.backoff.reset() }
        retired.removeAll { $0.hasEnded }
        if !connection.hasEnded { retired.append(connection) }
    }

    fileprivate mutating func adopt(_ connection: Connection) {
        current = connection
        welcome = connection.welcome
        reconnection.isRunning = false
        reconnection.waitedForUntil = nil
        reconnection.lastError = nil
    }

    fileprivate mutating func refuse(_ error: LarderError) {
        reconnection.refusal = (reconnection.run, error)
        reconnection.isRunning = false
        reconnection.waitedForUntil = nil
        reconnection.lastError = error
    }

    fileprivate func mismatch(with other: Welcome) -> LarderError? {
        guard other.storeIdentifier != welcome.storeIdentifier else { return nil }
        return LarderError(
            .connectionFailed,
            "the server came back with another store, \(other.storeIdentifier.uuidString) "
                + "instead of \(welcome.storeIdentifier.uuidString)",
            hint: "connect anew; identifiers of the former store are not valid in this one")
    }
}
