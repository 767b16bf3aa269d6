import FoundationEssentials
import LarderModel
internal import LarderWire

/// Calls that survive the loss of a connection, because they are retried where that is safe.
///
/// Each has a form for threads and one for tasks. `Exchange` says what is sent and what the replies
/// mean, `Attempt` what an outcome means.
extension Session {
    /// The result of an exchange. If the connection is lost, it begins again.
    func run<Output>(_ exchange: some Exchange<Output>) throws(LarderError) -> Output {
        var exchange = exchange
        var attempt = try attempt(for: exchange)
        var failed: Connection?
        while true {
            let sent: SentRequest
            do throws(LarderError) {
                sent = try send(
                    exchange, over: connection(replacing: failed, for: attempt), attempt)
            } catch {
                throw attempt.finalError(error)
            }
            while true {
                let outcome = sent.connection.outcome(of: sent.id, until: attempt.deadline)
                guard let reply = try attempt.resolve(outcome, now: .now) else { break }
                if let output = try exchange.result(adding: reply, to: sent) { return output }
            }
            failed = attempt.needsConnection ? sent.connection : nil
            exchange.restart()
        }
    }

    func run<Output>(_ exchange: some Exchange<Output>) async throws(LarderError) -> Output {
        var exchange = exchange
        var attempt = try attempt(for: exchange)
        var failed: Connection?
        while true {
            let sent: SentRequest
            do throws(LarderError) {
                sent = try send(
                    exchange, over: await connection(replacing: failed, for: attempt), attempt)
            } catch {
                throw attempt.finalError(error)
            }
            while true {
                let outcome = await sent.connection.outcome(of: sent.id, until: attempt.deadline)
                guard let reply = try attempt.resolve(outcome, now: .now) else { break }
                if let output = try exchange.result(adding: reply, to: sent) { return output }
            }
            failed = attempt.needsConnection ? sent.connection : nil
            exchange.restart()
        }
    }

    private func attempt(for exchange: some Exchange) throws(LarderError) -> Attempt {
        if exchange.isChange, snapshot != nil { throw Self.snapshotIsReadOnly }
        return attempt(
            isWrite: exchange.isWrite, hasKey: exchange.hasKey, expiriesMax: expiriesMax)
    }

    private func send(
        _ exchange: some Exchange, over connection: Connection, _ attempt: Attempt
    ) throws(LarderError) -> SentRequest {
        let request = exchange.request(by: options.author)
        // A snapshot lasts longer than the call that opens it.
        let deadline = exchange.kind == .session ? nil : attempt.deadline
        return SentRequest(
            connection: connection,
            id: try connection.send(
                request, exchange.kind, until: deadline, in: snapshotID(for: request)))
    }

    func perform<Output>(_ operation: Operation<Output>) throws(LarderError) -> Output {
        try run(operation)
    }

    func perform<Output>(_ operation: Operation<Output>) async throws(LarderError) -> Output {
        try await run(operation)
    }

    func collect<Element>(_ list: ListQuery<Element>) throws(LarderError) -> [Element] {
        try run(try list.exchange())
    }

    func collect<Element>(_ list: ListQuery<Element>) async throws(LarderError) -> [Element] {
        try await run(try list.exchange())
    }

    /// The schema of the current server, which is read once.
    func schema() throws(LarderError) -> Schema {
        if let cachedSchema { return cachedSchema }
        return try perform(.schema(cachedBy: self))
    }

    /// The snapshot in which a request reads; 0 if it is not a read, or there is none.
    func snapshotID(for request: Request) -> UInt64 {
        switch request {
        case .get, .query, .explain, .analyze: return snapshot?.id ?? 0
        case .history(let request): return request.follows ? 0 : snapshot?.id ?? 0
        default: return 0
        }
    }

    static let snapshotIsReadOnly = LarderError(
        .readOnly, "a snapshot cannot be changed",
        hint: "save with the client that opened the snapshot")

    /// How often a read is repeated whose snapshot the server could not keep. That of an open
    /// snapshot does not come back.
    private var expiriesMax: Int { snapshot == nil ? 3 : 0 }

    func attempt(isWrite: Bool, hasKey: Bool = false, expiriesMax: Int = 0) -> Attempt {
        Attempt(
            isWrite: isWrite, hasKey: hasKey, expiriesMax: expiriesMax,
            timeout: options.requestTimeout,
            reconnectWait: reconnectWait, now: .now)
    }
}

extension LarderError {
    /// The reply does not belong to the kind of request that was sent.
    static var unexpectedReply: LarderError {
        LarderError(.malformedMessage, "the server replied with another kind of message")
    }
}

extension Exchange {
    /// The result, as ``output(adding:to:)`` has it. Cancels the request after an error.
    fileprivate mutating func result(
        adding reply: Reply, to request: SentRequest
    ) throws(LarderError) -> Output? {
        do throws(LarderError) {
            return try output(adding: reply, to: request)
        } catch {
            request.connection.cancel(request.id)
            throw error
        }
    }
}
