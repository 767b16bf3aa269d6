import LarderModel
import LarderWire
import Testing

@testable import LarderClient

/// A reference to a tracker, so that expectations may change it.
private final class TrackerBox {
    typealias Action = RequestTracker.Action

    private var requests = RequestTracker(requestsInFlightMax: 4, lastID: 1)

    var isIdle: Bool { requests.isIdle }
    var failure: LarderError? { requests.failure }
    func makeID() -> UInt64 { requests.makeID() }
    func contains(_ id: UInt64) -> Bool { requests.contains(id) }
    func begin(_ id: UInt64, _ kind: RequestTracker.Kind) -> Bool { requests.begin(id, kind) }
    func sent(_ id: UInt64) { requests.sent(id) }
    func take(_ id: UInt64) -> (response: RequestTracker.Response?, actions: [Action]) {
        let (response, action) = requests.take(id)
        return (response, list(action))
    }
    func abandon(_ id: UInt64) -> [Action] { list(requests.abandon(id)) }
    func received(_ envelope: ReplyEnvelope) -> [Action] { list(requests.received(envelope)) }
    func failedToDecode(_ failure: WireFailure) -> [Action] {
        list(requests.failedToDecode(failure))
    }
    func sendingEnded(_ error: LarderError) -> [Action] { requests.sendingEnded(error) }
    func ended(_ error: LarderError) -> [Action] { requests.ended(error) }
    private func list(_ action: Action?) -> [Action] { action.map { [$0] } ?? [] }
}

@Suite("The requests of a connection and their replies")
struct RequestTrackerTests {
    private let requests = TrackerBox()
    private let lost = LarderError(.connectionFailed, "lost")
    private let batch = Reply.encodedBatches(EncodedBatches([Batch(columns: [])]), more: true)
    private let lastBatch = Reply.encodedBatches(
        EncodedBatches([Batch(columns: [])]), more: false)

    private func begin(_ kind: RequestTracker.Kind = .call, isSent: Bool = true) -> UInt64 {
        let id = requests.makeID()
        #expect(requests.begin(id, kind))
        if isSent { requests.sent(id) }
        return id
    }

    @Test("a request to insert rows gets replies until the one without more")
    func insertion() {
        let id = begin(.insertion)
        let (more, last) = (
            Reply.inserted(InsertedRows(rowCount: 1), more: true),
            Reply.inserted(InsertedRows(rowCount: 2), more: false)
        )
        #expect(requests.received(reply(id, more)) == [.wake(id)])
        #expect(requests.received(reply(id, last)) == [.wake(id)])
        #expect(requests.take(id).response == .reply(more) && requests.contains(id))
        #expect(requests.take(id).response == .reply(last) && !requests.contains(id))
        let open = (0..<3).map { _ in begin(.insertion) }
        // With one more, the server could reach its maximum and stop reading.
        let refused = requests.makeID()
        #expect(!requests.begin(refused, .insertion))
        #expect(requests.abandon(open[0]) == [.send(.cancel(requestID: open[0]))])
    }

    @Test("replies out of order reach their own requests")
    func outOfOrder() {
        let (first, second) = (begin(), begin())
        #expect(requests.received(reply(second, .pong)) == [.wake(second)])
        #expect(requests.received(reply(first, .schema("a"))) == [.wake(first)])
        #expect(requests.take(first).response == .reply(.schema("a")))
        #expect(requests.take(second).response == .reply(.pong))
        #expect(requests.isIdle && !requests.contains(first) && !requests.contains(second))
    }

    @Test("requests may begin in another order than their ids were made")
    func begunOutOfOrder() {
        let ids = (0..<7).map { _ in requests.makeID() }
        for index in [3, 6, 0, 5, 1, 4, 2] {
            #expect(!requests.contains(ids[index]))
            #expect(requests.begin(ids[index], .call))
            requests.sent(ids[index])
        }
        for index in [5, 2, 6, 0] {
            #expect(requests.received(reply(ids[index], .pong)) == [.wake(ids[index])])
            #expect(requests.take(ids[index]).response == .reply(.pong))
        }
        #expect(ids.map(requests.contains) == [false, true, false, true, true, false, false])
        #expect(requests.ended(lost) == [1, 3, 4].map { .wake(ids[$0]) })
    }

    @Test("a reply to a request that was never sent ends the connection")
    func unknownRequest() {
        let id = begin()
        let actions = requests.received(reply(id + 1, .pong))
        #expect(ending(actions)?.code == .malformedMessage)
    }

