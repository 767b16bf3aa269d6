import LarderModel
import LarderWire

/// Which requests of one connection await what: the protocol's state, without sockets or waiting.
///
/// Events come in as calls of methods; what must be done is returned as actions, for the owner to
/// do. Answers are kept until ``take(_:)``. A request is known from ``begin(_:_:)`` until its last
/// answer is taken or it is abandoned; what arrives for an unknown one is late, and dropped.
///
/// Held for each bounded stream are at most as many batches as its window allows.
struct Exchange {
    enum Kind: Hashable {
        case call
        /// Answered by batches; the server may be so many ahead of what is taken. 0: any number.
        case stream(window: UInt32)
        /// Answered each time that the server is done with rows of the stream.
        case insertion
    }

    enum Action: Hashable {
        /// There is something to take for this request.
        case wake(UInt64)
        /// Tell the server; it will not answer.
        case send(Request)
        /// The connection is of no use any more.
        case end(LarderError)
    }

    enum Answer: Hashable {
        case reply(Reply)
        /// The connection ended first, and with it what is known of the request.
        case lost(LarderError, mayHaveRun: Bool)
    }

    private struct Pending {
        var kind: Kind
        var isSent = false
        /// No more answers will come.
        var isComplete = false
        var answers: [Answer] = []
        /// Whether it counts among the bounded streams.
        var isBounded = false
        /// Batches that the server may still send, and those taken that it was not yet told of.
        var credit: UInt32 = 0
        var taken: UInt32 = 0
    }

    private var pending: [UInt64: Pending] = [:]
    private var incompleteCount = 0
    private var boundedStreamCount = 0
    private let boundedStreamsMax: Int
    private var lastID: UInt64
    /// Why nothing can be sent any more; answers may still come.
    private var sendingFailure: LarderError?
    /// What the server said that belongs to no request: why it is about to close.
    private var farewell: LarderError?
    /// Why the connection ended.
    private(set) var failure: LarderError?

    /// A server stops reading at its maximum of requests in flight. Streams that wait for credit
    /// must not add up to that, or the credit would never be read.
    ///
    /// - Parameter lastID: the last id that the handshake used.
    init(requestsInFlightMax: UInt32, lastID: UInt64) {
        boundedStreamsMax = max(1, Int(requestsInFlightMax) - 1)
        self.lastID = lastID
    }

    /// Nothing is owed by the server.
    var isIdle: Bool { incompleteCount == 0 }

    /// Whether answers to this request are awaited, or there to be taken.
    func knows(_ id: UInt64) -> Bool { pending[id] != nil }

    func hasAnswer(_ id: UInt64) -> Bool { pending[id]?.answers.isEmpty == false }

    /// The number for the next request, also for one that gets no answer.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// A request is about to be sent.
    ///
    /// - Returns: false if it must not be; there is then an answer to take.
    mutating func begin(_ id: UInt64, _ kind: Kind) -> Bool {
        precondition(id <= lastID && pending[id] == nil, "each id is made, and used once")
        pending[id] = Pending(kind: kind)
        incompleteCount += 1
        if let reason = failure ?? sendingFailure {
            complete(id, with: .lost(reason, mayHaveRun: false))
            return false
        }
        switch kind {
        case .call, .stream(window: 0): return true
        case .stream(let window): return bound(id, credit: window)
        case .insertion: return bound(id, credit: 0)
        }
    }

    /// Counts a stream that needs the server to go on reading.
    private mutating func bound(_ id: UInt64, credit: UInt32) -> Bool {
        guard boundedStreamCount < boundedStreamsMax else {
            complete(id, with: .reply(.failed(tooManyStreams)))
            return false
        }
        boundedStreamCount += 1
        pending[id]?.isBounded = true
        pending[id]?.credit = credit
        return true
    }

    /// The last byte of a request has been handed over, so that it may be executed.
    mutating func sent(_ id: UInt64) { pending[id]?.isSent = true }

