import LarderModel
import LarderWire
import Testing

@testable import LarderClient

/// An exchange behind a reference, so that expectations may change it.
private final class HeldExchange {
    private var exchange = Exchange(requestsInFlightMax: 4, lastID: 1)

    var isIdle: Bool { exchange.isIdle }
    var failure: LarderError? { exchange.failure }
    func makeID() -> UInt64 { exchange.makeID() }
    func knows(_ id: UInt64) -> Bool { exchange.knows(id) }
    func begin(_ id: UInt64, _ kind: Exchange.Kind) -> Bool { exchange.begin(id, kind) }
    func sent(_ id: UInt64) { exchange.sent(id) }
    func take(_ id: UInt64) -> (answer: Exchange.Answer?, actions: [Exchange.Action]) {
        let (answer, action) = exchange.take(id)
        return (answer, list(action))
    }
    func abandon(_ id: UInt64) -> [Exchange.Action] { list(exchange.abandon(id)) }
    func received(_ envelope: ReplyEnvelope) -> [Exchange.Action] {
        list(exchange.received(envelope))
    }
    func failedToDecode(_ failure: WireFailure) -> [Exchange.Action] {
        list(exchange.failedToDecode(failure))
    }
    private func list(_ action: Exchange.Action?) -> [Exchange.Action] { action.map { [$0] } ?? [] }
    func sendingEnded(_ error: LarderError) -> [Exchange.Action] { exchange.sendingEnded(error) }
    func ended(_ error: LarderError) -> [Exchange.Action] { exchange.ended(error) }
}

@Suite("Which request awaits what")
struct ExchangeTests {
    private let exchange = HeldExchange()
    private let lost = LarderError(.connectionFailed, "lost")
    private let batch = Reply.encodedBatches(EncodedBatches([Batch(columns: [])]), more: true)
    private let lastBatch = Reply.encodedBatches(
        EncodedBatches([Batch(columns: [])]), more: false)

    private func begin(_ kind: Exchange.Kind = .call, isSent: Bool = true) -> UInt64 {
        let id = exchange.makeID()
        #expect(exchange.begin(id, kind))
        if isSent { exchange.sent(id) }
        return id
    }

    @Test("a stream of rows goes on until an answer says that no more follows")
    func insertion() {
        let id = begin(.insertion)
        let (more, last) = (
            Reply.inserted(InsertedRows(rowCount: 1), more: true),
            Reply.inserted(InsertedRows(rowCount: 2), more: false)
        )
        #expect(exchange.received(reply(id, more)) == [.wake(id)])
        #expect(exchange.received(reply(id, last)) == [.wake(id)])
        #expect(exchange.take(id).answer == .reply(more) && exchange.knows(id))
        #expect(exchange.take(id).answer == .reply(last) && !exchange.knows(id))
        let open = (0..<3).map { _ in begin(.insertion) }
        // One more would leave the server no place for what it has to read.
        let refused = exchange.makeID()
        #expect(!exchange.begin(refused, .insertion))
        #expect(exchange.abandon(open[0]) == [.send(.cancel(requestID: open[0]))])
    }

    @Test("replies out of order reach the requests that they answer")
    func outOfOrder() {
        let (first, second) = (begin(), begin())
        #expect(exchange.received(reply(second, .pong)) == [.wake(second)])
        #expect(exchange.received(reply(first, .schema("a"))) == [.wake(first)])
        #expect(exchange.take(first).answer == .reply(.schema("a")))
        #expect(exchange.take(second).answer == .reply(.pong))
        #expect(exchange.isIdle && !exchange.knows(first) && !exchange.knows(second))
    }

    @Test("requests may begin in another order than their numbers were made")
    func begunOutOfOrder() {
        let ids = (0..<7).map { _ in exchange.makeID() }
        for place in [3, 6, 0, 5, 1, 4, 2] {
            #expect(!exchange.knows(ids[place]))
            #expect(exchange.begin(ids[place], .call))
            exchange.sent(ids[place])
        }
        for place in [5, 2, 6, 0] {
            #expect(exchange.received(reply(ids[place], .pong)) == [.wake(ids[place])])
            #expect(exchange.take(ids[place]).answer == .reply(.pong))
        }
        #expect(ids.map(exchange.knows) == [false, true, false, true, true, false, false])
        #expect(exchange.ended(lost) == [1, 3, 4].map { .wake(ids[$0]) })
    }

