import LarderModel
import LarderWire

/// One call over all its attempts: what each outcome means, and whether it is asked again.
///
/// It reads no clock: the caller says what time it is. Reads are asked again while the call's time
/// and the wait for the server allow it; a write only if it certainly was not executed.
struct Attempt {
    /// How one attempt ended.
    enum Outcome {
        case answered(Exchange.Answer)
        case timedOut(wasSent: Bool)
        case cancelled(wasSent: Bool)
    }

    let isWrite: Bool
    let timeout: Duration
    /// When the whole call must be over.
    let deadline: ContinuousClock.Instant
    /// How long to wait for the server; zero for a connection that cannot come back.
    private let reconnectWait: Duration
    /// Why the last attempt has to be made again.
    private(set) var loss: LarderError?
    /// Set at the first loss.
    private var waitsUntil: ContinuousClock.Instant?

    init(
        isWrite: Bool, timeout: Duration, reconnectWait: Duration, now: ContinuousClock.Instant
    ) {
        self.isWrite = isWrite
        self.timeout = timeout
        self.deadline = now.advanced(by: timeout.waiting)
        self.reconnectWait = reconnectWait
    }

    /// Until when a connection may be waited for. The wait counts from the first loss.
    func connectionDeadline(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        waitsUntil ?? min(deadline, now.advanced(by: reconnectWait.waiting))
    }

    /// The server's reply, or nil if the call must be made again over a new connection.
    mutating func settle(
        _ outcome: Outcome, now: ContinuousClock.Instant
    ) throws(LarderError) -> Reply? {
        switch outcome {
        case .answered(.reply(.failed(let error))):
            // An unavailable server has not executed the request.
            guard error.code == .unavailable, startWaiting(after: error, now) else { throw error }
            return nil
        case .answered(.reply(let reply)):
            return reply
        case .answered(.lost(let error, let mayHaveRun)):
            if mayHaveRun && isWrite { throw indeterminate(error.message) }
            let isRepeatable =
                !mayHaveRun || error.code == .connectionFailed || error.code == .unavailable
            guard isRepeatable, startWaiting(after: error, now) else { throw error }
            return nil
        case .timedOut(let wasSent):
            let message = "the server did not answer within \(timeout)"
            if wasSent && isWrite { throw indeterminate(message) }
            throw LarderError(
                .timeout, message, hint: "ask for less, or allow a longer request timeout")
        case .cancelled(let wasSent):
            let message = "the call was cancelled"
            if wasSent && isWrite { throw indeterminate(message) }
            throw LarderError(.cancelled, message)
        }
    }

    /// Whether the call may wait for another connection.
    private mutating func startWaiting(
        after error: LarderError, _ now: ContinuousClock.Instant
    ) -> Bool {
        loss = error
        let until = connectionDeadline(now: now)
        waitsUntil = until
        return reconnectWait > .zero && now < until
    }

    private func indeterminate(_ reason: String) -> LarderError {
        LarderError(
            .indeterminate, "\(reason); the write may or may not have happened",
            hint: "read the objects again before repeating the write")
    }
}