    mutating func received(_ envelope: ReplyEnvelope) -> [Action] {
        guard failure == nil else { return [] }
        if envelope.id == 0, case .failed(let error) = envelope.reply {
            farewell = error
            return []
        }
        // Last words are followed by nothing.
        farewell = nil
        guard envelope.id > 0, envelope.id <= lastID else {
            return [
                .end(violation("the server answered request \(envelope.id), which was not asked"))
            ]
        }
        guard let call = pending[envelope.id], !call.isComplete else { return [] }
        switch (call.kind, envelope.reply) {
        case (.stream(window: 0), .batches(_, more: true)),
            (.insertion, .inserted(_, more: true)):
            break
        case (.stream, .batches(_, more: true)):
            guard call.credit > 0 else {
                return [.end(violation("the server sent more batches than it was allowed"))]
            }
            pending[envelope.id]?.credit -= 1
        default:
            complete(envelope.id, with: .reply(envelope.reply))
            return [.wake(envelope.id)]
        }
        pending[envelope.id]?.answers.append(.reply(envelope.reply))
        return [.wake(envelope.id)]
    }

    /// A frame arrived that could not be decoded.
    mutating func failedToDecode(_ failure: WireFailure) -> [Action] {
        guard self.failure == nil else { return [] }
        guard !failure.isFatal, failure.requestID > 0, failure.requestID <= lastID else {
            return [.end(failure.error)]
        }
        guard let call = pending[failure.requestID], !call.isComplete else { return [] }
        complete(failure.requestID, with: .lost(failure.error, mayHaveRun: true))
        return [.wake(failure.requestID)]
    }

    /// The next answer to a request, if it is there.
    mutating func take(_ id: UInt64) -> (answer: Answer?, actions: [Action]) {
        guard var call = pending[id], !call.answers.isEmpty else { return (nil, []) }
        let answer = call.answers.removeFirst()
        var actions: [Action] = []
        if case .stream(let window) = call.kind, window > 0, !call.isComplete {
            call.taken += 1
            // Told in halves of the window: often enough that the server need not pause.
            if call.taken * 2 >= window {
                actions.append(.send(.credit(requestID: id, batches: call.taken)))
                call.credit += call.taken
                call.taken = 0
            }
        }
        pending[id] = call.isComplete && call.answers.isEmpty ? nil : call
        return (answer, actions)
    }

    /// Nobody waits for the request any more.
    mutating func abandon(_ id: UInt64) -> [Action] {
        guard let call = pending[id] else { return [] }
        if !call.isComplete { complete(id, with: nil) }
        pending[id] = nil
        guard !call.isComplete, call.isSent, failure == nil, sendingFailure == nil else {
            return []
        }
        return [.send(.cancel(requestID: id))]
    }

    /// Nothing can be sent any more. What has been sent may still be answered.
    mutating func sendingEnded(_ error: LarderError) -> [Action] {
        guard failure == nil, sendingFailure == nil else { return [] }
        sendingFailure = error
        var actions: [Action] = []
        for (id, call) in pending.sorted(by: { $0.key < $1.key })
        where !call.isComplete && !call.isSent {
            complete(id, with: .lost(farewell ?? error, mayHaveRun: false))
            actions.append(.wake(id))
        }
        if isIdle { actions.append(.end(error)) }
        return actions
    }

    /// The connection has ended: nothing arrives any more.
    mutating func ended(_ error: LarderError) -> [Action] {
        guard failure == nil else { return [] }
        let reason = farewell ?? error
        // A server that stops answers what it has executed before it says so.
        let isOrderly = farewell?.code == .unavailable
        failure = reason
        var actions: [Action] = []
        for (id, call) in pending.sorted(by: { $0.key < $1.key }) where !call.isComplete {
            complete(id, with: .lost(reason, mayHaveRun: call.isSent && !isOrderly))
            actions.append(.wake(id))
        }
        return actions
    }

    private mutating func complete(_ id: UInt64, with answer: Answer?) {
        guard var call = pending[id] else { return }
        if let answer { call.answers.append(answer) }
        call.isComplete = true
        pending[id] = call
        incompleteCount -= 1
        if call.isBounded { boundedStreamCount -= 1 }
    }

    private var tooManyStreams: LarderError {
        LarderError(
            .resourceExhausted,
            "\(boundedStreamCount) streams are open on this connection, and no more are allowed",
            hint: "read a stream to its end or cancel it before opening another")
    }

    private func violation(_ message: String) -> LarderError {
        LarderError(.malformedMessage, message)
    }
}
