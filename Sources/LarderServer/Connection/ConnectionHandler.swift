import LarderModel
import LarderWire
import Logging
import NIOCore

/// Drives one connection: bytes to frames to requests, and what `ConnectionState` answers into
/// reads, writes and replies.
///
/// It lives on one event loop and is touched there only. Requests that arrive together are answered
/// by one write. It stops taking requests, and the socket from being read, while the state accepts
/// none, while the peer does not take its answers, and when its turn on the loop is over.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let services: ConnectionServices
    let credentials: PeerCredentials?
    let state: ConnectionState
    var context: ChannelHandlerContext?
    /// Whether the socket takes answers as fast as they come, as NIO said last; false once closed.
    private(set) var isWritable = true
    var streams: [UInt64: QueryStream] = [:]
    var insertStreams: [UInt64: InsertStream] = [:]
    /// What the peer called itself in its handshake.
    private var clientName = ""
    /// The length of the frame taken last, which is that of the request now being performed: none
    /// is taken while one is parked.
    var frameBytes = 0
    /// The encoded body of the request that is being performed, if its reply is to be cached.
    var cacheKey: [UInt8] = []

    private let codec = WireCodec()
    private let turnTime: TimeAmount
    var input = FrameBuffer()
    var output = ReplyBuffer()
    private var handshakeTimer: Scheduled<Void>?
    private var farewellTimer: Scheduled<Void>?
    var stalledTimer: Scheduled<Void>?
    /// Bytes of answers that the socket has not taken, as far as they are on the books.
    var queuedBytes = 0
    /// Bytes of writes that wait.
    var writeBytes = 0
    /// Bytes of frames that have not come whole, as far as they are on the books.
    var inputBytes = 0
    private var isRegistered = false
    private var inputHasEnded = false
    private var isProcessing = false
    private var isInReadCycle = false
    private var isFlushScheduled = false
    private var isTurnScheduled = false
    /// A read that NIO asked for and that waits until input is wanted again.
    private var isReadHeld = false

    /// - Parameter credentials: nil if the kernel does not tell; the connection is then refused.
    init(services: ConnectionServices, credentials: PeerCredentials?) {
        self.services = services
        self.turnTime = TimeAmount(services.limits.turnTimeMax)
        self.credentials = credentials
        self.state = ConnectionState(welcome: services.welcome)
    }

    /// Who the history says makes the changes that come from here.
    var source: ChangeSource {
        ChangeSource(
            userIdentifier: credentials?.userIdentifier,
            processIdentifier: credentials?.processIdentifier, clientName: clientName)
    }

    var user: UInt32 { credentials?.userIdentifier ?? .max }

    /// The connection as other threads see it; only while it is open.
    var port: ConnectionPort? {
        context.map { ConnectionPort(self, eventLoop: $0.eventLoop) }
    }

    // MARK: What NIO reports

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal = register() {
            services.logger.debug("connection refused: \(refusal.message)", metadata: metadata)
            return perform(state.handle(.limitBreached(refusal)))
        }
        services.logger.debug("connection opened", metadata: metadata)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        handshakeTimer = context.eventLoop.scheduleTask(
            in: TimeAmount(services.limits.handshakeTimeMax)
        ) {
            let handler = bound.value
            handler.perform(handler.state.handle(.handshakeTimeRanOut))
        }
    }

    private func register() -> LarderError? {
        guard credentials != nil, let port else {
            return LarderError(.permissionDenied, "the credentials of the peer cannot be read")
        }
        let refusal = services.registry.open(port, user: user)
        isRegistered = refusal == nil
        return refusal
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isInReadCycle = true
        guard !state.isClosing else { return }
        input.append(unwrapInboundIn(data))
        processFrames()
        bookInputBytes()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isInReadCycle = false
        if services.loopTurns.count > 1 { flush() } else { scheduleFlush() }
    }

    func read(context: ChannelHandlerContext) {
        if wantsInput { context.read() } else { isReadHeld = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        guard isWritable else { return }
        bookQueuedBytes()
        for stream in streams.values { stream.resume() }
        resumeInput()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            inputHasEnded = true
            processFrames()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        services.logger.debug("connection failed: \(error)", metadata: metadata)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        _ = state.handle(.limitBreached(ConnectionState.stopping))
        endHandshake()
        endWork()
        farewellTimer?.cancel()
        if isRegistered, let port {
            isRegistered = false
            services.registry.close(
                port, user: user, queuedBytes: queuedBytes + writeBytes + inputBytes)
        }
        self.context = nil
        isWritable = false
        services.logger.debug("connection closed", metadata: metadata)
    }

    // MARK: From bytes to requests

    /// Whether there is reason to read from the socket.
    private var wantsInput: Bool { mayTakeFrames && !isTurnScheduled }

    private var mayTakeFrames: Bool { state.acceptsFrames && isWritable }

    private func processFrames() {
        guard !isProcessing, !isTurnScheduled else { return }
        isProcessing = true
        defer { isProcessing = false }
        // Counted from the end of the first frame: as a rule there is no other.
        var turnEnd: NIODeadline?
        while mayTakeFrames {
            guard takeFrame() else { return }
            if output.byteCount >= Self.flushBytes { flush() }
            guard input.byteCount > 0 || inputHasEnded else { return }
            let now = NIODeadline.now()
            if let turnEnd, now >= turnEnd { return scheduleTurn() }
            turnEnd = turnEnd ?? now + turnTime
        }
    }

    /// - Returns: false if there is no whole frame.
    private func takeFrame() -> Bool {
        let bytesMax =
            state.isAwaitingHello
            ? services.limits.handshakeFrameBytesMax : services.limits.frameBytesMax
        switch input.start(frameBytesMax: bytesMax) {
        case .incomplete:
            if inputHasEnded {
                for stream in insertStreams.values { stream.inputEnded() }
                perform(state.handle(.inputEnded))
            }
            return false
        case .tooLong(let byteCount):
            perform(state.handle(.frameTooLong(declaredBytes: byteCount, bytesMax: bytesMax)))
            return false
        case .frame(let byteCount):
            frameBytes = byteCount
            if let event = input.take(byteCount: byteCount, answerOrDecode) {
                perform(state.handle(event))
                cacheKey = []
            }
            return true
        }
    }

    /// - Returns: nil if the reply was in the cache.
    private func answerOrDecode(_ frame: RawSpan) -> ConnectionState.Event? {
        guard let get = GetFrame(frame), state.mayAnswerAtOnce(get.id) else {
            return decode(frame)
        }
        switch services.loopReader.knownReply(to: get) {
        case .new: break
        case .asked: cacheKey = get.body.withUnsafeBytes { Array($0) }
        case .reply(let reply):
            noteRequest()
            append(ReplyEnvelope(id: get.id, reply: .encodedBatches(reply, more: false)))
            return nil
        }
        return decode(frame)
    }

    private func decode(_ frame: RawSpan) -> ConnectionState.Event {
        do throws(WireFailure) {
            return .received(try codec.decodeRequest(frame))
        } catch {
            return .undecodable(error)
        }
    }

    /// Lets others have their turn on the loop, then goes on with what has arrived.
    private func scheduleTurn() {
        guard let context else { return }
        isTurnScheduled = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let handler = bound.value
            handler.isTurnScheduled = false
            handler.resumeInput()
        }
        flush()
    }

    private func resumeInput() {
        processFrames()
        if !isInReadCycle { scheduleFlush() }
        guard isReadHeld, wantsInput else { return }
        isReadHeld = false
        context?.read()
    }

    // MARK: What the state answers

    func perform(_ action: ConnectionState.Action) {
        switch action {
        case .nothing: break
        case .welcome(let reply, let clientName): greet(reply, clientName: clientName)
        case .perform(let envelope):
            noteRequest()
            execute(envelope)
        case .reply(let envelope): append(envelope)
        case .grant(let requestID, let batches): streams[requestID]?.grant(batches)
        case .cancel(let requestID):
            streams[requestID]?.cancel()
            insertStreams[requestID]?.cancel()
        case .rows(let requestID, let batch, let isLast):
            insertStreams[requestID]?.received(batch, isLast: isLast, frameBytes: frameBytes)
        case .refuse(let farewell):
            services.logger.debug("connection ended by the server", metadata: metadata)
            append(farewell)
            closeWhenFlushed()
        case .close: closeWhenFlushed()
        }
    }

    private func noteRequest() {
        services.loopReader.counters.requests.add(1, ordering: .relaxed)
        services.loopTurns.note(self)
    }

    private func greet(_ reply: ReplyEnvelope, clientName: String) {
        endHandshake()
        self.clientName = clientName
        services.logger.debug(
            "handshake done",
            metadata: metadata.merging(
                ["client": "\(ConnectionState.printable(clientName))"], uniquingKeysWith: { $1 }))
        append(reply)
    }

    private func endHandshake() {
        guard let timer = handshakeTimer else { return }
        timer.cancel()
        handshakeTimer = nil
        if isRegistered { services.registry.handshakeEnded() }
    }

    /// Hands over the whole answer to a request, or the last part of it.
    func finish(_ requestID: UInt64, _ reply: Reply) {
        guard !state.isClosing else { return }
        append(ReplyEnvelope(id: requestID, reply: reply))
        perform(state.handle(.requestFinished(requestID)))
        if !isProcessing { resumeInput() }
    }

    /// Hands over a part of an answer.
    func send(_ requestID: UInt64, _ reply: Reply) {
        guard !state.isClosing else { return }
        append(ReplyEnvelope(id: requestID, reply: reply))
    }

    func streamEnded(_ requestID: UInt64, _ reply: Reply) {
        streams[requestID] = nil
        insertStreams[requestID] = nil
        finish(requestID, reply)
    }

    private func append(_ envelope: ReplyEnvelope) {
        do throws(LarderError) {
            try codec.encode(envelope, into: &output)
        } catch {
            let failure = LarderError(
                .resourceExhausted, "the answer is longer than a frame may be",
                hint: "ask for fewer objects or properties at once")
            let reply = ReplyEnvelope(id: envelope.id, reply: .failed(failure))
            do throws(LarderError) {
                try codec.encode(reply, into: &output)
            } catch {
                preconditionFailure("an error of two sentences fits into a frame")
            }
        }
        if !isInReadCycle { scheduleFlush() }
    }

    // MARK: From replies to bytes

    /// Answers beyond this are not gathered any further within a read cycle.
    private static let flushBytes = 256 << 10

    /// Flushes after all that the loop does now, so that answers which come together leave so.
    private func scheduleFlush() {
        guard !isFlushScheduled, output.byteCount > 0 else { return }
        isFlushScheduled = true
        services.loopTurns.flushAtEnd(self)
    }

    func flush() {
        isFlushScheduled = false
        guard output.byteCount > 0, let context else { return }
        let bytes = output.take()
        write(bytes, context)
        output.recycle(consume bytes)
        bookQueuedBytes()
    }

    /// By itself, so that nothing here holds the bytes any more when it returns.
    @inline(never)
    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    // MARK: The end

    /// The server is stopping.
    func startDraining() {
        for stream in insertStreams.values { stream.serverStops() }
        perform(state.handle(.drainStarted))
    }

    /// The server does not wait any longer.
    func closeNow() { context?.close(promise: nil) }

    private func closeWhenFlushed() {
        guard let context else { return }
        endHandshake()
        endWork()
        input.discardAll()
        bookInputBytes()
        let promise = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in bound.value.closeNow() }
        farewellTimer = context.eventLoop.scheduleTask(
            in: TimeAmount(services.limits.farewellTimeMax)
        ) { bound.value.closeNow() }
        context.writeAndFlush(wrapOutboundOut(output.take()), promise: promise)
    }

    private func endWork() {
        for stream in streams.values { stream.abandon() }
        streams = [:]
        for stream in insertStreams.values { stream.abandon() }
        insertStreams = [:]
        stalledTimer?.cancel()
        stalledTimer = nil
    }

    var metadata: Logger.Metadata {
        guard let credentials else { return [:] }
        return [
            "uid": "\(credentials.userIdentifier)", "pid": "\(credentials.processIdentifier)",
        ]
    }
}
