import LarderModel
internal import LarderWire

/// One call over all its attempts: what each outcome means, and whether it is asked again.
///
/// It reads no clock: the caller says what time it is, where that matters. Reads are asked again
/// while the call's time and the wait for the server allow it; so is a write with an idempotency
/// key, and one without only if it certainly was not executed.
struct Attempt {
    /// How one attempt ended.
    enum Outcome {
        case answered(Exchange.Answer)
        case timedOut(wasSent: Bool)
        case cancelled(wasSent: Bool)
    }

    let isWrite: Bool
    /// Whether the write has an idempotency key.
    let hasKey: Bool
    let timeout: Duration
    /// When the whole call must be over.
    let deadline: Moment
    /// How long to wait for the server; zero for a connection that cannot come back.
    private let reconnectWait: Duration
    /// Why the last attempt has to be made again.
    private(set) var loss: LarderError?
    /// Whether a write was sent of which nothing is known.
    private var mayHaveRun = false
    /// Set at the first loss.
    private var waitsUntil: Moment?

    init(
        isWrite: Bool, hasKey: Bool = false, timeout: Duration, reconnectWait: Duration,
        now: Moment
    ) {
        self.isWrite = isWrite
        self.hasKey = hasKey
        self.timeout = timeout
        self.deadline = now.advanced(by: timeout)
        self.reconnectWait = reconnectWait
    }

    /// Until when a connection may be waited for. The wait counts from the first loss.
    func connectionDeadline(now: Moment) -> Moment {
        waitsUntil ?? min(deadline, now.advanced(by: reconnectWait))
    }

    /// The server's reply, or nil if the call must be made again over a new connection.
    mutating func settle(
        _ outcome: Outcome, now: @autoclosure () -> Moment
    ) throws(LarderError) -> Reply? {
        switch outcome {
        case .answered(.reply(.failed(let error))):
            // What a server finds wrong with a set it finds after it has looked for the key.
            if 200..<500 ~= error.code.rawValue { throw error }
            // An unavailable server has not executed the request.
            guard error.code == .unavailable, startWaiting(after: error, now()) else {
                throw final(error)
            }
            return nil
        case .answered(.reply(let reply)):
            return reply
        case .answered(.lost(let error, let mayHaveRun)):
            if mayHaveRun && isWrite { self.mayHaveRun = true }
            let isRepeatable =
                !mayHaveRun || error.code == .connectionFailed || error.code == .unavailable
            guard isRepeatable, hasKey || !self.mayHaveRun, startWaiting(after: error, now()) else {
                throw final(error)
            }
            return nil
        case .timedOut(let wasSent):
            let message = "the server did not answer within \(timeout)"
            throw final(
                LarderError(
                    .timeout, message, hint: "ask for less, or allow a longer request timeout"),
                wasSent: wasSent)
        case .cancelled(let wasSent):
            let message = "the call was cancelled"
            throw final(LarderError(.cancelled, message), wasSent: wasSent)
        }
    }

    /// What the caller is told when the call ends with an error that does not tell what became of
    /// the write: `indeterminate` if it was sent before.
    ///
    /// - Parameter wasSent: Whether it was sent in the attempt that ends so.
    func final(_ error: LarderError, wasSent: Bool = false) -> LarderError {
        guard mayHaveRun || (isWrite && wasSent) else { return error }
        return LarderError(
            .indeterminate, "\(error.message); the write may or may not have happened",
            hint: hasKey
                ? "send the same changes with the same idempotency key again"
                : "read the objects again before repeating the write")
    }

    /// Whether the call may wait for another connection.
    private mutating func startWaiting(
        after error: LarderError, _ now: Moment
    ) -> Bool {
        loss = error
        let until = connectionDeadline(now: now)
        waitsUntil = until
        return reconnectWait > .zero && now < until
    }
}
