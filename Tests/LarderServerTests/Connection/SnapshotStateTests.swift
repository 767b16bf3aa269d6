import LarderModel
import LarderWire
import Testing

@testable import LarderServer

@Suite("Snapshots and observed queries in the protocol state of a connection")
struct SnapshotStateTests {
    private typealias Connection = ConnectionStateTests

    private func request(
        _ id: UInt64, in snapshot: UInt64, _ request: Request
    ) -> ConnectionState.Event {
        .received(RequestEnvelope(id: id, snapshot: snapshot, request: request))
    }

    private static func query() throws -> QueryRequest {
        try QueryRequest(.count(entityName: "Item", predicate: nil))
    }

    @Test("reads in a snapshot are performed, whatever the snapshot's id")
    func reads() throws {
        let history = HistoryRequest(HistoryFetch())
        let query = try Self.query()
        let operations: [(Request, Operation.Kind)] = [
            (.get([], properties: nil), .get([], properties: nil)), (.query(query), .query(query)),
            (.explain(query), .explain(query)), (.history(history), .history(history)),
        ]
        for (request, kind) in operations {
            let state = Connection.ready()
            // The handler knows which snapshots there are.
            for (id, snapshot) in [(2, 1), (3, .max)] as [(UInt64, UInt64)] {
                #expect(
                    state.handle(self.request(id, in: snapshot, request))
                        == .perform(Operation(id: id, snapshot: snapshot, kind: kind)))
            }
        }
    }

    @Test("writes, followers and other requests in a snapshot are refused")
    func others() throws {
        let query = try Self.query()
        let requests: [Request] = [
            .save(ChangeSet([])), .insertRows(Insertion("Item")), .deleteHistory(.keeping(1)),
            .history(HistoryRequest(HistoryFetch(), follows: true)),
            .observe(ObserveRequest(query)), .openSnapshot, .schema, .statistics, .activity,
            .check, .ping,
        ]
        let state = Connection.ready()
        for request in requests {
            let reply = try #require(
                Connection.replied(state.handle(self.request(7, in: 1, request))), "\(request)")
            #expect(reply == (7, .malformedMessage), "\(request)")
        }
        #expect(state.requestsInFlight == 0)
        #expect(state.mayReplyAtOnce(7))
    }

    @Test("an open snapshot is in flight until it ends, and a cancellation ends it")
    func snapshot() {
        let state = Connection.ready()
        #expect(
            state.handle(Connection.request(5, .openSnapshot))
                == .perform(Operation(id: 5, kind: .openSnapshot)))
        #expect(state.requestsInFlight == 1 && !state.mayReplyAtOnce(5))
        let cancel = Request.cancel(requestID: 5)
        #expect(state.handle(Connection.request(6, cancel)) == .cancel(requestID: 5))
        #expect(state.handle(.requestFinished(5)) == .nothing)
        #expect(state.requestsInFlight == 0)
        #expect(state.handle(Connection.request(6, cancel)) == .nothing)
    }

    @Test("observed queries are not in flight, and get credit and cancellations")
    func observers() throws {
        let request = ObserveRequest(try Self.query(), intervalMilliseconds: 5)
        let state = Connection.ready()
        for id: UInt64 in 10..<20 {
            #expect(
                state.handle(Connection.request(id, .observe(request)))
                    == .perform(Operation(id: id, kind: .observe(request))))
        }
        #expect(state.requestsInFlight == 0 && state.acceptsFrames)
        for id: UInt64 in [2, 3] {
            #expect(state.handle(Connection.request(id)) == Connection.perform(id))
        }
        let credit = Request.credit(requestID: 10, batches: 3)
        let cancel = Request.cancel(requestID: 11)
        #expect(state.handle(Connection.request(4, credit)) == .grant(requestID: 10, batches: 3))
        #expect(state.handle(Connection.request(4, cancel)) == .cancel(requestID: 11))
        let twice = try #require(
            Connection.replied(state.handle(Connection.request(10, .observe(request)))))
        #expect(twice == (0, .malformedMessage))
        #expect(state.handle(.requestFinished(11)) == .nothing)
        #expect(state.handle(Connection.request(4, cancel)) == .nothing)
    }

    @Test("a connection with an observed query or a snapshot is not idle")
    func notIdle() throws {
        for request in [.openSnapshot, .observe(ObserveRequest(try Self.query()))] as [Request] {
            let state = Connection.ready()
            _ = state.handle(Connection.request(5, request))
            #expect(state.handle(.inputEnded) == .nothing)
            #expect(state.handle(.requestFinished(5)) == .close)
        }
    }
}
