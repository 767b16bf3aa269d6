import LarderModel
internal import LarderWire
import Synchronization

/// One connection after its handshake: it sends requests and passes replies to the callers that
/// wait for them.
///
/// It does not reconnect. When it has ended, every waiting call gets the reason as its response.
/// Only a thread that waits for its own response blocks.
///
/// Reading: the first caller that waits reads the socket itself, so a single blocking caller needs
/// no switch of threads (`Connection+Threads.swift`). Others wait until it has a response for them,
/// or has its own and stops reading. Tasks do not block a thread, so when only tasks wait, the
/// connection's I/O thread reads (`Connection+IOThread.swift`). It also sends what the socket did
/// not take at once. docs/decisions/0027-threads-of-the-client.md has the reasons.
///
/// Invariants, under the monitor's lock: one thread at most reads; if a caller waits and no thread
/// reads, a waiting thread has been signalled, or the I/O thread polls for reading or will check.
final class Connection: Sendable {
    let welcome: Welcome
    let socket: Socket
    let reader: ReplyReader
    /// The trace of requests without one of their own; empty for none.
    private let trace: String
    private let monitor: Monitor<State>
    /// Signalled when a request has a response, and when reading is free.
    private let changed = Condition()
    private let ended = Atomic<Bool>(false)

    /// A task that waits, until this deadline at most.
    struct WaitingTask {
        var deadline: MonotonicInstant
        var continuation: CheckedContinuation<Void, Never>
    }

    struct State {
        var requests: RequestTracker
        var sendQueue = SendQueue()
        /// Whether a thread reads the socket.
        var isReading = false
        /// Threads that wait while another one reads.
        var waitingThreadCount = 0
        /// Whether waiting threads must check again for a response, or for who reads.
        var mustSignal = false
        /// By the request that they wait for.
        var tasks: [UInt64: [WaitingTask]] = [:]
        /// No task's deadline is earlier.
        var earliestTaskDeadline: MonotonicInstant?
        /// To be resumed after the lock is released.
        var wokenTasks: [CheckedContinuation<Void, Never>] = []
        var ioThread: IOThread?
        /// The connection ends as soon as the server owes no reply.
        var isRetired = false
        var hasReplied = false
        /// Codecs that no thread uses at present.
        var codecs: [WireCodec] = []
        /// Memory for the next frame.
        var spareFrame: [UInt8] = []
    }

    init(
        socket: Socket, reader: ReplyReader, welcome: Welcome, lastID: UInt64, trace: String = ""
    ) {
        self.trace = trace
        self.socket = socket
        self.reader = reader
        self.welcome = welcome
        monitor = Monitor(
            State(
                requests: RequestTracker(
                    requestsInFlightMax: welcome.requestsInFlightMax, lastID: lastID)))
    }

    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Sends a request, or queues it after the frames that the socket has not taken yet.
    ///
    /// - Parameters:
    ///   - deadline: The time limit for the server; nil is the server's own limit.
    ///   - snapshot: The id of the snapshot to read; 0 reads the latest state.
    /// - Returns: the id to wait for. If the connection has ended, its response is the reason.
    /// - Throws: `frameTooLong`, and other errors of encoding.
    func send(
        _ request: Request, _ kind: RequestTracker.Kind, until deadline: MonotonicInstant?,
        in snapshot: UInt64 = 0
    ) throws(LarderError) -> UInt64 {
        var frame: [UInt8] = []
        let (id, codec) = monitor.withLock { state in
            swap(&frame, &state.spareFrame)
            return (state.requests.makeID(), state.codecs.popLast() ?? WireCodec())
        }
        // A positive number of 32 bits fits into an unsigned one.
        let milliseconds = deadline.map { UInt32(max($0.remainingMilliseconds, 1)) } ?? 0
        try codec.encode(
            RequestEnvelope(
                id: id, timeoutMilliseconds: milliseconds, snapshot: snapshot,
                trace: StoreClient.trace ?? trace, request: request),
            into: &frame)
        try checkLength(of: frame)
        update { state in
            state.codecs.append(codec)
            guard state.requests.begin(id, kind) else { return }
            state.sendQueue.append(SendQueue.Frame(id: id, bytes: frame))
            flush(&state)
            state.reuse(&frame)
        }
        return id
    }

    /// Sends a request that has no reply, or queues it.
    ///
    /// - Throws: `frameTooLong`, and other errors of encoding.
    func sendWithoutReply(_ request: Request) throws(LarderError) {
        let (id, codec) = monitor.withLock { state in
            (state.requests.makeID(), state.codecs.popLast() ?? WireCodec())
        }
        var frame: [UInt8] = []
        try codec.encode(RequestEnvelope(id: id, request: request), into: &frame)
        try checkLength(of: frame)
        update { state in
            state.codecs.append(codec)
            state.sendQueue.append(SendQueue.Frame(id: id, bytes: frame))
            flush(&state)
        }
    }

    private func checkLength(of frame: [UInt8]) throws(LarderError) {
        let byteCount = frame.count - Frame.lengthBytes
        guard byteCount <= Int(welcome.frameBytesMax) else {
            throw LarderError(
                .frameTooLong,
                "the request has \(byteCount) bytes; the server's maximum is "
                    + "\(welcome.frameBytesMax)",
                hint: "split it into several requests")
        }
    }

