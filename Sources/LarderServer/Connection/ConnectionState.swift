import LarderModel
import LarderWire

/// The protocol state of one connection: events in, actions out.
///
/// It uses no sockets, bytes, clocks or threads; `ConnectionHandler` performs its actions. There is
/// one per connection, which is never copied.
///
/// Invariants: no operation runs before the handshake. At most one operation has a given id at a
/// time. At most `requestsInFlightMax` operations run, besides those that follow the history, and
/// one more is parked. After the closing
/// error or `close`, there are no more operations and replies.
final class ConnectionState {
    enum Event: Equatable {
        case received(RequestEnvelope)
        /// A frame that is not a valid request.
        case undecodable(WireFailure)
        case frameTooLong(declaredBytes: Int, bytesMax: Int)
        /// The last part of the reply to an operation has been sent.
        case requestFinished(UInt64)
        case handshakeTimeRanOut
        /// The peer sends no more bytes, and all frames have been taken.
        case inputEnded
        /// The connection ends after the requests that it has sent.
        case drainStarted(LarderError)
        case limitBreached(LarderError)
    }

    enum Action: Equatable {
        case nothing
        /// Reply to the handshake; the connection is ready.
        indirect case welcome(ReplyEnvelope, Hello)
        case perform(Operation)
        case reply(ReplyEnvelope)
        case grant(requestID: UInt64, batches: UInt32)
        case cancel(requestID: UInt64)
        /// A message of a write stream that is in flight.
        case part(requestID: UInt64, WriteStream.Part?, isLast: Bool)
        /// Send this closing error, then close.
        case refuse(ReplyEnvelope)
        /// Close after all replies have been sent.
        case close
    }

    private enum Phase: Equatable {
        case awaitingHello, ready, draining, closing
    }

    private let welcome: Welcome
    /// The key that every connection must have; nil if none may have one.
    private let session: String?
    private let formerWelcome: (Hello) -> Welcome?
    private var phase = Phase.awaitingHello
    /// The reason for which the connection is draining.
    private var closingError = ConnectionState.stopping
    private var inputHasEnded = false
    /// At most a few dozen, for which a linear search is faster than hashing.
    private var inFlight: [UInt64] = []
    /// The operations that end only if the client cancels them. They are not in flight.
    private var following: Set<UInt64> = []
    /// The operation above the maximum that made reading stop.
    private var parked: Operation?

    /// - Parameters:
    ///   - welcome: The reply to the handshake. Its limits apply to the connection.
    ///   - session: The key of the migration session that is open.
    ///   - formerWelcome: Returns the reply to a client that was built for another schema; nil if
    ///     the client is to be refused.
    init(
        welcome: Welcome, session: String? = nil,
        formerWelcome: @escaping (Hello) -> Welcome? = { _ in nil }
    ) {
        self.welcome = welcome
        self.session = session
        self.formerWelcome = formerWelcome
    }

    /// Whether the next frame may be taken. If not, reading stops until an operation has finished.
    var acceptsFrames: Bool { !hasParked && phase != .closing }

    /// A pattern, because `==` would copy the operation.
    private var hasParked: Bool {
        if case .some = parked { true } else { false }
    }

    var isAwaitingHello: Bool { phase == .awaitingHello }
    var isClosing: Bool { phase == .closing }
    var requestsInFlight: Int { inFlight.count }
    var followerCount: Int { following.count }

    /// Whether a request with this id may get a reply at once, without ever being in flight.
    func mayReplyAtOnce(_ id: UInt64) -> Bool { phase == .ready && !isOpen(id) }

