import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("What the outcome of an attempt means")
struct AttemptTests {
    private let start = Moment.now
    private let closed = LarderError(.connectionFailed, "closed")
    private let unavailable = Exchange.Answer.reply(.failed(LarderError(.unavailable, "later")))

    private func attempt(
        isWrite: Bool = false, hasKey: Bool = false, reconnectWait: Duration = .seconds(10)
    ) -> Attempt {
        Attempt(
            isWrite: isWrite, hasKey: hasKey, timeout: .seconds(30), reconnectWait: reconnectWait,
            now: start)
    }

    /// Nil: ask again.
    private func code(
        _ outcome: Attempt.Outcome, _ attempt: inout Attempt, after seconds: Int = 0
    ) -> ErrorCode? {
        do throws(LarderError) {
            let reply = try attempt.settle(outcome, now: start.advanced(by: .seconds(seconds)))
            #expect(reply == nil)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a reply is the answer")
    func reply() throws {
        var attempt = attempt()
        #expect(try attempt.settle(.answered(.reply(.pong)), now: start) == .pong)
    }

    @Test("a read whose connection was lost is asked again")
    func lostRead() {
        var attempt = attempt()
        #expect(code(.answered(.lost(closed, mayHaveRun: true)), &attempt) == nil)
    }

    @Test("a write whose answer was lost is indeterminate, never repeated")
    func lostWrite() {
        var attempt = attempt(isWrite: true)
        #expect(code(.answered(.lost(closed, mayHaveRun: true)), &attempt) == .indeterminate)
    }

    @Test("a write with a key whose answer was lost is asked again, and then the error tells")
    func lostKeyedWrite() {
        let lost = Attempt.Outcome.answered(.lost(closed, mayHaveRun: true))
        func answered(_ code: ErrorCode) -> Attempt.Outcome {
            .answered(.reply(.failed(LarderError(code, "no"))))
        }
        let told: [ErrorCode: ErrorCode] = [
            .versionConflict: .versionConflict, .validationFailed: .validationFailed,
            .objectNotFound: .objectNotFound, .idempotencyMismatch: .idempotencyMismatch,
            .timeout: .indeterminate, .readOnly: .indeterminate,
            .resourceExhausted: .indeterminate, .storageFull: .indeterminate,
        ]
        for (sent, seen) in told {
            var attempt = attempt(isWrite: true, hasKey: true)
            #expect(code(answered(sent), &attempt) == sent)
            #expect(code(lost, &attempt) == nil)
            #expect(code(answered(sent), &attempt) == seen, "\(sent)")
        }
    }

    @Test("a write with a key is indeterminate when no time is left, or no server comes back")
    func keyedWriteInTheEnd() {
        let lost = Attempt.Outcome.answered(.lost(closed, mayHaveRun: true))
        var late = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &late) == nil)
        #expect(code(lost, &late, after: 10) == .indeterminate)
        var unsent = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &unsent) == nil)
        #expect(code(.timedOut(wasSent: false), &unsent) == .indeterminate)
        var cancelled = attempt(isWrite: true, hasKey: true)
        #expect(code(lost, &cancelled) == nil)
        #expect(code(.cancelled(wasSent: false), &cancelled) == .indeterminate)
        // Without a server none of the replies above can come; what ends the wait says the rest.
        #expect(cancelled.final(LarderError(.schemaMismatch, "other")).code == .indeterminate)
        var fixed = attempt(isWrite: true, hasKey: true, reconnectWait: .zero)
        #expect(code(lost, &fixed) == .indeterminate)
        let fresh = attempt(isWrite: true, hasKey: true)
        #expect(fresh.final(closed) == closed)
    }

    @Test("a write that was not sent is sent again")
    func unsentWrite() {
        var attempt = attempt(isWrite: true)
        #expect(code(.answered(.lost(closed, mayHaveRun: false)), &attempt) == nil)
    }

    @Test("what an unavailable server did not execute is asked again, writes too")
    func unavailableServer() {
        for isWrite in [false, true] {
            var attempt = attempt(isWrite: isWrite)
            #expect(code(.answered(unavailable), &attempt) == nil)
        }
    }

    @Test("the wait for the server counts from the first loss")
    func waitEnds() {
        var attempt = attempt()
        let outcome = Attempt.Outcome.answered(.lost(closed, mayHaveRun: true))
        #expect(code(outcome, &attempt, after: 15) == nil)
        #expect(
            attempt.connectionDeadline(now: start.advanced(by: .seconds(20)))
                == start.advanced(by: .seconds(25)))
        #expect(code(outcome, &attempt, after: 24) == nil)
        #expect(code(outcome, &attempt, after: 25) == .connectionFailed)
    }

    @Test("the wait for the server is never longer than the call may take")
    func waitWithinDeadline() {
        let attempt = attempt(reconnectWait: .seconds(100))
        #expect(attempt.connectionDeadline(now: start) == start.advanced(by: .seconds(30)))
    }

    @Test("without reconnection, a loss is an error at once")
    func noReconnection() {
        var read = attempt(reconnectWait: .zero)
        #expect(code(.answered(.lost(closed, mayHaveRun: true)), &read) == .connectionFailed)
        #expect(code(.answered(unavailable), &read) == .unavailable)
        var write = attempt(isWrite: true, reconnectWait: .zero)
        #expect(code(.answered(.lost(closed, mayHaveRun: false)), &write) == .connectionFailed)
    }

    @Test("a server that does not keep to the protocol is not asked again")
    func brokenServer() {
        let broken = Attempt.Outcome.answered(
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

    @Test("pauses between attempts grow to a bound, and begin anew after a success")
    func backoff() {
        var backoff = Backoff()
        let pauses = (0..<9).map { _ in backoff.next() }
        #expect(
            pauses == [0, 10, 20, 40, 80, 160, 320, 500, 500].map { Duration.milliseconds($0) })
        backoff.reset()
        #expect(backoff.next() == .zero)
    }

    @Test("durations out of all bounds are brought into them")
    func durations() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        #expect(longest.waiting == .waitMax)
        #expect(Duration.seconds(-5).wholeMilliseconds == 0)
        #expect(longest.wholeMilliseconds == .max)
        #expect(Duration.microseconds(1).wholeMilliseconds == 1)
        #expect(Moment.after(longest) > .now)
    }
}
