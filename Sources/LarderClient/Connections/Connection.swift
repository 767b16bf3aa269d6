import LarderModel
internal import LarderWire
import Synchronization

/// One connection after its handshake: requests go out, replies are handed to whoever asked.
///
/// It does not reconnect; when it has ended, every call on it is answered with how it was lost.
/// Nothing in it blocks except a thread that waits for its own answer.
///
/// Who reads the socket: a thread that waits and finds nobody reading becomes the reader
/// (`Connection+Threads.swift`). It hands others their answers, and passes the role on once it has
/// its own; so a single blocking caller costs no change of thread. Tasks do not wait in threads:
/// from the first of them on, a thread of the connection's own, the courier, reads when no other
/// thread does (`Connection+Courier.swift`). It also sends what the socket did not take at once.
///
/// Invariants, under the monitor's lock: the reader role has one holder at most; if somebody waits
/// and nobody reads, a follower has been called or the courier is awake or polls for reading.
final class Connection: Sendable {
    let welcome: Welcome
    let socket: Socket
    let reader: ReplyReader
    private let monitor: Monitor<State>
    private let ended = Atomic<Bool>(false)

    enum Reader {
        case nobody, thread, courier
    }

    /// A thread that waits while another one reads. Protected by the monitor's lock.
    final class Follower {
        let id: UInt64
        let condition = Condition()
        var isCalled = false

        init(id: UInt64) { self.id = id }
    }

    struct WaitingTask {
        var deadline: Moment
        var continuation: CheckedContinuation<Void, Never>
    }

    struct State {
        var exchange: Exchange
        var outbox = Outbox()
        var reader = Reader.nobody
        var followers: [Follower] = []
        /// By the request that they wait for.
        var tasks: [UInt64: [WaitingTask]] = [:]
        /// No task's deadline is earlier.
        var earliestTaskDeadline: Moment?
        /// To be resumed once the lock is released.
        var woken: [CheckedContinuation<Void, Never>] = []
        var courier: Courier?
        /// Ends as soon as nothing is owed on it.
        var isRetired = false
        var hasAnswered = false
        /// Codecs for encoding that nobody uses now.
        var codecs: [WireCodec] = []
        /// Memory for the next frame.
        var spareFrame: [UInt8] = []
    }

    init(socket: Socket, reader: ReplyReader, welcome: Welcome, lastID: UInt64) {
        self.socket = socket
        self.reader = reader
        self.welcome = welcome
        monitor = Monitor(
            State(
                exchange: Exchange(
                    requestsInFlightMax: welcome.requestsInFlightMax, lastID: lastID)))
    }

    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Sends a request, or queues it behind what the socket has not taken yet.
    ///
    /// - Parameter deadline: until when the server may work on it; nil leaves that to the server.
    /// - Returns: the id under which its answers are waited for, also if the connection has ended.
    /// - Throws: `frameTooLong`, and what else cannot be encoded.
    func ask(
        _ request: Request, _ kind: Exchange.Kind, until deadline: Moment?
    ) throws(LarderError) -> UInt64 {
        var frame: [UInt8] = []
        let (id, codec) = monitor.withLock { state in
            swap(&frame, &state.spareFrame)
            return (state.exchange.makeID(), state.codecs.popLast() ?? WireCodec())
        }
        let milliseconds = deadline.map { UInt32(max($0.remainingMilliseconds, 1)) } ?? 0
        try codec.encode(
            RequestEnvelope(id: id, timeoutMilliseconds: milliseconds, request: request),
            into: &frame)
        try checkLength(of: frame)
        update { state in
            state.codecs.append(codec)
            guard state.exchange.begin(id, kind) else { return }
            state.outbox.append(Outbox.Frame(id: id, bytes: frame))
            flush(&state)
            state.keep(&frame)
        }
        return id
    }

    func checkLength(of frame: [UInt8]) throws(LarderError) {
        let byteCount = frame.count - Frame.lengthBytes
        guard byteCount <= Int(welcome.frameBytesMax) else {
            throw LarderError(
                .frameTooLong,
                "the request has \(byteCount) bytes, and the server takes \(welcome.frameBytesMax)",
                hint: "split it into several")
        }
    }

    /// Nobody wants this request's answers any more; who waits for them is told `cancelled`.
    func cancel(_ id: UInt64) {
        update { state in
            _ = abandon(id, &state)
            state.wake(id)
        }
    }

    /// Takes no new calls, and ends once those that are under way have been answered.
    ///
    /// - Returns: whether the server ever answered a call on it.
    func retire() -> Bool {
        update { state in
            state.isRetired = true
            return state.hasAnswered
        }
    }

    /// Ends the connection now.
    func end(_ error: LarderError) {
        update { end(error, &$0) }
    }

