import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("The outcomes of attempts")
struct AttemptTests {
    private let start = MonotonicInstant.now
    private let closed = LarderError(.connectionFailed, "closed")
    private let unavailable = RequestTracker.Response.reply(
        .failed(LarderError(.unavailable, "later")))

    private func attempt(
        isWrite: Bool = false, hasKey: Bool = false, expiriesMax: Int = 0,
        reconnectWait: Duration = .seconds(10)
    ) -> Attempt {
        Attempt(
            isWrite: isWrite, hasKey: hasKey, expiriesMax: expiriesMax, timeout: .seconds(30),
            reconnectWait: reconnectWait, now: start)
    }

    /// The code of the error; nil if the call is retried.
    private func code(
        _ outcome: Attempt.Outcome, _ attempt: inout Attempt, after seconds: Int = 0
    ) -> ErrorCode? {
        do throws(LarderError) {
            let reply = try attempt.resolve(outcome, now: start.advanced(by: .seconds(seconds)))
            #expect(reply == nil)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a reply ends a call with its value")
    func reply() throws {
        var attempt = attempt()
        #expect(try attempt.resolve(.response(.reply(.pong)), now: start) == .pong)
    }

    @Test("a read whose connection was lost is retried")
    func lostRead() {
        var attempt = attempt()
        #expect(code(.response(.lost(closed, mayHaveRun: true)), &attempt) == nil)
    }

    @Test("a read whose snapshot ended is repeated over its connection, a limited number of times")
    func expiredRead() {
        let expired = Attempt.Outcome.response(
            .reply(.failed(LarderError(.snapshotExpired, "too long"))))
        var attempt = attempt(expiriesMax: 2)
        for _ in 0..<2 {
            #expect(code(expired, &attempt) == nil)
            #expect(!attempt.needsConnection)
        }
        #expect(code(.response(.lost(closed, mayHaveRun: true)), &attempt) == nil)
        #expect(attempt.needsConnection)
        #expect(code(expired, &attempt) == .snapshotExpired)
        var inSnapshot = self.attempt()
        #expect(code(expired, &inSnapshot) == .snapshotExpired)
    }

    @Test("a write whose reply was lost is indeterminate, and is never retried")
    func lostWrite() {
        var attempt = attempt(isWrite: true)
        #expect(code(.response(.lost(closed, mayHaveRun: true)), &attempt) == .indeterminate)
    }

    @Test("a write with a key whose reply was lost is retried, and the next error decides")
    func lostKeyedWrite() {
        let lost = Attempt.Outcome.response(.lost(closed, mayHaveRun: true))
        func failed(_ code: ErrorCode) -> Attempt.Outcome {
            .response(.reply(.failed(LarderError(code, "no"))))
        }
        let expected: [ErrorCode: ErrorCode] = [
            .versionConflict: .versionConflict, .validationFailed: .validationFailed,
            .objectNotFound: .objectNotFound, .idempotencyMismatch: .idempotencyMismatch,
            .timeout: .indeterminate, .readOnly: .indeterminate,
            .resourceExhausted: .indeterminate, .storageFull: .indeterminate,
        ]
        for (sent, seen) in expected {
            var attempt = attempt(isWrite: true, hasKey: true)
            #expect(code(failed(sent), &attempt) == sent)
            #expect(code(lost, &attempt) == nil)
            #expect(code(failed(sent), &attempt) == seen, "\(sent)")
        }
    }

    @Test("a write with a key is indeterminate if no time is left, or no server comes back")
    func keyedWriteInTheEnd() {
        let lost = Attempt.Outcome.response(.lost(closed, mayHaveRun: true))
        var late = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &late) == nil)
        #expect(code(lost, &late, after: 10) == .indeterminate)
        var unsent = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &unsent) == nil)
        #expect(code(.timedOut(wasSent: false), &unsent) == .indeterminate)
        var cancelled = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &cancelled) == nil)
        #expect(code(.cancelled(wasSent: false), &cancelled) == .indeterminate)
        // Without a server there is no reply; the error that ends the wait decides.
        #expect(cancelled.finalError(LarderError(.schemaMismatch, "other")).code == .indeterminate)
        var fixed = attempt(isWrite: true, hasKey: true, reconnectWait: .zero)
        #expect(code(lost, &fixed) == .indeterminate)
        let fresh = attempt(isWrite: true, hasKey: true)
        #expect(fresh.finalError(closed) == closed)
    }

    @Test("a write that was not sent before the connection was lost is retried")
    func unsentWrite() {
        var attempt = attempt(isWrite: true)
        #expect(code(.response(.lost(closed, mayHaveRun: false)), &attempt) == nil)
    }

    @Test("a request that an unavailable server did not execute is retried, also a write")
    func unavailableServer() {
        for isWrite in [false, true] {
            var attempt = attempt(isWrite: isWrite)
            #expect(code(.response(unavailable), &attempt) == nil)
        }
    }

    @Test("the time that a call waits for a server counts from the first loss")
    func waitEnds() {
        var attempt = attempt()
        let outcome = Attempt.Outcome.response(.lost(closed, mayHaveRun: true))
        #expect(code(outcome, &attempt, after: 15) == nil)
        #expect(
            attempt.connectionDeadline(now: start.advanced(by: .seconds(20)))
                == start.advanced(by: .seconds(25)))
        #expect(code(outcome, &attempt, after: 24) == nil)
        #expect(code(outcome, &attempt, after: 25) == .connectionFailed)
    }

    @Test("a call waits for a server no longer than its own timeout")
    func waitWithinDeadline() {
        let attempt = attempt(reconnectWait: .seconds(100))
        #expect(attempt.connectionDeadline(now: start) == start.advanced(by: .seconds(30)))
    }

    @Test("a lost connection is an error at once if reconnection is off")
    func noReconnection() {
        var read = attempt(reconnectWait: .zero)
        #expect(code(.response(.lost(closed, mayHaveRun: true)), &read) == .connectionFailed)
        #expect(code(.response(unavailable), &read) == .unavailable)
        var write = attempt(isWrite: true, reconnectWait: .zero)
        #expect(code(.response(.lost(closed, mayHaveRun: false)), &write) == .connectionFailed)
    }

    @Test("a call is not retried on a server that violates the protocol")
    func brokenServer() {
        let broken = Attempt.Outcome.response(
            .lost(LarderError(.malformedFrame, "garbage"), mayHaveRun: true))
        var read = attempt()
        #expect(code(broken, &read) == .malformedFrame)
        var write = attempt(isWrite: true)
        #expect(code(broken, &write) == .indeterminate)
    }

    @Test("a timeout of a write is indeterminate only if it had been sent")
    func timeouts() {
        var (read, write) = (attempt(), attempt(isWrite: true))
        #expect(code(.timedOut(wasSent: true), &read) == .timeout)
        #expect(code(.timedOut(wasSent: true), &write) == .indeterminate)
        #expect(code(.timedOut(wasSent: false), &write) == .timeout)
    }

    @Test("cancelling a write is indeterminate only if it had been sent")
    func cancellation() {
        var (read, write) = (attempt(), attempt(isWrite: true))
        #expect(code(.cancelled(wasSent: true), &read) == .cancelled)
        #expect(code(.cancelled(wasSent: true), &write) == .indeterminate)
        #expect(code(.cancelled(wasSent: false), &write) == .cancelled)
    }

    @Test("pauses between attempts grow to a maximum, and are reset by a success")
    func backoff() {
        var backoff = Backoff()
        let pauses = (0..<9).map { _ in backoff.next() }
        #expect(
            pauses == [0, 10, 20, 40, 80, 160, 320, 500, 500].map { Duration.milliseconds($0) })
        backoff.reset()
        #expect(backoff.next() == .zero)
    }

    @Test("durations of waits that are too long or negative are clamped")
    func durations() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        #expect(longest.clampedToWait == .waitMax)
        #expect(MonotonicInstant.after(longest) > .now)
    }
}
