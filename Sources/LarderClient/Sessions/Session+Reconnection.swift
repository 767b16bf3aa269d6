import LarderModel
internal import LarderWire

/// Getting a connection, and a new one after the current one is lost.
extension Session {
    /// The state of the thread that replaces a lost connection.
    ///
    /// A run is one such thread. It tries to connect, with growing pauses, until it succeeds, is
    /// refused, or no caller waits any more. There is one run at a time.
    struct Reconnection {
        /// The number of runs so far.
        var run = 0
        var isRunning = false
        /// The latest deadline of the callers that wait.
        var waitedForUntil: MonotonicInstant?
        var backoff = Backoff()
        /// Why the last attempt failed.
        var lastError: LarderError?
        /// The last run that was refused, and the error.
        var refusal: (run: Int, error: LarderError)?
        var tasks: [Connection.WaitingTask] = []
    }

    /// One caller's need for a connection.
    private struct ConnectionRequest {
        /// The connection that failed, if there was one, and its error.
        var failed: Connection?
        var loss: LarderError?
        var deadline: MonotonicInstant
        /// The run that the caller waits for; nil before it waits.
        var run: Int?
    }

    /// A usable connection other than the failed one. Blocks as long as the attempt allows.
    ///
    /// - Throws: `connectionFailed`, or the error of the last attempt to connect.
    func connection(
        replacing failed: Connection?, for attempt: Attempt
    ) throws(LarderError) -> Connection {
        if failed == nil, let connection = usableConnection { return connection }
        var request = connectionRequest(failed, attempt)
        let result = monitor.wait(for: changed, until: request.deadline) {
            resolve(&request, &$0)
        }
        return try (result ?? .failure(timeout(request))).get()
    }

    /// The asynchronous form. Ends early if the task is cancelled.
    func connection(
        replacing failed: Connection?, for attempt: Attempt
    ) async throws(LarderError) -> Connection {
        if failed == nil, let connection = usableConnection { return connection }
        var request = connectionRequest(failed, attempt)
        while true {
            if let result = resolve(&request) { return try result.get() }
            if Task.isCancelled { throw LarderError(.cancelled, "the call was cancelled") }
            if request.deadline.isPast { throw timeout(request) }
            await waitForChange(&request)
        }
    }

    /// Changes the state, then wakes all callers that wait for a connection.
    func update<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, tasks) = monitor.withLock { state in
            let result = body(&state)
            defer { state.reconnection.tasks = [] }
            return (result, state.reconnection.tasks)
        }
        changed.signal()
        for task in tasks { task.continuation.resume() }
        return result
    }

    /// The current connection, which is all that most calls need.
    private var usableConnection: Connection? {
        monitor.withLock { state in
            guard let current = state.current, !current.hasEnded else { return nil }
            return current
        }
    }

    private func connectionRequest(_ failed: Connection?, _ attempt: Attempt) -> ConnectionRequest {
        ConnectionRequest(
            failed: failed, loss: attempt.lastLoss,
            deadline: attempt.connectionDeadline(now: .now))
    }

    private func resolve(_ request: inout ConnectionRequest) -> Result<Connection, LarderError>? {
        monitor.withLock { resolve(&request, &$0) }
    }

    /// The result for a caller, or nil if it must wait for a run. Called under the lock.
    private func resolve(
        _ request: inout ConnectionRequest, _ state: inout State
    ) -> Result<Connection, LarderError>? {
        if state.isClosed { return .failure(.clientClosed) }
        if let current = state.current {
            if current !== request.failed, !current.hasEnded { return .success(current) }
            state.retire(current)
        }
        guard reconnectWait > .zero else {
            return .failure(request.loss ?? .serverClosed)
        }
        if let run = request.run, let refusal = state.reconnection.refusal, refusal.run >= run {
            return .failure(refusal.error)
        }
        if request.deadline.isPast { return nil }
        let latest = state.reconnection.waitedForUntil ?? request.deadline
        state.reconnection.waitedForUntil = max(latest, request.deadline)
        if !state.reconnection.isRunning {
            do throws(LarderError) {
                try BackgroundThread.start { self.reconnect() }
            } catch {
                return .failure(error)
            }
            state.reconnection.isRunning = true
            state.reconnection.run += 1
        }
        request.run = request.run ?? state.reconnection.run
        return nil
    }

    /// Returns when there may be a result.
    private func waitForChange(_ request: inout ConnectionRequest) async {
        var waiting = request
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = monitor.withLock { state in
                    // An earlier change is seen here; a later one finds the waiting task.
                    guard !Task.isCancelled, resolve(&waiting, &state) == nil else { return false }
                    state.reconnection.tasks.append(
                        Connection.WaitingTask(
                            deadline: waiting.deadline, continuation: continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            update { _ in }
        }
        request = waiting
    }

    private func timeout(_ request: ConnectionRequest) -> LarderError {
        let error =
            monitor.withLock { $0.reconnection.lastError } ?? request.loss ?? .serverClosed
        return LarderError(
            error.code, "\(error.message), and no new connection could be made in time",
            hint: error.hint)
    }
}

// MARK: - The thread that connects

extension Session {
    private func reconnect() {
        guard let connector else { return }
        while let pauseEnd = nextPause() {
            _ = monitor.wait(for: changed, until: pauseEnd) { $0.isClosed ? true : nil }
            let result: Result<Connection, LarderError>
            do throws(LarderError) {
                result = .success(try connector.connect(options))
            } catch {
                result = .failure(error)
            }
            if finishAttempt(result) { return }
        }
    }

    /// The end of the pause before the next attempt; nil if no caller waits for one.
    private func nextPause() -> MonotonicInstant? {
        let now = MonotonicInstant.now
        let pauseEnd = monitor.withLock { state -> MonotonicInstant? in
            guard let until = state.reconnection.waitedForUntil, until > now, !state.isClosed else {
                state.reconnection.isRunning = false
                state.reconnection.waitedForUntil = nil
                return nil
            }
            let pause = state.reconnection.backoff.next()
            let pauseEnd = now.advanced(by: min(pause, connector?.pauseMax ?? pause))
            return state.reconnection.tasks.map(\.deadline).reduce(pauseEnd, min)
        }
        let hasExpiredTask = monitor.withLock { state in
            state.reconnection.tasks.contains { $0.deadline <= now }
        }
        if pauseEnd == nil || hasExpiredTask { update { _ in } }
        return pauseEnd
    }

    /// - Returns: whether the run is over.
    private func finishAttempt(_ result: Result<Connection, LarderError>) -> Bool {
        switch result {
        case .failure(let error):
            let isFinal = !Connector.mayTryAgain(after: error)
            update { state in
                state.reconnection.lastError = error
                if isFinal { state.refuse(error) }
            }
            return isFinal
        case .success(let connection):
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
}

extension Session.State {
    /// The connection takes no more calls. The calls in flight on it may still get their replies.
    mutating func retire(_ connection: Connection) {
        current = nil
        // A server that fails every time must not be called in a loop without pauses, so the
        // backoff is reset only if the connection had a reply.
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
            "the server now serves another store, \(other.storeIdentifier.uuidString) "
                + "instead of \(welcome.storeIdentifier.uuidString)",
            hint: "make a new client; identifiers of the former store are not valid in this one")
    }
}
