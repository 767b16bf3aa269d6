import LarderModel
internal import LarderWire

/// The requests of one connection and the replies that they wait for: the protocol's state, without
/// sockets or waiting.
///
/// Methods report events and return the actions that the owner must perform. Responses are stored
/// until ``take(_:)``. The tracker knows a request from ``begin(_:_:)`` until its last response is
/// taken or the request is abandoned. A reply to an unknown request is late and is dropped.
///
/// A bounded stream stores at most as many batches as its window allows. A call with one reply
/// allocates no memory here.
struct RequestTracker {
    enum Kind: Hashable {
        case call
        /// The replies are batches, or the parts of a backup. The server may send `window` more
        /// than the caller has taken; 0 is no limit.
        case stream(window: UInt32)
        /// The replies are parts of the history. As for a stream, but it is not counted: the
        /// server does not count a request that follows the history among those in flight.
        case feed(window: UInt32)
        /// A snapshot or a migration session, which the server opens, and ends when it is cancelled
        /// or its time is over.
        case session
        /// A stream of rows, or of parts of a change set, to the server, which replies each time
        /// that it has processed some.
        case insertion
    }

    enum Action: Hashable {
        /// The request has a response to take.
        case wake(UInt64)
        /// Send a request that has no reply.
        indirect case send(Request)
        /// End the connection.
        indirect case end(LarderError)
    }

    enum Response: Hashable {
        case reply(Reply)
        /// The connection ended before the reply.
        indirect case lost(LarderError, mayHaveRun: Bool)
    }

    fileprivate struct Pending {
        let id: UInt64
        let kind: Kind
        var isSent = false
        /// No more responses will come.
        var isComplete = false
        /// The next response, and the ones after it.
        var response: Response?
        var later: [Response] = []
        /// Whether it counts among the bounded streams.
        var isBounded = false
        /// The number of batches that the server may still send.
        var credit: UInt32 = 0
        /// The number of batches that were taken since credit was last granted.
        var taken: UInt32 = 0
        /// The entry is unused and will be removed from the list.
        var isRemoved = false
    }

    /// Sorted by id. Most connections have one, and most lookups are for the last.
    private var pending: [Pending] = []
    private var removedCount = 0
    private var incompleteCount = 0
    private var boundedStreamCount = 0
    private let boundedStreamsMax: Int
    private var lastID: UInt64
    /// Why nothing more can be sent, while replies may still come.
    private var sendingFailure: LarderError?
    /// The error that the server sent before it closes the connection. It belongs to no request.
    private var closingError: LarderError?
    /// Why the connection ended.
    private(set) var failure: LarderError?

    /// A server stops reading at its maximum of requests in flight. The number of streams that wait
    /// for credit must stay below it, or the server would never read the credit.
    ///
    /// - Parameter lastID: the last id that the handshake used.
    init(requestsInFlightMax: UInt32, lastID: UInt64) {
        boundedStreamsMax = max(1, Int(requestsInFlightMax) - 1)
        self.lastID = lastID
    }

    /// Whether the server owes no reply.
    var isIdle: Bool { incompleteCount == 0 }

    /// Whether the request waits for responses, or has some to take.
    func contains(_ id: UInt64) -> Bool { index(of: id) != nil }

    func hasResponse(_ id: UInt64) -> Bool {
        index(of: id).map { pending[$0].response != nil } ?? false
    }

    /// The id for the next request, also for one that has no reply.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Adds a request before it is sent.
    ///
    /// - Returns: false if it must not be sent; then there is a response to take.
    mutating func begin(_ id: UInt64, _ kind: Kind) -> Bool {
        precondition(id <= lastID, "each id is made, and used once")
        let index = firstIndex(from: id)
        precondition(
            index == pending.count || pending[index].id != id, "each id is made, and used once")
        pending.insert(Pending(id: id, kind: kind), at: index)
        incompleteCount += 1
        if let reason = failure ?? sendingFailure {
            complete(index, with: .lost(reason, mayHaveRun: false))
            return false
        }
        switch kind {
        case .call, .stream(window: 0), .session: return true
        case .feed(let window):
            pending[index].credit = window
            return true
        case .stream(let window): return beginBoundedStream(index, credit: window)
        case .insertion: return beginBoundedStream(index, credit: 0)
        }
    }

    /// Counts a stream that cannot continue unless the server reads.
    private mutating func beginBoundedStream(_ index: Int, credit: UInt32) -> Bool {
        guard boundedStreamCount < boundedStreamsMax else {
            complete(index, with: .reply(.failed(tooManyStreams)))
            return false
        }
        boundedStreamCount += 1
        pending[index].isBounded = true
        pending[index].credit = credit
        return true
    }

    /// The last byte of a request was sent, so the server may execute it.
    mutating func sent(_ id: UInt64) {
        if let index = index(of: id) { pending[index].isSent = true }
    }