    private func isOpen(_ id: UInt64) -> Bool { inFlight.contains(id) || following.contains(id) }

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
            return refuse(LarderError(.handshakeRequired, "the client sent no handshake in time"))
        case .inputEnded:
            inputHasEnded = true
            return endIfIdle()
        case .drainStarted(let reason):
            closingError = reason
            if phase == .awaitingHello { return refuse(reason) }
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
            return isOpen(requestID)
                ? .grant(requestID: requestID, batches: batches) : .nothing
        case (_, .cancel(let requestID)):
            return isOpen(requestID) ? .cancel(requestID: requestID) : .nothing
        case (_, .rows(let requestID, let batch, let isLast)):
            // After an error the rows that are already on their way belong to no stream.
            return inFlight.contains(requestID)
                ? .part(requestID: requestID, batch.map { .rows($0) }, isLast: isLast) : .nothing
        case (_, .savePart(let requestID, let content, let isLast)):
            return inFlight.contains(requestID)
                ? .part(requestID: requestID, .changes(content), isLast: isLast) : .nothing
        case (_, .hello):
            return .reply(failure(envelope.id, "Hello was sent twice on one connection"))
        case (_, .get(let identifiers, let properties)):
            return accept(envelope, .get(identifiers, properties: properties))
        case (_, .query(let request)): return accept(envelope, .query(request))
        case (_, .explain(let request)): return accept(envelope, .explain(request))
        case (_, .analyze(let request)): return accept(envelope, .analyze(request))
        case (_, .save(let changes)): return accept(envelope, .save(changes))
        case (_, .saveInParts): return accept(envelope, .saveInParts)
        case (_, .insertRows(let insertion)): return accept(envelope, .insertRows(insertion))
        case (_, .history(let request)): return accept(envelope, .history(request))
        case (_, .deleteHistory(let deletion)):
            return accept(envelope, .deleteHistory(deletion))
        case (_, .openSnapshot): return accept(envelope, .openSnapshot)
        case (_, .observe(let request)): return accept(envelope, .observe(request))
        case (_, .backup(let credit)): return accept(envelope, .backup(credit: credit))
        case (_, .migrate(let request)): return accept(envelope, .migrate(request))
        case (_, .schema): return accept(envelope, .schema)
        case (_, .statistics): return accept(envelope, .statistics)
        case (_, .queryStatistics(let reset)):
            return accept(envelope, .queryStatistics(reset: reset))
        case (_, .activity): return accept(envelope, .activity)
        case (_, .metrics): return accept(envelope, .metrics)
        case (_, .endRequests(let connection, let request)):
            return accept(envelope, .endRequests(connection: connection, request: request))
        case (_, .check): return accept(envelope, .check)
        case (_, .ping): return accept(envelope, .ping)
        }
    }

    private func accept(_ envelope: RequestEnvelope, _ kind: Operation.Kind) -> Action {
        let id = envelope.id
        if phase == .draining {
            return .reply(ReplyEnvelope(id: id, reply: .failed(closingError)))
        }
        if id == 0 { return .reply(failure(0, "a request must have an id other than 0")) }
        // Id 0, because under its own id this would be the reply to the request in flight.
        if isOpen(id) {
            return .reply(failure(0, "a request with the id \(id) is still in flight"))
        }
        let operation = Operation(
            id: id, timeoutMilliseconds: envelope.timeoutMilliseconds,
            snapshot: envelope.snapshot, trace: envelope.trace, kind: kind)
        guard operation.snapshot == 0 || operation.isRead else {
            return .reply(failure(id, "the request cannot be performed in a snapshot"))
        }
        if operation.follows {
            following.insert(id)
            return .perform(operation)
        }
        guard inFlight.count < Int(welcome.requestsInFlightMax) else {
            parked = operation
            return .nothing
        }
        inFlight.append(id)
        return .perform(operation)
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
        if hello.migrationSession != session ?? "" {
            return refuse(
                id: id,
                hello.migrationSession.isEmpty
                    ? MigrationSession.exclusive : MigrationSession.hasEnded)
        }
        var reply = welcome
        if let mismatch = mismatch(with: hello) {
            guard let former = formerWelcome(hello) else { return refuse(id: id, mismatch) }
            reply = former
        }
        phase = .ready
        return .welcome(ReplyEnvelope(id: id, reply: .welcome(reply)), hello)
    }

    /// Why the store does not have the schema that a client expects; nil if it has.
    private func mismatch(with hello: Hello) -> LarderError? {
        if !hello.schemaVersion.isEmpty, hello.schemaVersion != welcome.schemaVersion {
            return mismatch(
                "version", expected: hello.schemaVersion, found: welcome.schemaVersion)
        }
        if !hello.schemaFingerprint.isEmpty, hello.schemaFingerprint != welcome.schemaFingerprint {
            return mismatch(
                "fingerprint", expected: hello.schemaFingerprint,
                found: welcome.schemaFingerprint)
        }
        return nil
    }

    private func finished(_ id: UInt64) -> Action {
        if let index = inFlight.firstIndex(of: id) {
            inFlight.swapAt(index, inFlight.count - 1)
            inFlight.removeLast()
        } else {
            following.remove(id)
        }
        guard let operation = parked else { return endIfIdle() }
        parked = nil
        inFlight.append(operation.id)
        return .perform(operation)
    }

    private func endIfIdle() -> Action {
        guard inFlight.isEmpty, following.isEmpty, !hasParked else { return .nothing }
        if phase == .draining { return refuse(closingError) }
        guard inputHasEnded else { return .nothing }
        phase = .closing
        return .close
    }

    private func refuse(id: UInt64 = 0, _ error: LarderError) -> Action {
        phase = .closing
        inFlight = []
        following = []
        parked = nil
        return .refuse(ReplyEnvelope(id: id, reply: .failed(error)))
    }

    private func failure(_ id: UInt64, _ message: String) -> ReplyEnvelope {
        ReplyEnvelope(id: id, reply: .failed(LarderError(.malformedMessage, message)))
    }

    private func mismatch(_ aspect: String, expected: String, found: String) -> LarderError {
        LarderError(
            .schemaMismatch,
            "the client expects schema \(aspect) \(Self.printable(expected)), "
                + "the store has \(found)",
            hint:
                "rebuild the client with the store's schema, or connect without an expected schema")
    }

    /// Text of a peer for a message or a log: printable ASCII, at most 64 characters.
    static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(64).map { scalar in
                (0x20..<0x7F).contains(scalar.value) ? Character(scalar) : "?"
            })
    }

    /// As a closing error it also guarantees that requests without a reply were not executed.
    static let stopping = LarderError(
        .unavailable, "the server is stopping",
        hint: "requests without a reply have not been executed and can be sent again")

    /// The closing error of a connection whose rights may be others now.
    static let policyReplaced = LarderError(
        .unavailable, "the policy of the store was replaced",
        hint: "connect again; requests without a reply have not been executed")
}
