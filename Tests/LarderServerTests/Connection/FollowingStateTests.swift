import LarderModel
import LarderWire
import Testing

@testable import LarderServer

@Suite("Requests that follow the history, in the protocol state of a connection")
struct FollowingStateTests {
    private typealias Connection = ConnectionStateTests

    private static let follow = HistoryRequest(HistoryFetch(), credit: 1, follows: true)

    private func follow(_ id: UInt64) -> ConnectionState.Event {
        Connection.request(id, .history(Self.follow))
    }

    private func perform(_ id: UInt64) -> ConnectionState.Action {
        .perform(Operation(id: id, kind: .history(Self.follow)))
    }

    /// A connection with this number of requests that follow the history, from the id 10.
    private func state(following count: UInt64) -> ConnectionState {
        let state = Connection.ready()
        for id in 10..<10 + count { #expect(state.handle(follow(id)) == perform(id)) }
        return state
    }

    @Test("requests that follow the history are not in flight, and leave room for others")
    func notInFlight() {
        let state = state(following: 10)
        #expect(state.requestsInFlight == 0)
        #expect(state.handle(Connection.request(2)) == Connection.perform(2))
        #expect(state.handle(Connection.request(3)) == Connection.perform(3))
        #expect(state.requestsInFlight == 2)
        #expect(state.handle(follow(4)) == perform(4))
        #expect(state.acceptsFrames)
        #expect(state.handle(Connection.request(5)) == .nothing)
        #expect(!state.acceptsFrames)
        #expect(state.handle(.requestFinished(10)) == Connection.perform(5))
    }

    @Test("a request for the history that does not follow it is in flight")
    func plain() {
        let state = Connection.ready()
        _ = state.handle(Connection.request(2, .history(HistoryRequest(HistoryFetch()))))
        #expect(state.requestsInFlight == 1)
    }

    @Test("credit and cancellation reach a request that follows the history until it has ended")
    func credit() {
        let state = state(following: 2)
        let credit = Request.credit(requestID: 10, batches: 3)
        let cancel = Request.cancel(requestID: 11)
        #expect(state.handle(Connection.request(2, credit)) == .grant(requestID: 10, batches: 3))
        #expect(state.handle(Connection.request(2, cancel)) == .cancel(requestID: 11))
        for id: UInt64 in [10, 11] { #expect(state.handle(.requestFinished(id)) == .nothing) }
        #expect(state.handle(Connection.request(2, credit)) == .nothing)
        #expect(state.handle(Connection.request(2, cancel)) == .nothing)
    }

    @Test("the id of a request that follows the history is in use until the request has ended")
    func identifiers() throws {
        let state = state(following: 1)
        #expect(!state.mayReplyAtOnce(10))
        for event in [follow(10), Connection.request(10)] {
            let reply = try #require(Connection.replied(state.handle(event)))
            #expect(reply == (0, .malformedMessage))
        }
        _ = state.handle(.requestFinished(10))
        #expect(state.mayReplyAtOnce(10))
        #expect(state.handle(follow(10)) == perform(10))
    }

    @Test("a draining connection closes when its followers have ended, and accepts no others")
    func draining() throws {
        let state = state(following: 2)
        _ = state.handle(Connection.request(2))
        // The handler ends them when the server stops.
        #expect(state.handle(.requestFinished(10)) == .nothing)
        #expect(state.handle(.requestFinished(11)) == .nothing)
        #expect(state.handle(.drainStarted(ConnectionState.stopping)) == .nothing)
        #expect(try #require(Connection.replied(state.handle(follow(12)))) == (12, .unavailable))
        #expect(Connection.refusal(state.handle(.requestFinished(2))) == .unavailable)
    }

    @Test("a connection with a request that follows the history is not idle")
    func notIdle() {
        let draining = state(following: 1)
        #expect(draining.handle(.drainStarted(ConnectionState.stopping)) == .nothing)
        #expect(Connection.refusal(draining.handle(.requestFinished(10))) == .unavailable)
        let ended = state(following: 1)
        #expect(ended.handle(.inputEnded) == .nothing)
        #expect(ended.handle(.requestFinished(10)) == .close)
    }
}
