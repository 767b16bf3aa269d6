import LarderModel
import LarderWire

/// What one connection may do next: events in, actions out.
///
/// It knows no sockets, bytes, clocks or threads; `ConnectionHandler` performs what it answers.
/// One a connection, which is never copied.
///
/// Invariants: nothing is performed before the handshake; an id is performed at most once at a
/// time; at most `requestsInFlightMax` requests are, and one more is parked; once closing, nothing
/// is performed or answered any more.
final class ConnectionState {
    enum Event: Equatable {
        case received(RequestEnvelope)
        /// The bytes of a frame were no request.
        case undecodable(WireFailure)
        case frameTooLong(declaredBytes: Int, bytesMax: Int)
        /// The answer to a request, its last part if it has several, was handed over.
        case requestFinished(UInt64)
        case handshakeTimeRanOut
        /// The peer will send nothing more, and all that it sent has been taken.
        case inputEnded
        /// The server is stopping.
        case drainStarted
        case limitBreached(LarderError)
    }

    enum Action: Equatable {
        case nothing
        /// Answers the handshake; the connection is ready.
        case welcome(ReplyEnvelope, clientName: String)
        case perform(RequestEnvelope)
        case reply(ReplyEnvelope)
        case grant(requestID: UInt64, batches: UInt32)
        case cancel(requestID: UInt64)
        /// Rows for a stream that is in flight.
        case rows(requestID: UInt64, Batch?, isLast: Bool)
        /// Sends these last words, then closes.
        case refuse(ReplyEnvelope)
        /// Closes once all that was answered has left.
        case close
    }

    private enum Phase: Equatable {
        case awaitingHello, ready, draining, closing
    }

    private let welcome: Welcome
    private var phase = Phase.awaitingHello
    private var inputHasEnded = false
    /// Never more than a few dozen, so that looking through them beats hashing.
    private var inFlight: [UInt64] = []
    /// The request past the limit that made reading stop.
    private var parked: RequestEnvelope?

    /// - Parameter welcome: what a handshake is answered with; its limits are the connection's.
    init(welcome: Welcome) {
        self.welcome = welcome
    }

    /// Whether the next frame may be taken; if not, reading stops until a request has finished.
    var acceptsFrames: Bool { !hasParked && phase != .closing }

    /// By its pattern: `==` would copy the request to look at it.
    private var hasParked: Bool {
        if case .some = parked { true } else { false }
    }

    var isAwaitingHello: Bool { phase == .awaitingHello }
    var isClosing: Bool { phase == .closing }
    var requestsInFlight: Int { inFlight.count }

    /// Whether a request with this id may be answered without having been in flight.
    func mayAnswerAtOnce(_ id: UInt64) -> Bool { phase == .ready && !inFlight.contains(id) }

    func handle(_ event: Event) -> Action {
        guard phase != .closing else { return .nothing }
        switch event {
        case .received(let envelope): return received(envelope)
        case .requestFinished(let id): return finished(id)
        case .undecodable(let failure):
            guard phase != .awaitingHello, !failure.isFatal else {
                return refuse(id: failure.requestID, failure.error)
            }
            return .reply(ReplyEnvelope(id: failure.requestID, reply: .failed(failure.error)))
        case .frameTooLong(let declaredBytes, let bytesMax):
            return refuse(
                LarderError(
                    .frameTooLong,
                    "a frame of \(declaredBytes) bytes is longer than the \(bytesMax) allowed here",
                    hint: "split a large change set, or check that the peer speaks this protocol"))
        case .handshakeTimeRanOut:
            guard phase == .awaitingHello else { return .nothing }
            return refuse(LarderError(.handshakeRequired, "no handshake came in time"))
        case .inputEnded:
            inputHasEnded = true
            return endIfIdle()
        case .drainStarted:
            if phase == .awaitingHello { return refuse(Self.stopping) }
            phase = .draining
            return endIfIdle()
        case .limitBreached(let error): return refuse(error)
        }
    }