    /// Changes the state under the lock; then does what must be done outside of it.
    func update<Answer>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, woken) = monitor.withLock { state in
            let answer = body(&state)
            if state.isRetired && state.exchange.isIdle { end(.serverClosed, &state) }
            if state.courier != nil { ringCourier(&state) }
            let woken = state.woken
            if !woken.isEmpty { state.woken = [] }
            return (answer, woken)
        }
        for continuation in woken { continuation.resume() }
        return answer
    }

    /// Waits until the follower is called.
    func wait(_ follower: Follower, until deadline: Moment) {
        _ = monitor.wait(for: follower.condition, until: deadline) { _ in
            follower.isCalled ? true : nil
        }
    }
}

// MARK: - Under the lock

extension Connection {
    /// The next answer, if it is there or can no longer come.
    func take(_ id: UInt64, _ state: inout State) -> Attempt.Outcome? {
        let (answer, action) = state.exchange.take(id)
        if let action { perform(action, &state) }
        if let answer { return .answered(answer) }
        return state.exchange.knows(id) ? nil : .cancelled(wasSent: true)
    }

    /// - Returns: whether the request may have been executed.
    func abandon(_ id: UInt64, _ state: inout State) -> Bool {
        let wasSent = !state.outbox.retract(id)
        if let action = state.exchange.abandon(id) { perform(action, &state) }
        return wasSent
    }

    /// What the reader read changes the state.
    func absorb(_ reading: ReplyReader.Reading, _ state: inout State) {
        switch reading {
        case .timedOut: break
        case .ended(let error): end(error, &state)
        case .received:
            reader.takeReplies { reply in
                let action: Exchange.Action?
                switch reply {
                case .success(let envelope):
                    state.noteAnswer(envelope.reply)
                    action = state.exchange.received(envelope)
                case .failure(let failure):
                    action = state.exchange.failedToDecode(failure)
                }
                if let action { perform(action, &state) }
            }
        }
    }

    /// Sends as much as the socket takes.
    func flush(_ state: inout State) {
        while let frame = state.outbox.first {
            switch socket.send(frame.bytes, from: state.outbox.sentByteCount) {
            case .sent(let byteCount):
                if let id = state.outbox.advance(by: byteCount) { state.exchange.sent(id) }
            case .full:
                return startCourier(&state)
            case .failed(let error):
                state.outbox.removeAll()
                for action in state.exchange.sendingEnded(error) { perform(action, &state) }
                return
            }
        }
    }

    func end(_ error: LarderError, _ state: inout State) {
        guard state.exchange.failure == nil else { return }
        for action in state.exchange.ended(error) { perform(action, &state) }
        state.outbox.removeAll()
        ended.store(true, ordering: .releasing)
        socket.shutDown()
    }

    private func perform(_ action: Exchange.Action, _ state: inout State) {
        switch action {
        case .wake(let id): state.wake(id)
        case .send(let request): tell(request, &state)
        case .end(let error): end(error, &state)
        }
    }

    /// Sends a request that has no answer.
    private func tell(_ request: Request, _ state: inout State) {
        let codec = state.codecs.popLast() ?? WireCodec()
        let id = state.exchange.makeID()
        var frame: [UInt8] = []
        do throws(LarderError) {
            try codec.encode(RequestEnvelope(id: id, request: request), into: &frame)
        } catch {
            return end(error, &state)
        }
        state.codecs.append(codec)
        state.outbox.append(Outbox.Frame(id: id, bytes: frame))
        flush(&state)
    }
}

extension Connection.State {
    /// Whoever waits for this request looks again.
    mutating func wake(_ id: UInt64) {
        for follower in followers where follower.id == id { follower.call() }
        guard !tasks.isEmpty, let waiting = tasks.removeValue(forKey: id) else { return }
        woken += waiting.map(\.continuation)
    }

    /// Takes a frame's memory back for the next one, unless a long request made it large or the
    /// outbox still has it.
    fileprivate mutating func keep(_ frame: inout [UInt8]) {
        guard outbox.isEmpty, frame.capacity <= Limits.handshakeFrameBytesMax else { return }
        frame.removeAll(keepingCapacity: true)
        swap(&frame, &spareFrame)
    }

    /// The reader role is free: a thread that waits takes it. Failing that, the courier does.
    mutating func passReaderOn() {
        reader = .nobody
        followers.first?.call()
    }

    fileprivate mutating func noteAnswer(_ reply: Reply) {
        if case .failed(let error) = reply, error.code == .unavailable { return }
        hasAnswered = true
    }
}

extension Connection.Follower {
    func call() {
        isCalled = true
        condition.signal()
    }
}
