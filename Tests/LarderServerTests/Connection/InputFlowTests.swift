import Testing

@testable import LarderServer

@Suite("When a connection reads, takes frames and sends")
struct InputFlowTests {
    typealias Event = InputFlow.Event
    typealias Action = InputFlow.Action

    /// One event, whether the connection accepts frames then, and the action that must follow.
    private struct Step {
        let event: Event
        let acceptsFrames: Bool
        let mayBeginTurn: Bool
        let action: Action

        init(
            _ event: Event, _ action: Action, acceptsFrames: Bool = true, mayBeginTurn: Bool = true
        ) {
            self.event = event
            self.acceptsFrames = acceptsFrames
            self.mayBeginTurn = mayBeginTurn
            self.action = action
        }
    }

    private func check(
        _ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var flow = InputFlow()
        for (index, step) in steps.enumerated() {
            let action = flow.handle(
                step.event, acceptsFrames: step.acceptsFrames, mayBeginTurn: step.mayBeginTurn)
            #expect(
                action == step.action, "step \(index): \(step.event)",
                sourceLocation: sourceLocation)
        }
    }

    private static let onlyFrame = Event.frameTaken(.nothing, outputBytes: 10)
    private static let frame = Event.frameTaken(.bytes, outputBytes: 10)
    private static let lastOfTurn = Event.frameTaken(.bytesForNextTurn, outputBytes: 10)

    private static let turn = Event.readCycleEnded(hasLoopAlone: false)
    private static let turnAlone = Event.readCycleEnded(hasLoopAlone: true)

    @Test("the reply to a lone request is sent at the end of the read cycle")
    func alone() {
        check([
            Step(.bytesArrived, .takeFrame), Step(.replyAppended, .nothing),
            Step(.resumed, .nothing), Step(Self.onlyFrame, .nothing),
            Step(Self.turnAlone, .flush), Step(.flushBegins, .nothing), Step(.flushed, .nothing),
            Step(.readRequested, .readSocket), Step(Self.turnAlone, .nothing),
        ])
    }

    @Test("a reply that is appended while others are sent is sent after them")
    func appendedWhileSending() {
        check([
            Step(.replyAppended, .scheduleFlush), Step(.flushBegins, .nothing),
            Step(.writabilityChanged(isWritable: true), .nothing),
            Step(.replyAppended, .scheduleFlush), Step(.flushed, .nothing),
            Step(.flushBegins, .nothing), Step(.flushed, .nothing),
        ])
    }

    @Test("the replies of several connections are sent at the end of the loop's turn")
    func together() {
        check([
            Step(.bytesArrived, .takeFrame), Step(.replyAppended, .nothing),
            Step(Self.onlyFrame, .nothing), Step(Self.turn, .scheduleFlush),
            Step(Self.turn, .nothing), Step(.replyAppended, .nothing), Step(.flushBegins, .nothing),
            Step(.flushed, .nothing),
        ])
    }

    @Test("a reply outside of a connection's read cycle schedules one flush")
    func lateReplies() {
        check([
            Step(.replyAppended, .scheduleFlush), Step(.replyAppended, .nothing),
            Step(.flushBegins, .nothing), Step(.flushed, .nothing),
            Step(.replyAppended, .scheduleFlush),
        ])
    }

    @Test("frames are taken until the received bytes are not a whole frame")
    func severalFrames() {
        check([
            Step(.bytesArrived, .takeFrame), Step(Self.frame, .takeFrame),
            Step(Self.frame, .takeFrame), Step(.noFrame, .nothing),
            Step(.bytesArrived, .takeFrame),
        ])
    }

    @Test("a turn ends when its time is used up, and the socket is not read before the next")
    func turns() {
        check([
            Step(.bytesArrived, .takeFrame), Step(Self.frame, .takeFrame),
            Step(Self.lastOfTurn, .scheduleTurn), Step(.flushBegins, .nothing),
            Step(.flushed, .nothing),
            Step(.resumed, .nothing), Step(.bytesArrived, .nothing),
            Step(.readRequested, .nothing),
            Step(.turnBegan, .takeFrame, mayBeginTurn: false), Step(Self.frame, .takeFrame),
            Step(.noFrame, .readSocket),
        ])
    }

    @Test("a turn waits while its user has no time")
    func noTime() {
        check([
            Step(.bytesArrived, .scheduleTurn, mayBeginTurn: false), Step(.flushBegins, .nothing),
            Step(.flushed, .nothing),
            Step(.bytesArrived, .nothing), Step(.readRequested, .nothing),
            Step(.turnBegan, .takeFrame), Step(Self.onlyFrame, .readSocket),
            Step(.resumed, .nothing, acceptsFrames: false, mayBeginTurn: false),
        ])
    }

    @Test("no frame is taken or read while the connection accepts none")
    func notAccepted() {
        check([
            Step(.bytesArrived, .takeFrame),
            Step(Self.frame, .nothing, acceptsFrames: false),
            Step(.readRequested, .nothing, acceptsFrames: false),
            Step(.resumed, .nothing, acceptsFrames: false),
            Step(.resumed, .takeFrame), Step(Self.onlyFrame, .readSocket),
            Step(.resumed, .takeFrame), Step(.noFrame, .nothing),
        ])
    }

    @Test("no frame is taken while the socket is not writable, and none after the end")
    func notWritable() {
        check([
            Step(.writabilityChanged(isWritable: false), .nothing), Step(.bytesArrived, .nothing),
            Step(.readRequested, .nothing),
            Step(.writabilityChanged(isWritable: true), .nothing), Step(.resumed, .takeFrame),
            Step(.noFrame, .readSocket), Step(.closed, .nothing), Step(.resumed, .nothing),
            Step(.turnBegan, .nothing), Step(.readRequested, .nothing),
        ])
    }

    @Test("many bytes of replies are sent before the next frame is taken")
    func largeReplies() {
        let large = InputFlow.flushBytes
        check([
            Step(.bytesArrived, .takeFrame),
            Step(.frameTaken(.bytes, outputBytes: large - 1), .takeFrame),
            Step(.frameTaken(.bytes, outputBytes: large), .flush),
            Step(.flushBegins, .nothing), Step(.flushed, .takeFrame),
            Step(.frameTaken(.bytes, outputBytes: large), .flush),
            Step(.writabilityChanged(isWritable: false), .nothing), Step(.flushBegins, .nothing),
            Step(.flushed, .nothing),
            Step(.writabilityChanged(isWritable: true), .nothing), Step(.resumed, .takeFrame),
            Step(.frameTaken(.nothing, outputBytes: large), .flush),
            Step(.flushBegins, .nothing), Step(.flushed, .nothing),
        ])
    }

    @Test("the end of a connection's input is reported once, after all its frames")
    func inputEnd() {
        check([
            Step(.bytesArrived, .takeFrame),
            Step(Self.frame, .nothing, acceptsFrames: false),
            Step(.inputEnded, .nothing, acceptsFrames: false),
            Step(.resumed, .takeFrame), Step(Self.onlyFrame, .takeFrame),
            Step(.noFrame, .endInput), Step(.noFrame, .nothing),
            Step(.resumed, .takeFrame), Step(.noFrame, .nothing),
        ])
    }

    @Test("the end of a connection's input is reported at once if no bytes are left")
    func inputEndWhenIdle() {
        check([
            Step(.inputEnded, .takeFrame), Step(.noFrame, .endInput), Step(.noFrame, .nothing),
        ])
    }
}