    private func received(_ envelope: RequestEnvelope) -> Action {
        switch (phase, envelope.request) {
        case (.awaitingHello, .hello(let hello)):
            return received(hello, id: envelope.id)
        case (.awaitingHello, _):
            return refuse(
                id: envelope.id,
                LarderError(
                    .handshakeRequired, "the first message of a connection must be Hello",
                    hint: "send Hello and wait for Welcome before anything else"))
        case (_, .credit(let requestID, let batches)):
            return inFlight.contains(requestID)
                ? .grant(requestID: requestID, batches: batches) : .nothing
        case (_, .cancel(let requestID)):
            return inFlight.contains(requestID) ? .cancel(requestID: requestID) : .nothing
        case (_, .rows(let requestID, let batch, let isLast)):
            // After an error those that were under way belong to nothing any more.
            return inFlight.contains(requestID)
                ? .rows(requestID: requestID, batch, isLast: isLast) : .nothing
        case (_, .hello):
            return .reply(failure(envelope.id, "Hello was sent twice on one connection"))
        case (.draining, _):
            return .reply(ReplyEnvelope(id: envelope.id, reply: .failed(Self.stopping)))
        default:
            return accept(envelope)
        }
    }

    private func accept(_ envelope: RequestEnvelope) -> Action {
        if envelope.id == 0 {
            return .reply(failure(0, "a request must have an id other than 0"))
        }
        // Under its own id this answer would pass for that of the request still in flight.
        if inFlight.contains(envelope.id) {
            return .reply(failure(0, "a request with the id \(envelope.id) is still in flight"))
        }
        guard inFlight.count < Int(welcome.requestsInFlightMax) else {
            parked = envelope
            return .nothing
        }
        inFlight.append(envelope.id)
        return .perform(envelope)
    }

    private func received(_ hello: Hello, id: UInt64) -> Action {
        if hello.protocolVersion != welcome.protocolVersion {
            return refuse(
                id: id,
                LarderError(
                    .unsupportedVersion,
                    "the client speaks protocol version \(hello.protocolVersion), this server "
                        + "version \(welcome.protocolVersion)",
                    hint: "use a client and a server of the same release"))
        }
        if !hello.schemaVersion.isEmpty, hello.schemaVersion != welcome.schemaVersion {
            return refuse(
                id: id,
                mismatch("version", expected: hello.schemaVersion, found: welcome.schemaVersion))
        }
        if !hello.schemaFingerprint.isEmpty, hello.schemaFingerprint != welcome.schemaFingerprint {
            return refuse(
                id: id,
                mismatch(
                    "fingerprint", expected: hello.schemaFingerprint,
                    found: welcome.schemaFingerprint))
        }
        phase = .ready
        return .welcome(
            ReplyEnvelope(id: id, reply: .welcome(welcome)), clientName: hello.clientName)
    }

    private func finished(_ id: UInt64) -> Action {
        if let index = inFlight.firstIndex(of: id) {
            inFlight.swapAt(index, inFlight.count - 1)
            inFlight.removeLast()
        }
        guard let envelope = parked else { return endIfIdle() }
        parked = nil
        inFlight.append(envelope.id)
        return .perform(envelope)
    }

    private func endIfIdle() -> Action {
        guard inFlight.isEmpty, !hasParked else { return .nothing }
        if phase == .draining { return refuse(Self.stopping) }
        guard inputHasEnded else { return .nothing }
        phase = .closing
        return .close
    }

    private func refuse(id: UInt64 = 0, _ error: LarderError) -> Action {
        phase = .closing
        inFlight = []
        parked = nil
        return .refuse(ReplyEnvelope(id: id, reply: .failed(error)))
    }

    private func failure(_ id: UInt64, _ message: String) -> ReplyEnvelope {
        ReplyEnvelope(id: id, reply: .failed(LarderError(.malformedMessage, message)))
    }

    private func mismatch(_ what: String, expected: String, found: String) -> LarderError {
        LarderError(
            .schemaMismatch,
            "the client expects schema \(what) \(Self.printable(expected)), the store has \(found)",
            hint: "rebuild the client for the store's schema, or expect no certain one")
    }

    /// What a peer sent, fit for a sentence or a log: printable ASCII, and not much of it.
    static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(64).map { scalar in
                (0x20..<0x7F).contains(scalar.value) ? Character(scalar) : "?"
            })
    }

    /// Under id 0 it also promises: what was not answered before it was not executed.
    static let stopping = LarderError(
        .unavailable, "the server is stopping",
        hint: "requests that were not answered have not been executed and can be sent again")
}
