import LarderModel
internal import LarderWire

/// The attempts of one call: what the outcome of each means, and whether the call is retried.
///
/// It reads no clock; the caller passes the time. A read is retried while the call's timeout and
/// the wait for a reconnection allow it. So is a write with an idempotency key. A write without one
/// is retried only if the server certainly did not execute it. A read whose whole result is wanted
/// is repeated a few times if the server could not keep its snapshot, as after a long save.
struct Attempt {
    /// How one attempt ended.
    enum Outcome {
        case response(RequestTracker.Response)
        case timedOut(wasSent: Bool)
        case cancelled(wasSent: Bool)
    }

    let isWrite: Bool
    /// Whether the write has an idempotency key.
    let hasKey: Bool
    let timeout: Duration
    /// The end of the whole call.
    let deadline: MonotonicInstant
    /// How long to wait for a new connection; zero if there can be none.
    private let reconnectWait: Duration
    /// The error of the last attempt, if the call is retried.
    private(set) var lastLoss: LarderError?
    /// Whether the server may have executed a write whose reply was lost.
    private var mayHaveRun = false
    /// Set by the first loss.
    private var reconnectDeadline: MonotonicInstant?
    /// How often the read is still repeated if its snapshot ends.
    private var expiriesLeft: Int
    /// Whether the call is retried over a new connection, and not over the same one.
    private(set) var needsConnection = true

    init(
        isWrite: Bool, hasKey: Bool = false, expiriesMax: Int = 0, timeout: Duration,
        reconnectWait: Duration, now: MonotonicInstant
    ) {
        expiriesLeft = expiriesMax
        self.isWrite = isWrite
        self.hasKey = hasKey
        self.timeout = timeout
        self.deadline = now.advanced(by: timeout)
        self.reconnectWait = reconnectWait
    }

    /// The end of the wait for a connection. The wait begins with the first loss.
    func connectionDeadline(now: MonotonicInstant) -> MonotonicInstant {
        reconnectDeadline ?? min(deadline, now.advanced(by: reconnectWait))
    }

    /// The server's reply, or nil if the caller must retry, over a new connection unless
    /// ``needsConnection`` is false.
    ///
    /// - Throws: the error with which the call ends.
    mutating func resolve(
        _ outcome: Outcome, now: @autoclosure () -> MonotonicInstant
    ) throws(LarderError) -> Reply? {
        switch outcome {
        case .response(.reply(.failed(let error))):
            // The server looks up the idempotency key first and checks the changes after it, so an
            // error in the changes means that no earlier attempt was executed.
            if 200..<500 ~= error.code.rawValue { throw error }
            if error.code == .snapshotExpired, expiriesLeft > 0 {
                expiriesLeft -= 1
                needsConnection = false
                return nil
            }
            // An unavailable server has not executed the request.
            guard error.code == .unavailable, startWaiting(after: error, now()) else {
                throw finalError(error)
            }
            return nil
        case .response(.reply(let reply)):
            return reply
        case .response(.lost(let error, let mayHaveRun)):
            if mayHaveRun && isWrite { self.mayHaveRun = true }
            let isRepeatable =
                !mayHaveRun || error.code == .connectionFailed || error.code == .unavailable
            guard isRepeatable, hasKey || !self.mayHaveRun, startWaiting(after: error, now()) else {
                throw finalError(error)
            }
            return nil
        case .timedOut(let wasSent):
            let message = "the server did not reply within \(timeout)"
            throw finalError(
                LarderError(
                    .timeout, message,
                    hint: "request less at once, or set a longer request timeout; the server has a "
                        + "time limit of its own, --query-timeout of larderd"),
                wasSent: wasSent)
        case .cancelled(let wasSent):
            let message = "the call was cancelled"
            throw finalError(LarderError(.cancelled, message), wasSent: wasSent)
        }
    }

    /// The error that the caller gets: `indeterminate` if the write may have been executed.
    ///
    /// - Parameter wasSent: Whether the last attempt sent the request.
    func finalError(_ error: LarderError, wasSent: Bool = false) -> LarderError {
        guard mayHaveRun || (isWrite && wasSent) else { return error }
        return LarderError(
            .indeterminate, "\(error.message); the write may or may not have been executed",
            hint: hasKey
                ? "send the same changes with the same idempotency key again"
                : "read the objects again before repeating the write")
    }

    /// Whether the call may wait for another connection.
    private mutating func startWaiting(
        after error: LarderError, _ now: MonotonicInstant
    ) -> Bool {
        lastLoss = error
        needsConnection = true
        let deadline = connectionDeadline(now: now)
        reconnectDeadline = deadline
        return reconnectWait > .zero && now < deadline
    }
}