    @Test("a reply with id 0 that is not an error ends the connection")
    func replyWithoutRequest() {
        #expect(ending(requests.received(reply(0, .pong)))?.code == .malformedMessage)
    }

    @Test("a late reply is dropped")
    func late() {
        let id = begin()
        #expect(requests.abandon(id) == [.send(.cancel(requestID: id))])
        #expect(requests.received(reply(id, .pong)).isEmpty)
        #expect(requests.take(id).response == nil)
        #expect(requests.isIdle)
    }

    @Test("a second reply to a call is dropped")
    func twice() {
        let id = begin()
        #expect(requests.received(reply(id, .pong)) == [.wake(id)])
        #expect(requests.received(reply(id, .pong)).isEmpty)
        #expect(requests.take(id).response == .reply(.pong))
        #expect(requests.take(id).response == nil)
    }

    @Test("abandoning an unsent request sends no cancellation")
    func abandonUnsent() {
        let id = begin(isSent: false)
        #expect(requests.abandon(id).isEmpty)
        #expect(requests.abandon(id).isEmpty)
    }

    @Test("a stream of batches grants credit as batches are taken, in halves of its window")
    func credit() {
        let id = begin(.stream(window: 4))
        for _ in 0..<4 { #expect(requests.received(reply(id, batch)) == [.wake(id)]) }
        #expect(requests.take(id).actions.isEmpty)
        #expect(requests.take(id).actions == [.send(.credit(requestID: id, batches: 2))])
        #expect(requests.take(id).actions.isEmpty)
        #expect(requests.received(reply(id, lastBatch)) == [.wake(id)])
        #expect(requests.take(id).actions.isEmpty, "a complete stream needs no more credit")
        #expect(requests.take(id).response == .reply(lastBatch))
        #expect(!requests.contains(id))
    }

    @Test("a server that sends more batches than the credit allows ends the connection")
    func overrun() {
        let id = begin(.stream(window: 2))
        #expect(requests.received(reply(id, batch)) == [.wake(id)])
        #expect(requests.received(reply(id, batch)) == [.wake(id)])
        #expect(ending(requests.received(reply(id, batch)))?.code == .malformedMessage)
    }

    @Test("a stream without a window takes any number of batches and grants no credit")
    func unbounded() {
        let id = begin(.stream(window: 0))
        for _ in 0..<100 { #expect(requests.received(reply(id, batch)) == [.wake(id)]) }
        for _ in 0..<100 {
            let (response, actions) = requests.take(id)
            #expect(response == .reply(batch) && actions.isEmpty)
        }
    }

    @Test("a feed has a window like a stream, and does not count as a request in flight")
    func feed() {
        let history = Reply.history(HistoryReply(upTo: .sample(1)), more: true)
        let feeds = (0..<10).map { _ in begin(.feed(window: 2)) }
        for _ in 0..<3 { _ = begin(.stream(window: 1)) }
        let id = feeds[0]
        for _ in 0..<2 { #expect(requests.received(reply(id, history)) == [.wake(id)]) }
        let (response, actions) = requests.take(id)
        #expect(response == .reply(history))
        #expect(actions == [.send(.credit(requestID: id, batches: 1))])
        #expect(requests.received(reply(id, history)) == [.wake(id)])
        #expect(requests.abandon(feeds[1]) == [.send(.cancel(requestID: feeds[1]))])
        let failure = Reply.failed(LarderError(.unavailable, "stopping"))
        #expect(requests.received(reply(feeds[2], failure)) == [.wake(feeds[2])])
        #expect(requests.take(feeds[2]).response == .reply(failure))
        #expect(!requests.contains(feeds[2]))
        #expect(ending(requests.received(reply(id, history)))?.code == .malformedMessage)
    }

    @Test("the replies about an observed query use the window of a feed")
    func observed() {
        let id = begin(.feed(window: 2))
        let change = Reply.observed(ObserveReply(nil, at: .sample(1)), more: true)
        for _ in 0..<2 { #expect(requests.received(reply(id, change)) == [.wake(id)]) }
        let (response, actions) = requests.take(id)
        #expect(response == .reply(change))
        #expect(actions == [.send(.credit(requestID: id, batches: 1))])
        #expect(requests.received(reply(id, change)) == [.wake(id)])
        #expect(ending(requests.received(reply(id, change)))?.code == .malformedMessage)
        let last = begin(.feed(window: 2))
        let end = Reply.observed(ObserveReply(nil, at: .sample(1)), more: false)
        #expect(requests.received(reply(last, end)) == [.wake(last)])
        #expect(requests.take(last).response == .reply(end) && !requests.contains(last))
    }

    @Test("the parts of a backup use the window of a stream")
    func backup() {
        let id = begin(.stream(window: 2))
        let part = Reply.backup(BackupPart(byteCount: 1), more: true)
        for _ in 0..<2 { #expect(requests.received(reply(id, part)) == [.wake(id)]) }
        #expect(requests.take(id).actions == [.send(.credit(requestID: id, batches: 1))])
        #expect(requests.received(reply(id, part)) == [.wake(id)])
        #expect(ending(requests.received(reply(id, part)))?.code == .malformedMessage)
    }

    @Test("a snapshot stays open after its reply, until it is abandoned")
    func snapshot() {
        let id = begin(.session)
        let opened = Reply.snapshotOpened(.sample(1))
        #expect(requests.received(reply(id, opened)) == [.wake(id)])
        let (response, actions) = requests.take(id)
        #expect(response == .reply(opened) && actions.isEmpty)
        #expect(requests.contains(id) && !requests.isIdle)
        #expect(requests.abandon(id) == [.send(.cancel(requestID: id))])
        #expect(!requests.contains(id) && requests.isIdle)
        // The server confirms the end.
        let end = Reply.failed(LarderError(.cancelled, "ended"))
        #expect(requests.received(reply(id, end)).isEmpty)
    }

    @Test("a snapshot that the server ends needs no cancellation")
    func endedSnapshot() {
        let (id, refused) = (begin(.session), begin(.session))
        let opened = Reply.snapshotOpened(.sample(1))
        let expired = Reply.failed(LarderError(.snapshotExpired, "the time is over"))
        #expect(requests.received(reply(id, opened)) == [.wake(id)])
        #expect(requests.take(id).response == .reply(opened))
        #expect(requests.received(reply(id, expired)) == [.wake(id)])
        #expect(requests.received(reply(id, expired)).isEmpty)
        #expect(requests.contains(id))
        #expect(requests.abandon(id).isEmpty && !requests.contains(id))
        // It may fail before it is open, because no reader is free.
        #expect(requests.received(reply(refused, expired)) == [.wake(refused)])
        #expect(requests.take(refused).response == .reply(expired))
        #expect(!requests.contains(refused) && requests.isIdle)
    }

    @Test("snapshots do not count as bounded streams, and are lost with their connection")
    func snapshotsAndStreams() {
        let snapshots = (0..<10).map { _ in begin(.session) }
        for _ in 0..<3 { _ = begin(.stream(window: 1)) }
        let opened = Reply.snapshotOpened(.sample(1))
        #expect(requests.received(reply(snapshots[0], opened)) == [.wake(snapshots[0])])
        _ = requests.ended(lost)
        #expect(requests.take(snapshots[0]).response == .reply(opened))
        #expect(requests.take(snapshots[0]).response == .lost(lost, mayHaveRun: true))
        #expect(!requests.contains(snapshots[0]))
    }

    @Test("pages of the history without a window are taken until a reply without more")
    func history() {
        let id = begin(.stream(window: 0))
        let (page, last) = (
            Reply.history(HistoryReply(upTo: .sample(1)), more: true),
            Reply.history(HistoryReply(upTo: .sample(2)), more: false)
        )
        for reply in [page, page, last] {
            #expect(requests.received(self.reply(id, reply)) == [.wake(id)])
        }
        for reply in [page, page, last] {
            let (response, actions) = requests.take(id)
            #expect(response == .reply(reply) && actions.isEmpty)
        }
        #expect(!requests.contains(id))
    }

    @Test("bounded streams leave one of the server's requests in flight free")
    func tooManyStreams() {
        let open = (0..<3).map { _ in begin(.stream(window: 1)) }
        let refused = requests.makeID()
        #expect(!requests.begin(refused, .stream(window: 1)))
        guard case .reply(.failed(let error)) = requests.take(refused).response else {
            Issue.record("the fourth stream of four requests was allowed")
            return
        }
        #expect(error.code == .resourceExhausted)
        _ = begin(.stream(window: 0))
        _ = begin(.call)
        _ = requests.abandon(open[1])
        _ = begin(.stream(window: 1))
    }

    @Test("when the connection ends, each request learns whether it had been sent")
    func ended() {
        let (sent, unsent, replied) = (begin(), begin(isSent: false), begin())
        #expect(requests.received(reply(replied, .pong)) == [.wake(replied)])
        #expect(requests.ended(lost) == [.wake(sent), .wake(unsent)])
        #expect(requests.take(sent).response == .lost(lost, mayHaveRun: true))
        #expect(requests.take(unsent).response == .lost(lost, mayHaveRun: false))
        #expect(requests.take(replied).response == .reply(.pong))
        #expect(requests.ended(LarderError(.timeout, "other")).isEmpty)
        #expect(requests.failure == lost)
    }

    @Test("a request on a connection that has ended is lost without being sent")
    func beginAfterEnd() {
        #expect(requests.ended(lost).isEmpty)
        let id = requests.makeID()
        #expect(!requests.begin(id, .call))
        #expect(requests.take(id).response == .lost(lost, mayHaveRun: false))
    }

    @Test("batches that arrived before the end are taken before the loss")
    func batchesBeforeLoss() {
        let id = begin(.stream(window: 4))
        _ = requests.received(reply(id, batch))
        #expect(requests.ended(lost) == [.wake(id)])
        #expect(requests.take(id).response == .reply(batch))
        #expect(requests.take(id).response == .lost(lost, mayHaveRun: true))
    }

    @Test("after sending fails, requests that were sent may still get replies")
    func sendingEnded() {
        let (sent, unsent) = (begin(), begin(isSent: false))
        #expect(requests.sendingEnded(lost) == [.wake(unsent)])
        #expect(requests.take(unsent).response == .lost(lost, mayHaveRun: false))
        let next = requests.makeID()
        #expect(!requests.begin(next, .call))
        #expect(requests.received(reply(sent, .pong)) == [.wake(sent)])
        #expect(requests.take(sent).response == .reply(.pong))
    }

    @Test("after sending fails, the connection ends if no reply is outstanding")
    func sendingEndedIdle() {
        let unsent = begin(isSent: false)
        #expect(requests.sendingEnded(lost) == [.wake(unsent), .end(lost)])
    }

    @Test("callers get the closing error of the server as the reason")
    func closingError() {
        let id = begin()
        let reason = LarderError(.resourceExhausted, "too much waits")
        #expect(requests.received(reply(0, .failed(reason))).isEmpty)
        #expect(requests.ended(lost) == [.wake(id)])
        #expect(requests.take(id).response == .lost(reason, mayHaveRun: true))
    }

    @Test("a request without a reply from a server that shuts down was not executed")
    func gracefulStop() {
        let id = begin()
        let reason = LarderError(.unavailable, "stopping")
        #expect(requests.received(reply(0, .failed(reason))).isEmpty)
        #expect(requests.ended(lost) == [.wake(id)])
        #expect(requests.take(id).response == .lost(reason, mayHaveRun: false))
    }

    @Test("an error without a request is not a closing error if a reply follows it")
    func notClosing() {
        let (first, second) = (begin(), begin())
        _ = requests.received(reply(0, .failed(LarderError(.malformedMessage, "what?"))))
        #expect(requests.received(reply(first, .pong)) == [.wake(first)])
        #expect(requests.ended(lost) == [.wake(second)])
        #expect(requests.take(second).response == .lost(lost, mayHaveRun: true))
    }

    @Test("a reply with malformed content fails its own request")
    func undecodable() {
        let (id, other) = (begin(), begin())
        let error = LarderError(.malformedMessage, "wrong")
        #expect(requests.failedToDecode(WireFailure(requestID: id, error: error)) == [.wake(id)])
        #expect(requests.take(id).response == .lost(error, mayHaveRun: true))
        #expect(requests.received(reply(other, .pong)) == [.wake(other)])
    }

    @Test("bytes from a server that are not an envelope end the connection")
    func garbage() {
        let id = begin()
        let error = LarderError(.malformedFrame, "garbage")
        #expect(requests.failedToDecode(WireFailure(requestID: id, error: error)) == [.end(error)])
        let unowned = LarderError(.malformedMessage, "whose?")
        #expect(
            requests.failedToDecode(WireFailure(requestID: 0, error: unowned)) == [.end(unowned)])
    }

    private func reply(_ id: UInt64, _ reply: Reply) -> ReplyEnvelope {
        ReplyEnvelope(id: id, reply: reply)
    }

    private func ending(_ actions: [RequestTracker.Action]) -> LarderError? {
        if actions.count == 1, case .end(let error) = actions[0] { error } else { nil }
    }
}
