import NIOCore
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
        let action: Action

        init(_ event: Event, _ action: Action, acceptsFrames: Bool = true) {
            self.event = event
            self.acceptsFrames = acceptsFrames
            self.action = action
        }
    }

    private func check(
        _ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var flow = InputFlow(turnTime: .milliseconds(2))
        for (index, step) in steps.enumerated() {
            let action = flow.handle(step.event, acceptsFrames: step.acceptsFrames)
            #expect(
                action == step.action, "step \(index): \(step.event)",
                sourceLocation: sourceLocation)
        }
    }

    private static func time(_ milliseconds: UInt64) -> NIODeadline {
        .uptimeNanoseconds(milliseconds * 1_000_000)
    }

    private static let onlyFrame = Event.frameTaken(moreAt: nil, outputBytes: 10)

    private static func frame(at milliseconds: UInt64) -> Event {
        .frameTaken(moreAt: time(milliseconds), outputBytes: 10)
    }

    private static let turn = Event.readCycleEnded(hasLoopAlone: false)
    private static let turnAlone = Event.readCycleEnded(hasLoopAlone: true)

    @Test("the reply to one request leaves at the end of the read cycle if the loop has no other")
    func alone() {
        check([
            Step(.bytesArrived, .takeFrame), Step(.replyAppended, .nothing),
            Step(.resumed, .nothing), Step(Self.onlyFrame, .nothing),
            Step(Self.turnAlone, .flush), Step(.flushed, .nothing),
            Step(.readRequested, .readSocket), Step(Self.turnAlone, .nothing),
        ])
    }

    @Test("the replies of several connections leave at the end of what the loop does")
    func together() {
        check([
            Step(.bytesArrived, .takeFrame), Step(.replyAppended, .nothing),
            Step(Self.onlyFrame, .nothing), Step(Self.turn, .scheduleFlush),
            Step(Self.turn, .nothing), Step(.replyAppended, .nothing), Step(.flushed, .nothing),
        ])
    }

    @Test("a reply outside of a read cycle schedules one flush")
    func lateReplies() {
        check([
            Step(.replyAppended, .scheduleFlush), Step(.replyAppended, .nothing),
            Step(.flushed, .nothing), Step(.replyAppended, .scheduleFlush),
        ])
    }

    @Test("frames are taken until the bytes are no whole frame")
    func severalFrames() {
        check([
            Step(.bytesArrived, .takeFrame), Step(Self.frame(at: 10), .takeFrame),
            Step(Self.frame(at: 11), .takeFrame), Step(.noFrame, .nothing),
            Step(.bytesArrived, .takeFrame),
        ])
    }

    @Test("a turn ends after its time, counted from the first frame; the socket is not read then")
    func turns() {
        check([
            Step(.bytesArrived, .takeFrame), Step(Self.frame(at: 10), .takeFrame),
            Step(Self.frame(at: 11), .takeFrame), Step(Self.frame(at: 12), .scheduleTurn),
            Step(.flushed, .nothing), Step(.resumed, .nothing), Step(.bytesArrived, .nothing),
            Step(.readRequested, .nothing), Step(.turnBegan, .takeFrame),
            Step(Self.frame(at: 20), .takeFrame), Step(Self.frame(at: 21), .takeFrame),
            Step(.noFrame, .readSocket),
        ])
    }

    @Test("no frame is taken while the connection accepts none; the read is held")
    func notAccepted() {
        check([
            Step(.bytesArrived, .takeFrame),
            Step(Self.frame(at: 10), .nothing, acceptsFrames: false),
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

    @Test("many bytes of replies leave before the next frame is taken")
    func largeReplies() {
        let large = InputFlow.flushBytes
        check([
            Step(.bytesArrived, .takeFrame),
            Step(.frameTaken(moreAt: Self.time(10), outputBytes: large - 1), .takeFrame),
            Step(.frameTaken(moreAt: Self.time(11), outputBytes: large), .flush),
            Step(.flushed, .takeFrame),
            Step(.frameTaken(moreAt: Self.time(11), outputBytes: large), .flush),
            Step(.writabilityChanged(isWritable: false), .nothing), Step(.flushed, .nothing),
            Step(.writabilityChanged(isWritable: true), .nothing), Step(.resumed, .takeFrame),
            Step(.frameTaken(moreAt: nil, outputBytes: large), .flush),
            Step(.flushed, .nothing),
        ])
    }

    @Test("the end of the input is reported once, after all frames have been taken")
    func inputEnd() {
        check([
            Step(.bytesArrived, .takeFrame),
            Step(Self.frame(at: 10), .nothing, acceptsFrames: false),
            Step(.inputEnded, .nothing, acceptsFrames: false),
            Step(.resumed, .takeFrame), Step(Self.onlyFrame, .takeFrame),
            Step(.noFrame, .endInput), Step(.noFrame, .nothing),
            Step(.resumed, .takeFrame), Step(.noFrame, .nothing),
        ])
    }

    @Test("the end of the input is reported at once if no bytes are left")
    func inputEndWhenIdle() {
        check([
            Step(.inputEnded, .takeFrame), Step(.noFrame, .endInput), Step(.noFrame, .nothing),
        ])
    }
}