    @Test("a reply to a request that nobody asked ends the connection")
    func unasked() {
        let id = begin()
        let actions = exchange.received(reply(id + 1, .pong))
        #expect(ending(actions)?.code == .malformedMessage)
    }

    @Test("a reply of id 0 that is no error ends the connection")
    func replyToNobody() {
        #expect(ending(exchange.received(reply(0, .pong)))?.code == .malformedMessage)
    }

    @Test("a late reply is dropped")
    func late() {
        let id = begin()
        #expect(exchange.abandon(id) == [.send(.cancel(requestID: id))])
        #expect(exchange.received(reply(id, .pong)).isEmpty)
        #expect(exchange.take(id).answer == nil)
        #expect(exchange.isIdle)
    }

    @Test("a second reply to an answered call is dropped")
    func twice() {
        let id = begin()
        #expect(exchange.received(reply(id, .pong)) == [.wake(id)])
        #expect(exchange.received(reply(id, .pong)).isEmpty)
        #expect(exchange.take(id).answer == .reply(.pong))
        #expect(exchange.take(id).answer == nil)
    }

    @Test("what was not sent yet is not cancelled with the server")
    func abandonUnsent() {
        let id = begin(isSent: false)
        #expect(exchange.abandon(id).isEmpty)
        #expect(exchange.abandon(id).isEmpty)
    }