    mutating func received(_ envelope: ReplyEnvelope) -> Action? {
        guard failure == nil else { return nil }
        if envelope.id == 0, case .failed(let error) = envelope.reply {
            closingError = error
            return nil
        }
        // A closing error is the last message. This reply shows that the error was not one.
        closingError = nil
        guard envelope.id > 0, envelope.id <= lastID else {
            return .end(
                violation("the server replied to request \(envelope.id), which was never sent"))
        }
        guard let index = index(of: envelope.id), !pending[index].isComplete else {
            return nil
        }
        switch (pending[index].kind, envelope.reply) {
        case (.stream(window: 0), .encodedBatches(_, more: true)),
            (.stream(window: 0), .history(_, more: true)),
            (.insertion, .inserted(_, more: true)), (.insertion, .savedPart),
            (.session, .snapshotOpened),
            (.session, .migrationProgress), (.session, .migrationBegun):
            pending[index].append(.reply(envelope.reply))
        case (.stream, .encodedBatches(_, more: true)), (.feed, .history(_, more: true)),
            (.feed, .observed(_, more: true)), (.stream, .backup(_, more: true)):
            guard pending[index].credit > 0 else {
                return .end(violation("the server sent more batches than its credit allows"))
            }
            pending[index].credit -= 1
            pending[index].append(.reply(envelope.reply))
        default:
            complete(index, with: .reply(envelope.reply))
        }
        return .wake(envelope.id)
    }

    /// A frame was received that cannot be decoded.
    mutating func failedToDecode(_ failure: WireFailure) -> Action? {
        guard self.failure == nil else { return nil }
        guard !failure.isFatal, failure.requestID > 0, failure.requestID <= lastID else {
            return .end(failure.error)
        }
        guard let index = index(of: failure.requestID), !pending[index].isComplete else {
            return nil
        }
        complete(index, with: .lost(failure.error, mayHaveRun: true))
        return .wake(failure.requestID)
    }

    /// The next response to a request, if there is one.
    mutating func take(_ id: UInt64) -> (response: Response?, action: Action?) {
        guard let index = index(of: id), let response = pending[index].takeResponse() else {
            return (nil, nil)
        }
        if pending[index].isComplete {
            if pending[index].response == nil { remove(index) }
            return (response, nil)
        }
        let window: UInt32
        switch pending[index].kind {
        case .stream(let size) where size > 0, .feed(let size): window = size
        default: return (response, nil)
        }
        pending[index].taken += 1
        // Credit is granted in halves of the window, so the server need not pause.
        let taken = pending[index].taken
        guard taken * 2 >= window else { return (response, nil) }
        pending[index].credit += taken
        pending[index].taken = 0
        return (response, .send(.credit(requestID: id, batches: taken)))
    }

    /// The caller no longer waits for the request.
    mutating func abandon(_ id: UInt64) -> Action? {
        guard let index = index(of: id) else { return nil }
        let request = pending[index]
        if !request.isComplete { complete(index, with: nil) }
        remove(index)
        guard !request.isComplete, request.isSent, failure == nil, sendingFailure == nil else {
            return nil
        }
        return .send(.cancel(requestID: id))
    }

    /// Nothing more can be sent. The server may still reply to requests that were sent.
    mutating func sendingEnded(_ error: LarderError) -> [Action] {
        guard failure == nil, sendingFailure == nil else { return [] }
        sendingFailure = error
        var actions: [Action] = []
        for index in pending.indices
        where !pending[index].isComplete && !pending[index].isSent {
            complete(index, with: .lost(closingError ?? error, mayHaveRun: false))
            actions.append(.wake(pending[index].id))
        }
        if isIdle { actions.append(.end(error)) }
        return actions
    }

    /// The connection has ended: no more replies are received.
    mutating func ended(_ error: LarderError) -> [Action] {
        guard failure == nil else { return [] }
        let reason = closingError ?? error
        // A server that stops replies to every request that it executed before it closes.
        let isGraceful = closingError?.code == .unavailable
        failure = reason
        var actions: [Action] = []
        for index in pending.indices where !pending[index].isComplete {
            let mayHaveRun = pending[index].isSent && !isGraceful
            complete(index, with: .lost(reason, mayHaveRun: mayHaveRun))
            actions.append(.wake(pending[index].id))
        }
        return actions
    }

    private mutating func complete(_ index: Int, with response: Response?) {
        if let response { pending[index].append(response) }
        pending[index].isComplete = true
        incompleteCount -= 1
        if pending[index].isBounded { boundedStreamCount -= 1 }
    }

    private func index(of id: UInt64) -> Int? {
        let index = firstIndex(from: id)
        guard index < pending.count, pending[index].id == id, !pending[index].isRemoved else {
            return nil
        }
        return index
    }

    /// The index of the first request whose id is not less.
    private func firstIndex(from id: UInt64) -> Int {
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Marks the entry as removed. The list is compacted when half of it is removed, so that
    /// removing one of thousands moves few on average.
    private mutating func remove(_ index: Int) {
        pending[index].markRemoved()
        removedCount += 1
        guard removedCount * 2 > pending.count else { return }
        if removedCount == pending.count {
            pending.removeAll(keepingCapacity: true)
        } else {
            pending.removeAll { $0.isRemoved }
        }
        removedCount = 0
    }

    private var tooManyStreams: LarderError {
        LarderError(
            .resourceExhausted,
            "this connection has \(boundedStreamCount) open streams, which is the maximum",
            hint: "read a stream to its end or cancel it before you open another")
    }

    private func violation(_ message: String) -> LarderError {
        LarderError(.malformedMessage, message)
    }
}

extension RequestTracker.Pending {
    mutating func append(_ response: RequestTracker.Response) {
        if self.response == nil { self.response = response } else { later.append(response) }
    }

    mutating func markRemoved() {
        isRemoved = true
        response = nil
        later = []
    }

    mutating func takeResponse() -> RequestTracker.Response? {
        defer { response = later.isEmpty ? nil : later.removeFirst() }
        return response
    }
}
