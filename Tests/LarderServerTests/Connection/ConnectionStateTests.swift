import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderServer

@Suite("The protocol state of a connection")
struct ConnectionStateTests {
    typealias Action = ConnectionState.Action

    static let welcome = Welcome(
        serverName: "test", storeIdentifier: UUID(), schemaVersion: "1.2.0",
        schemaFingerprint: "00112233aabbccdd", isReadOnly: false, frameBytesMax: 1_000,
        requestsInFlightMax: 2)

    static func request(_ id: UInt64, _ request: Request = .ping) -> ConnectionState.Event {
        .received(RequestEnvelope(id: id, request: request))
    }

    static func hello(_ hello: Hello = Hello(clientName: "c")) -> ConnectionState.Event {
        .received(RequestEnvelope(id: 1, request: .hello(hello)))
    }

    static func perform(_ id: UInt64) -> Action {
        .perform(Operation(id: id, kind: .ping))
    }

    /// The code of the closing error; nil for another action.
    static func refusal(_ action: Action) -> ErrorCode? {
        if case .refuse(let reply) = action { reply.reply.errorCode } else { nil }
    }

    static func replied(_ action: Action) -> (id: UInt64, code: ErrorCode?)? {
        if case .reply(let reply) = action { (reply.id, reply.reply.errorCode) } else { nil }
    }

    /// A connection after the handshake.
    static func ready() -> ConnectionState {
        let state = ConnectionState(welcome: welcome)
        _ = state.handle(hello())
        return state
    }

