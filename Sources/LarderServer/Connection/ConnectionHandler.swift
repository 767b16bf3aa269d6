import FoundationEssentials
import LarderModel
import LarderWire
internal import Logging
import NIOCore

/// The driver of one connection: it performs the actions of `ConnectionState` (what the protocol
/// allows next) and of `InputFlow` (when to read, to take frames and to send) on a channel.
///
/// It belongs to one event loop.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The services of a former schema if the client asked for one in the handshake.
    private(set) var services: ConnectionServices
    let credentials: PeerCredentials?
    /// Why the user is refused; nil if the user may connect.
    private let refusal: LarderError?
    let state: ConnectionState
    var context: ChannelHandlerContext?
    /// The requests that need more than their turn, by their ids.
    var requests: [UInt64: any OpenRequest] = [:]
    var times = RequestTimes()
    /// The session that the connection belongs to, or has begun. Weak, because a session keeps the
    /// connection that began it, and the store as it was.
    weak var migrationSession: MigrationSession?
    let quota: ByteQuota
    var input: FrameBuffer
    var stalledTimer: Scheduled<Void>?
    /// The bytes of all replies so far.
    private(set) var repliedBytes = 0
    /// When the connection was opened, and its requests so far.
    let opened = Date()
    private(set) var requestCount = 0
    /// The last frame. It is that of the operation which starts now, because no frame is taken
    /// while an operation is parked.
    private(set) var frame = ReceivedFrame.Summary()
    /// A long frame is being decoded on a thread of the pool.
    private var isDecoding = false

    private var flow = InputFlow()
    private let codec = WireCodec()
    private var output = ReplyBuffer()
    /// The name of the client from its handshake.
    private var clientName = ""
    private var isRegistered = false
    private var handshakeTimer: Scheduled<Void>?
    private var closingTimer: Scheduled<Void>?
    /// The requests that are still to be abandoned, because the connection has closed.
    private var abandoned: [any OpenRequest] = []
    /// Whether the connection has no more turns when they are.
    private var leavesTurns = false

    /// - Parameters:
    ///   - credentials: nil if the kernel has none; the connection is then refused.
    ///   - refusal: Why the user is refused by the policy.
    init(
        services: ConnectionServices, credentials: PeerCredentials?, refusal: LarderError? = nil
    ) {
        self.refusal = refusal
        let user = credentials?.userIdentifier ?? .max
        let registry = services.registry
        self.services = services
        self.credentials = credentials
        self.migrationSession = services.migrations.session
        self.state = ConnectionState(
            welcome: services.welcome, session: services.migrations.session?.key,
            formerWelcome: { services.viewServices.services(for: $0, services)?.welcome })
        self.quota = ByteQuota(limits: services.limits) { registry.charge($0, to: user) }
        self.input = FrameBuffer(shortBytesMax: services.limits.loopFrameBytesMax)
    }

    /// The source of changes from this connection, for the history.
    var source: ChangeSource {
        ChangeSource(
            userIdentifier: credentials?.userIdentifier,
            processIdentifier: credentials?.processIdentifier, clientName: clientName)
    }

    var user: UInt32 { credentials?.userIdentifier ?? .max }

    /// Whether the socket takes replies as fast as they come; false after the end.
    var isWritable: Bool { flow.isWritable }

    /// The connection for other threads, while it is open.
    var port: ConnectionPort? {
        context.map { ConnectionPort(self, eventLoop: $0.eventLoop) }
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        if let refusal = register() {
            services.failures.report(refusal: refusal, of: user)
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
        if let refusal { return refusal }
        let refusal = services.registry.open(port, user: user)
        isRegistered = refusal == nil
        if isRegistered { services.loopTurns.open(for: user) }
        return refusal
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !state.isClosing { input.append(unwrapInboundIn(data)) }
        migrationSession?.noteMessage()
        drive(.bytesArrived)
        chargeInput()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        drive(.readCycleEnded(hasLoopAlone: services.loopOccupancy.consecutiveRequests > 1))
    }

    func read(context: ChannelHandlerContext) { drive(.readRequested) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        drive(.writabilityChanged(isWritable: context.channel.isWritable))
        guard isWritable else { return }
        chargeOutput()
        for request in requests.values { request.resume() }
        drive(.resumed)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { drive(.inputEnded) }
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
        closingTimer?.cancel()
        if isRegistered, let port {
            isRegistered = false
            leavesTurns = true
            leaveTurns()
            services.registry.close(port, user: user, memory: quota.total)
        }
        self.context = nil
        drive(.closed)
        services.logger.debug("connection closed", metadata: metadata)
    }

    // MARK: Actions of the input flow

    private func drive(_ event: InputFlow.Event) {
        var action = handle(event)
        let isTurn = action == .takeFrame
        if isTurn { services.loopTurns.begin() }
        defer {
            if isTurn {
                services.loopTurns.end(for: user)
                recordEnd()
            }
        }
        while true {
            switch action {
            case .nothing: return
            case .takeFrame: action = handle(takeFrame())
            case .endInput:
                for request in requests.values { request.inputEnded() }
                perform(state.handle(.inputEnded))
                action = handle(.noFrame)
            case .readSocket:
                context?.read()
                return
            case .scheduleFlush: return services.flushQueue.append(self)
            case .scheduleTurn:
                services.loopTurns.append(for: user) { self.drive(.turnBegan) }
                sendOutput()
                action = handle(.flushed)
            case .flush:
                sendOutput()
                action = handle(.flushed)
            }
        }
    }

    private func handle(_ event: InputFlow.Event) -> InputFlow.Action {
        flow.handle(
            event, acceptsFrames: state.acceptsFrames && !isDecoding,
            mayBeginTurn: services.loopTurns.mayBegin(for: user))
    }

    private func takeFrame() -> InputFlow.Event {
        let bytesMax =
            state.isAwaitingHello
            ? services.limits.handshakeFrameBytesMax : services.limits.frameBytesMax
        switch input.start(frameBytesMax: bytesMax) {
        case .incomplete: return .noFrame
        case .tooLong(let byteCount):
            perform(state.handle(.frameTooLong(declaredBytes: byteCount, bytesMax: bytesMax)))
            return .noFrame
        case .frame(let byteCount):
            if byteCount > services.limits.loopFrameBytesMax {
                decodeOnPool(input.takeLong(byteCount: byteCount))
            } else if let event = input.take(byteCount: byteCount, replyOrDecode) {
                received(event)
            }
            return .frameTaken(rest, outputBytes: output.byteCount)
        }
    }

    private var rest: InputFlow.Rest {
        guard input.byteCount > 0 else { return .nothing }
        defer { recordEnd() }
        return services.loopTurns.isOver(for: user) ? .bytesForNextTurn : .bytes
    }

    /// Decodes a frame, unless it is a repeated `get` to which the reply cache has the reply.
    ///
    /// - Returns: nil if the reply has been sent.
    private func replyOrDecode(_ frame: RawSpan) -> ConnectionState.Event? {
        guard let get = GetFrame(frame), state.mayReplyAtOnce(get.id) else {
            return decode(frame)
        }
        let (reply, record): (EncodedBatches, QueryCounters.RecordNumber?)
        switch services.loopReader.cachedReply(to: get) {
        case .new: return decode(frame)
        case .reply(let cached, let counting): (reply, record) = (cached, counting)
        case .repeated(let key):
            let event = decode(frame)
            guard case .received(let envelope) = event,
                let read = services.loopReader.read(envelope.request, cachingAs: key, of: user)
            else { return event }
            (reply, record) = read
        }
        noteRequest()
        times.endAtOnce(.get, countedIn: record)
        append(ReplyEnvelope(id: get.id, reply: .encodedBatches(reply, more: false)))
        return nil
    }

    private func decode(_ frame: RawSpan) -> ConnectionState.Event {
        ReceivedFrame.decode(frame, codec, &self.frame)
    }

    /// Until the frame is decoded, no other one is taken, so that the requests keep their order.
    private func decodeOnPool(_ frame: LongFrame) {
        guard let port else { return }
        isDecoding = true
        quota.hold(frame.byteCount)
        // Not with the reads of this connection, for which it would have to wait.
        let queue: FairThreads.SerialQueue =
            frame.byteCount > services.limits.parallelFrameBytesMax
            ? .longestFrames(user: user) : .object(ObjectIdentifier(codec))
        services.pool.submit(in: queue, of: user) { _ in
            let decoded = ReceivedFrame(decoding: frame.join().readableBytesSpan, WireCodec())
            port.execute { $0.decoded(decoded, on: port.eventLoop) }
        }
    }

    private func decoded(_ frame: ReceivedFrame, on eventLoop: any EventLoop) {
        isDecoding = false
        // A closed connection has released its whole quota.
        if context != nil {
            quota.hold(0)
            self.frame = frame.summary
            received(frame.event)
            drive(.resumed)
        }
        services.disposal.release(
            frame, byteCount: frame.summary.memoryBytes, for: ObjectIdentifier(codec), of: user,
            on: eventLoop)
    }

    private func received(_ event: consuming ConnectionState.Event) {
        perform(state.handle(event))
        if !state.acceptsFrames, !state.isClosing { quota.hold(frame.memoryBytes) }
    }

    // MARK: Actions of the state

    func perform(_ action: ConnectionState.Action) {
        switch action {
        case .nothing: break
        case .welcome(let reply, let hello): welcome(reply, hello)
        case .perform(let operation):
            noteRequest()
            quota.hold(0)
            let turns = services.loopTurns
            times.begin(operation, at: turns.isRunning ? turns.start : .now())
            execute(operation)
            times.suspend(operation)
        case .reply(let envelope): append(envelope)
        case .grant(let requestID, let batches): requests[requestID]?.grant(batches)
        case .cancel(let requestID): requests[requestID]?.cancel()
        case .part(let requestID, let part, let isLast):
            let stream = requests[requestID] as? WriteStream
            stream?.received(part, isLast: isLast, bytes: frame.memoryBytes)
        case .refuse(let closingError):
            services.logger.debug("connection ended by the server", metadata: metadata)
            append(closingError)
            closeWhenFlushed()
        case .close: closeWhenFlushed()
        }
    }

    private func noteRequest() {
        requestCount += 1
        services.loopReader.counters.requests.add(1, ordering: .relaxed)
        services.loopOccupancy.noteRequest(of: self)
    }

    /// The longest frame that the client accepts, as far as an object may need one.
    var replyFrameBytesMax: Int { codec.frameBytesMax }

    private func welcome(_ reply: ReplyEnvelope, _ hello: Hello) {
        endHandshake()
        clientName = hello.clientName
        codec.frameBytesMax = max(
            Limits.frameBytesMax,
            min(
                Int(hello.frameBytesMax), services.limits.objectBytesMax + Limits.objectFrameBytes))
        if case .welcome(let welcome) = reply.reply, welcome != services.welcome,
            let former = services.viewServices.services(for: hello, services)
        {
            services = former
        }
        services.logger.debug(
            "handshake done",
            metadata: metadata.merging(
                [
                    "client": "\(ConnectionState.printable(clientName))",
                    "schema": "\(services.welcome.schemaVersion)",
                ], uniquingKeysWith: { $1 }))
        append(reply)
    }

    private func endHandshake() {
        guard let timer = handshakeTimer else { return }
        timer.cancel()
        handshakeTimer = nil
        if isRegistered { services.registry.handshakeEnded(of: user) }
    }

    // MARK: Replies

    /// Sends the whole reply to an operation, or the last part of it.
    func finish(_ requestID: UInt64, _ reply: EncodableReply) {
        guard !state.isClosing else { return }
        noteEnd(of: requestID, reply)
        send(requestID, reply)
        perform(state.handle(.requestFinished(requestID)))
        drive(.resumed)
    }

    func finish(_ requestID: UInt64, _ reply: Reply) { finish(requestID, .reply(reply)) }

    /// Sends a part of a reply.
    func send(_ requestID: UInt64, _ reply: EncodableReply) {
        guard !state.isClosing else { return }
        switch reply {
        case .reply(let reply): append(ReplyEnvelope(id: requestID, reply: reply))
        case .frame(let frame):
            // The replies before it are sent first, so that they are not copied together.
            sendOutput()
            output.append(frame)
            drive(.replyAppended)
        }
    }

    func streamEnded(_ requestID: UInt64, _ reply: EncodableReply) {
        if let request = requests.removeValue(forKey: requestID) { requestEnded(request.bytes) }
        finish(requestID, reply)
    }

    private func append(_ envelope: ReplyEnvelope) {
        do throws(LarderError) {
            try codec.encode(envelope, into: &output)
        } catch {
            let reply = ReplyEnvelope(id: envelope.id, reply: .failed(EncodableReply.tooLong))
            do throws(LarderError) {
                try codec.encode(reply, into: &output)
            } catch {
                preconditionFailure("an error of two sentences fits into a frame")
            }
        }
        drive(.replyAppended)
    }

    func flush() {
        sendOutput()
        drive(.flushed)
    }

    private func sendOutput() {
        drive(.flushBegins)
        guard output.byteCount > 0, let context else { return }
        let bytes = output.take()
        repliedBytes += bytes.readableBytes
        write(bytes, context)
        output.recycle(consume bytes)
        chargeOutput()
    }

    /// A function of its own, so that the caller holds no reference to the bytes when it returns.
    @inline(never)
    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    // MARK: The end

    /// Ends the connection after the requests that it has sent.
    func startDraining(_ reason: LarderError) {
        for request in requests.values { request.connectionDrains(reason) }
        perform(state.handle(.drainStarted(reason)))
    }

    /// The server that is stopping waits no longer for what runs.
    func interrupt() {
        for request in requests.values { request.fail(ConnectionState.stopping) }
    }

    /// Closes without waiting for replies.
    func closeNow() { context?.close(promise: nil) }

    private func closeWhenFlushed() {
        guard let context else { return }
        endHandshake()
        endWork()
        input.discardAll()
        chargeInput()
        let promise = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in bound.value.closeNow() }
        closingTimer = context.eventLoop.scheduleTask(
            in: TimeAmount(services.limits.closingTimeMax)
        ) { bound.value.closeNow() }
        context.writeAndFlush(wrapOutboundOut(output.take()), promise: promise)
    }

    private func endWork() {
        stalledTimer?.cancel()
        stalledTimer = nil
        abandoned += requests.values
        requests = [:]
        abandonRequests()
    }

    /// Abandons requests in a turn of the user, and the rest in later turns: hundreds of observers
    /// that leave at once would delay others.
    private func abandonRequests() {
        let turns = services.loopTurns
        let isOwnTurn = !turns.isRunning
        if isOwnTurn { turns.begin() }
        defer { if isOwnTurn { turns.end(for: user) } }
        while let request = abandoned.popLast() {
            request.abandon()
            if turns.isOver(for: user) { break }
        }
        if !abandoned.isEmpty { return turns.append(for: user) { self.abandonRequests() } }
        leaveTurns()
    }

    private func leaveTurns() {
        guard leavesTurns, abandoned.isEmpty else { return }
        leavesTurns = false
        services.loopTurns.close(for: user)
    }

    var metadata: Logger.Metadata {
        guard let credentials else { return [:] }
        return [
            "uid": "\(credentials.userIdentifier)", "pid": "\(credentials.processIdentifier)",
        ]
    }
}
