import LarderModel
internal import LarderWire

/// Which requests of one connection await what: the protocol's state, without sockets or waiting.
///
/// Events come in as calls of methods; what must be done is returned as actions, for the owner to
/// do. Answers are kept until ``take(_:)``. A request is known from ``begin(_:_:)`` until its last
/// answer is taken or it is abandoned; what arrives for an unknown one is late, and dropped.
///
/// Held for each bounded stream are at most as many batches as its window allows. A call that is
/// asked and answered allocates nothing here.
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
        indirect case send(Request)
        /// The connection is of no use any more.
        indirect case end(LarderError)
    }

    enum Answer: Hashable {
        case reply(Reply)
        /// The connection ended first, and with it what is known of the request.
        indirect case lost(LarderError, mayHaveRun: Bool)
    }

    fileprivate struct Pending {
        let id: UInt64
        let kind: Kind
        var isSent = false
        /// No more answers will come.
        var isComplete = false
        /// The next answer, and those behind it.
        var answer: Answer?
        var later: [Answer] = []
        /// Whether it counts among the bounded streams.
        var isBounded = false
        /// Batches that the server may still send, and those taken that it was not yet told of.
        var credit: UInt32 = 0
        var taken: UInt32 = 0
        /// It is not known any more, and only holds its place.
        var isForgotten = false
    }

    /// In the order of their ids. Most have one, and are asked for the last.
    private var pending: [Pending] = []
    private var forgottenCount = 0
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
    func knows(_ id: UInt64) -> Bool { place(of: id) != nil }

    func hasAnswer(_ id: UInt64) -> Bool {
        place(of: id).map { pending[$0].answer != nil } ?? false
    }

    /// The number for the next request, also for one that gets no answer.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// A request is about to be sent.
    ///
    /// - Returns: false if it must not be; there is then an answer to take.
    mutating func begin(_ id: UInt64, _ kind: Kind) -> Bool {
        precondition(id <= lastID, "each id is made, and used once")
        let place = firstPlace(from: id)
        precondition(
            place == pending.count || pending[place].id != id, "each id is made, and used once")
        pending.insert(Pending(id: id, kind: kind), at: place)
        incompleteCount += 1
        if let reason = failure ?? sendingFailure {
            complete(place, with: .lost(reason, mayHaveRun: false))
            return false
        }
        switch kind {
        case .call, .stream(window: 0): return true
        case .stream(let window): return bound(place, credit: window)
        case .insertion: return bound(place, credit: 0)
        }
    }

    /// Counts a stream that needs the server to go on reading.
    private mutating func bound(_ place: Int, credit: UInt32) -> Bool {
        guard boundedStreamCount < boundedStreamsMax else {
            complete(place, with: .reply(.failed(tooManyStreams)))
            return false
        }
        boundedStreamCount += 1
        pending[place].isBounded = true
        pending[place].credit = credit
        return true
    }

    /// The last byte of a request has been handed over, so that it may be executed.
    mutating func sent(_ id: UInt64) {
        if let place = place(of: id) { pending[place].isSent = true }
    }

    mutating func received(_ envelope: ReplyEnvelope) -> Action? {
        guard failure == nil else { return nil }
        if envelope.id == 0, case .failed(let error) = envelope.reply {
            farewell = error
            return nil
        }
        // Last words are followed by nothing.
        farewell = nil
        guard envelope.id > 0, envelope.id <= lastID else {
            return .end(
                violation("the server answered request \(envelope.id), which was not asked"))
        }
        guard let place = place(of: envelope.id), !pending[place].isComplete else {
            return nil
        }
        switch (pending[place].kind, envelope.reply) {
        case (.stream(window: 0), .encodedBatches(_, more: true)),
            (.insertion, .inserted(_, more: true)):
            pending[place].append(.reply(envelope.reply))
        case (.stream, .encodedBatches(_, more: true)):
            guard pending[place].credit > 0 else {
                return .end(violation("the server sent more batches than it was allowed"))
            }
            pending[place].credit -= 1
            pending[place].append(.reply(envelope.reply))
        default:
            complete(place, with: .reply(envelope.reply))
        }
        return .wake(envelope.id)
    }

    /// A frame arrived that could not be decoded.
    mutating func failedToDecode(_ failure: WireFailure) -> Action? {
        guard self.failure == nil else { return nil }
        guard !failure.isFatal, failure.requestID > 0, failure.requestID <= lastID else {
            return .end(failure.error)
        }
        guard let place = place(of: failure.requestID), !pending[place].isComplete else {
            return nil
        }
        complete(place, with: .lost(failure.error, mayHaveRun: true))
        return .wake(failure.requestID)
    }

    /// The next answer to a request, if it is there.
    mutating func take(_ id: UInt64) -> (answer: Answer?, action: Action?) {
        guard let place = place(of: id), let answer = pending[place].takeAnswer() else {
            return (nil, nil)
        }
        if pending[place].isComplete {
            if pending[place].answer == nil { forget(place) }
            return (answer, nil)
        }
        guard case .stream(let window) = pending[place].kind, window > 0 else {
            return (answer, nil)
        }
        pending[place].taken += 1
        // Told in halves of the window: often enough that the server need not pause.
        let taken = pending[place].taken
        guard taken * 2 >= window else { return (answer, nil) }
        pending[place].credit += taken
        pending[place].taken = 0
        return (answer, .send(.credit(requestID: id, batches: taken)))
    }

    /// Nobody waits for the request any more.
    mutating func abandon(_ id: UInt64) -> Action? {
        guard let place = place(of: id) else { return nil }
        let call = pending[place]
        if !call.isComplete { complete(place, with: nil) }
        forget(place)
        guard !call.isComplete, call.isSent, failure == nil, sendingFailure == nil else {
            return nil
        }
        return .send(.cancel(requestID: id))
    }

    /// Nothing can be sent any more. What has been sent may still be answered.
    mutating func sendingEnded(_ error: LarderError) -> [Action] {
        guard failure == nil, sendingFailure == nil else { return [] }
        sendingFailure = error
        var actions: [Action] = []
        for place in pending.indices
        where !pending[place].isComplete && !pending[place].isSent {
            complete(place, with: .lost(farewell ?? error, mayHaveRun: false))
            actions.append(.wake(pending[place].id))
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
        for place in pending.indices where !pending[place].isComplete {
            let mayHaveRun = pending[place].isSent && !isOrderly
            complete(place, with: .lost(reason, mayHaveRun: mayHaveRun))
            actions.append(.wake(pending[place].id))
        }
        return actions
    }

    private mutating func complete(_ place: Int, with answer: Answer?) {
        if let answer { pending[place].append(answer) }
        pending[place].isComplete = true
        incompleteCount -= 1
        if pending[place].isBounded { boundedStreamCount -= 1 }
    }

    private func place(of id: UInt64) -> Int? {
        let place = firstPlace(from: id)
        guard place < pending.count, pending[place].id == id, !pending[place].isForgotten else {
            return nil
        }
        return place
    }

    /// The first place of an id that is not less.
    private func firstPlace(from id: UInt64) -> Int {
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The request is not known any more. Places are given up many at a time, so that forgetting
    /// one of thousands moves few.
    private mutating func forget(_ place: Int) {
        pending[place].forget()
        forgottenCount += 1
        guard forgottenCount * 2 > pending.count else { return }
        if forgottenCount == pending.count {
            pending.removeAll(keepingCapacity: true)
        } else {
            pending.removeAll { $0.isForgotten }
        }
        forgottenCount = 0
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

extension Exchange.Pending {
    mutating func append(_ answer: Exchange.Answer) {
        if self.answer == nil { self.answer = answer } else { later.append(answer) }
    }

    mutating func forget() {
        isForgotten = true
        answer = nil
        later = []
    }

    mutating func takeAnswer() -> Exchange.Answer? {
        defer { answer = later.isEmpty ? nil : later.removeFirst() }
        return answer
    }
}