    @Test("rows of an insert stream that is not in flight are ignored")
    func rows() {
        let state = Self.ready()
        let insertion = Insertion("Item")
        #expect(
            state.handle(Self.request(5, .insertRows(insertion)))
                == .perform(Operation(id: 5, kind: .insertRows(insertion))))
        let rows = Request.rows(requestID: 5, nil, isLast: false)
        #expect(
            state.handle(Self.request(6, rows)) == .part(requestID: 5, nil, isLast: false))
        #expect(state.handle(.requestFinished(5)) == .nothing)
        #expect(state.handle(Self.request(7, rows)) == .nothing)
    }

    @Test("events and actions have at most 128 bytes, which are moved without a call")
    func sizes() {
        #expect(MemoryLayout<ConnectionState.Event>.size <= 128)
        #expect(MemoryLayout<ConnectionState.Action>.size <= 128)
    }

    @Test("a handshake gets one reply, and then requests are performed")
    func handshake() {
        let state = ConnectionState(welcome: Self.welcome)
        #expect(state.isAwaitingHello)
        let reply = ReplyEnvelope(id: 1, reply: .welcome(Self.welcome))
        #expect(state.handle(Self.hello()) == .welcome(reply, Hello(clientName: "c")))
        #expect(!state.isAwaitingHello)
        #expect(state.handle(Self.request(2)) == Self.perform(2))
        #expect(state.handle(.handshakeTimeRanOut) == .nothing)
    }

    @Test("a request before the handshake ends the connection")
    func handshakeRequired() {
        let state = ConnectionState(welcome: Self.welcome)
        #expect(Self.refusal(state.handle(Self.request(1))) == .handshakeRequired)
        #expect(state.isClosing)
        #expect(state.handle(Self.hello()) == .nothing)
    }

    @Test("a connection without a handshake in time ends")
    func handshakeTime() {
        let state = ConnectionState(welcome: Self.welcome)
        #expect(Self.refusal(state.handle(.handshakeTimeRanOut)) == .handshakeRequired)
    }

    @Test("a handshake of another protocol version is refused with both versions")
    func version() throws {
        let state = ConnectionState(welcome: Self.welcome)
        let action = state.handle(Self.hello(Hello(protocolVersion: 77, clientName: "c")))
        guard case .refuse(let reply) = action, case .failed(let error) = reply.reply else {
            Issue.record("not refused: \(action)")
            return
        }
        #expect(error.code == .unsupportedVersion)
        #expect(error.message.contains("77") && error.message.contains("version 1"))
    }

    @Test(
        "a handshake that expects another schema is refused",
        arguments: [
            Hello(clientName: "c", schemaVersion: "1.1.0"),
            Hello(clientName: "c", schemaFingerprint: "ffffffffffffffff"),
        ])
    func schemaMismatch(hello: Hello) {
        let state = ConnectionState(welcome: Self.welcome)
        #expect(Self.refusal(state.handle(Self.hello(hello))) == .schemaMismatch)
    }

    @Test("a handshake that expects the store's schema is accepted")
    func schemaMatch() {
        let state = ConnectionState(welcome: Self.welcome)
        let hello = Hello(
            clientName: "c", schemaVersion: "1.2.0", schemaFingerprint: "00112233aabbccdd")
        _ = state.handle(Self.hello(hello))
        #expect(state.handle(Self.request(2)) == Self.perform(2))
    }

    @Test("a client of a former schema gets its own welcome, and unknown schemas are refused")
    func formerSchema() throws {
        var former = Self.welcome
        former.schemaVersion = "1.1.0"
        let state = { [former] in
            ConnectionState(
                welcome: Self.welcome,
                formerWelcome: { $0.schemaVersion == "1.1.0" ? former : nil })
        }
        let hello = Hello(clientName: "c", schemaVersion: "1.1.0")
        let reply = ReplyEnvelope(id: 1, reply: .welcome(former))
        let accepted = state()
        #expect(accepted.handle(Self.hello(hello)) == .welcome(reply, hello))
        #expect(accepted.handle(Self.request(2)) == Self.perform(2))
        let refused = state().handle(
            Self.hello(Hello(clientName: "c", schemaVersion: "1.0.0")))
        guard case .refuse(let reply) = refused, case .failed(let error) = reply.reply else {
            Issue.record("not refused: \(refused)")
            return
        }
        #expect(error.code == .schemaMismatch)
        #expect(error.message.contains("1.0.0") && error.message.contains("1.2.0"))
        // The current schema comes first.
        let current = Hello(clientName: "c", schemaVersion: "1.2.0")
        let welcome = ReplyEnvelope(id: 1, reply: .welcome(Self.welcome))
        #expect(state().handle(Self.hello(current)) == .welcome(welcome, current))
    }

    @Test("a second handshake is an error, and the connection stays open")
    func secondHello() throws {
        let state = Self.ready()
        let replied = try #require(Self.replied(state.handle(Self.hello())))
        #expect(replied == (1, .malformedMessage))
        #expect(state.handle(Self.request(2)) == Self.perform(2))
    }

    @Test("the id 0 and an id in flight are errors under id 0, and the connection stays open")
    func identifiers() throws {
        let state = Self.ready()
        #expect(try #require(Self.replied(state.handle(Self.request(0)))) == (0, .malformedMessage))
        #expect(state.handle(Self.request(5)) == Self.perform(5))
        #expect(try #require(Self.replied(state.handle(Self.request(5)))) == (0, .malformedMessage))
        #expect(state.handle(.requestFinished(5)) == .nothing)
        #expect(state.handle(Self.request(5)) == Self.perform(5))
    }

    @Test("one operation above the maximum is parked until another has finished")
    func inFlight() {
        let state = Self.ready()
        #expect(state.handle(Self.request(1)) == Self.perform(1))
        #expect(state.handle(Self.request(2)) == Self.perform(2))
        #expect(state.acceptsFrames)
        #expect(state.handle(Self.request(3)) == .nothing)
        #expect(!state.acceptsFrames)
        #expect(state.handle(.requestFinished(1)) == Self.perform(3))
        #expect(state.acceptsFrames)
    }

    @Test("credit and cancellation reach operations in flight, also at the maximum")
    func credit() {
        let state = Self.ready()
        _ = state.handle(Self.request(1))
        _ = state.handle(Self.request(2))
        let credit = Request.credit(requestID: 1, batches: 3)
        #expect(state.handle(Self.request(9, credit)) == .grant(requestID: 1, batches: 3))
        #expect(state.handle(Self.request(9, .cancel(requestID: 2))) == .cancel(requestID: 2))
        #expect(state.handle(Self.request(9, .cancel(requestID: 7))) == .nothing)
        #expect(state.acceptsFrames)
    }

    @Test("an invalid request gets an error, and an invalid frame ends the connection")
    func undecodable() throws {
        let state = Self.ready()
        let wrong = WireFailure(requestID: 4, error: LarderError(.unknownMessage, "unknown"))
        #expect(
            try #require(Self.replied(state.handle(.undecodable(wrong)))) == (4, .unknownMessage))
        let broken = WireFailure(requestID: 0, error: LarderError(.malformedFrame, "garbage"))
        #expect(Self.refusal(state.handle(.undecodable(broken))) == .malformedFrame)
        #expect(!state.acceptsFrames)
    }

    @Test("a frame that is too long ends the connection with both lengths in the message")
    func tooLong() {
        let state = Self.ready()
        let action = state.handle(.frameTooLong(declaredBytes: 2_000, bytesMax: 1_000))
        #expect(Self.refusal(action) == .frameTooLong)
        #expect("\(action)".contains("2000") && "\(action)".contains("1000"))
    }

    @Test("a draining connection completes its operations, also a parked one, then closes")
    func draining() throws {
        let state = Self.ready()
        for id in [1, 2, 3] as [UInt64] { _ = state.handle(Self.request(id)) }
        #expect(state.handle(.drainStarted(ConnectionState.stopping)) == .nothing)
        #expect(state.handle(.requestFinished(1)) == Self.perform(3))
        #expect(try #require(Self.replied(state.handle(Self.request(4)))) == (4, .unavailable))
        #expect(state.handle(.requestFinished(2)) == .nothing)
        #expect(Self.refusal(state.handle(.requestFinished(3))) == .unavailable)
        #expect(state.isClosing)
    }

    @Test("a stopping server closes idle connections and those without a handshake at once")
    func drainingIdle() {
        let ready = Self.ready()
        #expect(Self.refusal(ready.handle(.drainStarted(ConnectionState.stopping))) == .unavailable)
        let new = ConnectionState(welcome: Self.welcome)
        #expect(Self.refusal(new.handle(.drainStarted(ConnectionState.stopping))) == .unavailable)
    }

    @Test("a connection that ends because of a new policy gets that reason, and not another one")
    func drainingForPolicy() throws {
        let state = Self.ready()
        _ = state.handle(Self.request(1))
        #expect(state.handle(.drainStarted(ConnectionState.policyReplaced)) == .nothing)
        let late = state.handle(Self.request(2))
        #expect("\(late)".contains("the policy of the store was replaced"))
        let end = state.handle(.requestFinished(1))
        #expect(Self.refusal(end) == .unavailable)
        #expect("\(end)".contains("the policy of the store was replaced"))
    }

    @Test("a peer that has ended its output still gets its replies")
    func inputEnded() {
        let state = Self.ready()
        _ = state.handle(Self.request(1))
        #expect(state.handle(.inputEnded) == .nothing)
        #expect(state.handle(.requestFinished(1)) == .close)
        let idle = Self.ready()
        #expect(idle.handle(.inputEnded) == .close)
    }

    @Test("a closing connection performs nothing and sends no replies")
    func closing() {
        let state = Self.ready()
        _ = state.handle(Self.request(1))
        _ = state.handle(.limitBreached(LarderError(.resourceExhausted, "too much")))
        #expect(state.handle(.requestFinished(1)) == .nothing)
        #expect(state.handle(Self.request(2)) == .nothing)
        #expect(state.handle(.drainStarted(ConnectionState.stopping)) == .nothing)
        #expect(state.handle(.inputEnded) == .nothing)
    }

    @Test("text of a client is made printable for logs")
    func printable() {
        #expect(ConnectionState.printable("a\nb\u{1B}[0m") == "a?b?[0m")
        #expect(ConnectionState.printable(String(repeating: "x", count: 999)).count == 64)
    }

    @Test("each message that takes work becomes an operation with its time")
    func operations() throws {
        let query = try QueryRequest(.count(entityName: "Item", predicate: nil))
        let operations: [(Request, Operation.Kind)] = [
            (.get([], properties: ["a"]), .get([], properties: ["a"])),
            (.query(query), .query(query)),
            (.explain(query), .explain(query)), (.save(ChangeSet([])), .save(ChangeSet([]))),
            (.history(HistoryRequest(HistoryFetch())), .history(HistoryRequest(HistoryFetch()))),
            (.deleteHistory(.keeping(1)), .deleteHistory(.keeping(1))),
            (.schema, .schema), (.statistics, .statistics), (.check, .check), (.ping, .ping),
            (.activity, .activity),
        ]
        for (request, kind) in operations {
            let state = Self.ready()
            let envelope = RequestEnvelope(id: 3, timeoutMilliseconds: 50, request: request)
            let operation = Operation(id: 3, timeoutMilliseconds: 50, kind: kind)
            #expect(state.handle(.received(envelope)) == .perform(operation))
            #expect(operation.time(atMost: .seconds(1)) == .milliseconds(50))
            #expect(operation.time(atMost: .milliseconds(10)) == .milliseconds(10))
        }
        #expect(Operation(id: 1, kind: .ping).time(atMost: .seconds(1)) == .seconds(1))
    }
}