    @Test("credit is granted as batches are taken, in halves of the window")
    func credit() {
        let id = begin(.stream(window: 4))
        for _ in 0..<4 { #expect(exchange.received(reply(id, batch)) == [.wake(id)]) }
        #expect(exchange.take(id).actions.isEmpty)
        #expect(exchange.take(id).actions == [.send(.credit(requestID: id, batches: 2))])
        #expect(exchange.take(id).actions.isEmpty)
        #expect(exchange.received(reply(id, lastBatch)) == [.wake(id)])
        #expect(exchange.take(id).actions.isEmpty, "a complete stream needs no more credit")
        #expect(exchange.take(id).answer == .reply(lastBatch))
        #expect(!exchange.knows(id))
    }

    @Test("a server that sends more batches than it was allowed ends the connection")
    func overrun() {
        let id = begin(.stream(window: 2))
        #expect(exchange.received(reply(id, batch)) == [.wake(id)])
        #expect(exchange.received(reply(id, batch)) == [.wake(id)])
        #expect(ending(exchange.received(reply(id, batch)))?.code == .malformedMessage)
    }

    @Test("a stream without a window takes any number of batches and grants nothing")
    func unbounded() {
        let id = begin(.stream(window: 0))
        for _ in 0..<100 { #expect(exchange.received(reply(id, batch)) == [.wake(id)]) }
        for _ in 0..<100 {
            let (answer, actions) = exchange.take(id)
            #expect(answer == .reply(batch) && actions.isEmpty)
        }
    }

    @Test("bounded streams leave the server room for one more request")
    func tooManyStreams() {
        let open = (0..<3).map { _ in begin(.stream(window: 1)) }
        let refused = exchange.makeID()
        #expect(!exchange.begin(refused, .stream(window: 1)))
        guard case .reply(.failed(let error)) = exchange.take(refused).answer else {
            Issue.record("the fourth stream of four requests was let through")
            return
        }
        #expect(error.code == .resourceExhausted)
        _ = begin(.stream(window: 0))
        _ = begin(.call)
        _ = exchange.abandon(open[1])
        _ = begin(.stream(window: 1))
    }

    @Test("when the connection ends, each request learns whether it had been sent")
    func ended() {
        let (sent, unsent, answered) = (begin(), begin(isSent: false), begin())
        #expect(exchange.received(reply(answered, .pong)) == [.wake(answered)])
        #expect(exchange.ended(lost) == [.wake(sent), .wake(unsent)])
        #expect(exchange.take(sent).answer == .lost(lost, mayHaveRun: true))
        #expect(exchange.take(unsent).answer == .lost(lost, mayHaveRun: false))
        #expect(exchange.take(answered).answer == .reply(.pong))
        #expect(exchange.ended(LarderError(.timeout, "other")).isEmpty)
        #expect(exchange.failure == lost)
    }

    @Test("a request on a connection that has ended is lost without being sent")
    func beginAfterEnd() {
        #expect(exchange.ended(lost).isEmpty)
        let id = exchange.makeID()
        #expect(!exchange.begin(id, .call))
        #expect(exchange.take(id).answer == .lost(lost, mayHaveRun: false))
    }

    @Test("batches that arrived before the end are given before the loss")
    func batchesBeforeLoss() {
        let id = begin(.stream(window: 4))
        _ = exchange.received(reply(id, batch))
        #expect(exchange.ended(lost) == [.wake(id)])
        #expect(exchange.take(id).answer == .reply(batch))
        #expect(exchange.take(id).answer == .lost(lost, mayHaveRun: true))
    }

    @Test("once nothing can be sent, what was sent may still be answered")
    func sendingEnded() {
        let (sent, unsent) = (begin(), begin(isSent: false))
        #expect(exchange.sendingEnded(lost) == [.wake(unsent)])
        #expect(exchange.take(unsent).answer == .lost(lost, mayHaveRun: false))
        let next = exchange.makeID()
        #expect(!exchange.begin(next, .call))
        #expect(exchange.received(reply(sent, .pong)) == [.wake(sent)])
        #expect(exchange.take(sent).answer == .reply(.pong))
    }

    @Test("once nothing can be sent and nothing is awaited, the connection ends")
    func sendingEndedIdle() {
        let unsent = begin(isSent: false)
        #expect(exchange.sendingEnded(lost) == [.wake(unsent), .end(lost)])
    }

    @Test("what the server said before it closed is the reason that callers see")
    func farewell() {
        let id = begin()
        let reason = LarderError(.resourceExhausted, "too much waits")
        #expect(exchange.received(reply(0, .failed(reason))).isEmpty)
        #expect(exchange.ended(lost) == [.wake(id)])
        #expect(exchange.take(id).answer == .lost(reason, mayHaveRun: true))
    }

    @Test("what a server has not answered when it says that it stops was not executed")
    func orderlyStop() {
        let id = begin()
        let reason = LarderError(.unavailable, "stopping")
        #expect(exchange.received(reply(0, .failed(reason))).isEmpty)
        #expect(exchange.ended(lost) == [.wake(id)])
        #expect(exchange.take(id).answer == .lost(reason, mayHaveRun: false))
    }

    @Test("words of the server that others follow were not its last")
    func notTheLastWords() {
        let (first, second) = (begin(), begin())
        _ = exchange.received(reply(0, .failed(LarderError(.malformedMessage, "what?"))))
        #expect(exchange.received(reply(first, .pong)) == [.wake(first)])
        #expect(exchange.ended(lost) == [.wake(second)])
        #expect(exchange.take(second).answer == .lost(lost, mayHaveRun: true))
    }

    @Test("a reply whose content is wrong fails its own request")
    func undecodable() {
        let (id, other) = (begin(), begin())
        let error = LarderError(.malformedMessage, "wrong")
        #expect(exchange.failedToDecode(WireFailure(requestID: id, error: error)) == [.wake(id)])
        #expect(exchange.take(id).answer == .lost(error, mayHaveRun: true))
        #expect(exchange.received(reply(other, .pong)) == [.wake(other)])
    }

    @Test("bytes that are no envelope end the connection")
    func garbage() {
        let id = begin()
        let error = LarderError(.malformedFrame, "garbage")
        #expect(exchange.failedToDecode(WireFailure(requestID: id, error: error)) == [.end(error)])
        let unowned = LarderError(.malformedMessage, "whose?")
        #expect(
            exchange.failedToDecode(WireFailure(requestID: 0, error: unowned)) == [.end(unowned)])
    }

    private func reply(_ id: UInt64, _ reply: Reply) -> ReplyEnvelope {
        ReplyEnvelope(id: id, reply: reply)
    }

    private func ending(_ actions: [Exchange.Action]) -> LarderError? {
        if actions.count == 1, case .end(let error) = actions[0] { error } else { nil }
    }
}