    /// Ends a request without a response. A caller that waits for it gets `cancelled`.
    func cancel(_ id: UInt64) {
        update { state in
            _ = abandon(id, &state)
            state.wake(id)
        }
    }

    /// Takes no new calls, and ends when those in flight have their replies.
    ///
    /// - Returns: whether the server ever replied to a call on this connection.
    func retire() -> Bool {
        update { state in
            state.isRetired = true
            return state.hasReplied
        }
    }

    /// Ends the connection now.
    func end(_ error: LarderError) {
        update { end(error, &$0) }
    }

    /// Changes the state under the lock, then wakes the threads and tasks that the change concerns.
    func update<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, wokenTasks) = monitor.withLock { state in
            let result = body(&state)
            if state.isRetired && state.requests.isIdle { end(.serverClosed, &state) }
            if state.ioThread != nil { wakeIOThreadIfNeeded(&state) }
            if state.mustSignal {
                state.mustSignal = false
                if state.waitingThreadCount > 0 { changed.signal() }
            }
            let wokenTasks = state.wokenTasks
            if !wokenTasks.isEmpty { state.wokenTasks = [] }
            return (result, wokenTasks)
        }
        for continuation in wokenTasks { continuation.resume() }
        return result
    }

    /// Blocks until the condition holds, or the deadline. It is checked after each signal.
    func waitForChange(until deadline: MonotonicInstant, _ condition: (inout State) -> Bool) {
        _ = monitor.wait(for: changed, until: deadline) { condition(&$0) ? true : nil }
    }
}

// MARK: - Under the lock

extension Connection {
    /// The next response; `cancelled` if the request was abandoned; nil if the caller must wait.
    func take(_ id: UInt64, _ state: inout State) -> Attempt.Outcome? {
        let (response, action) = state.requests.take(id)
        if let action { perform(action, &state) }
        if let response { return .response(response) }
        return state.requests.contains(id) ? nil : .cancelled(wasSent: true)
    }

    /// - Returns: whether the server may have executed the request.
    func abandon(_ id: UInt64, _ state: inout State) -> Bool {
        let wasSent = !state.sendQueue.remove(id)
        if let action = state.requests.abandon(id) { perform(action, &state) }
        return wasSent
    }

    /// Processes what the reading thread received. If that thread does not read again, it must
    /// signal the waiting threads, so that one of them does.
    func finishReading(_ result: ReplyReader.ReadResult, _ state: inout State) {
        state.isReading = false
        switch result {
        case .timedOut: break
        case .ended(let error): end(error, &state)
        case .received:
            reader.takeReplies { reply in
                let action: RequestTracker.Action?
                switch reply {
                case .success(let envelope):
                    state.noteReply(envelope.reply)
                    action = state.requests.received(envelope)
                case .failure(let failure):
                    action = state.requests.failedToDecode(failure)
                }
                if let action { perform(action, &state) }
            }
        }
    }

    /// Sends as many bytes as the socket takes.
    func flush(_ state: inout State) {
        while let frame = state.sendQueue.first {
            switch socket.send(frame.bytes, from: state.sendQueue.sentByteCount) {
            case .sent(let byteCount):
                if let id = state.sendQueue.advance(by: byteCount) { state.requests.sent(id) }
            case .full:
                return startIOThread(&state)
            case .failed(let error):
                state.sendQueue.removeAll()
                for action in state.requests.sendingEnded(error) { perform(action, &state) }
                return
            }
        }
    }

    func end(_ error: LarderError, _ state: inout State) {
        guard state.requests.failure == nil else { return }
        for action in state.requests.ended(error) { perform(action, &state) }
        state.sendQueue.removeAll()
        ended.store(true, ordering: .releasing)
        socket.shutDown()
    }

    private func perform(_ action: RequestTracker.Action, _ state: inout State) {
        switch action {
        case .wake(let id): state.wake(id)
        case .send(let request): sendWithoutReply(request, &state)
        case .end(let error): end(error, &state)
        }
    }

    private func sendWithoutReply(_ request: Request, _ state: inout State) {
        let codec = state.codecs.popLast() ?? WireCodec()
        let id = state.requests.makeID()
        var frame: [UInt8] = []
        do throws(LarderError) {
            try codec.encode(RequestEnvelope(id: id, request: request), into: &frame)
        } catch {
            return end(error, &state)
        }
        state.codecs.append(codec)
        state.sendQueue.append(SendQueue.Frame(id: id, bytes: frame))
        flush(&state)
    }
}

extension Connection.State {
    /// Wakes the threads and tasks that wait for this request.
    mutating func wake(_ id: UInt64) {
        mustSignal = true
        guard !tasks.isEmpty, let waiting = tasks.removeValue(forKey: id) else { return }
        wokenTasks += waiting.map(\.continuation)
    }

    /// Keeps a frame's memory for the next request, unless the frame is large or still queued.
    fileprivate mutating func reuse(_ frame: inout [UInt8]) {
        guard sendQueue.isEmpty, frame.capacity <= Limits.handshakeFrameBytesMax else { return }
        frame.removeAll(keepingCapacity: true)
        swap(&frame, &spareFrame)
    }

    fileprivate mutating func noteReply(_ reply: Reply) {
        if case .failed(let error) = reply, error.code == .unavailable { return }
        hasReplied = true
    }
}
