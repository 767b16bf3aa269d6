import FoundationEssentials
import LarderModel
internal import LarderWire

/// Calls that survive the loss of a connection, because they are retried where that is safe.
///
/// Each has a form for threads and one for tasks. `Attempt` decides what an outcome means.
extension Session {
    func perform<Output>(_ operation: Operation<Output>) throws(LarderError) -> Output {
        let request = operation.request(by: options.author)
        if operation.isChange, snapshot != nil { throw Self.snapshotIsReadOnly }
        var attempt = attempt(
            isWrite: operation.isWrite, hasKey: operation.hasKey, expiriesMax: expiriesMax)
        var failed: Connection?
        while true {
            let connection: Connection
            let id: UInt64
            do throws(LarderError) {
                connection = try self.connection(replacing: failed, for: attempt)
                id = try connection.send(
                    request, .call, until: attempt.deadline, in: snapshotID(for: request))
            } catch {
                throw attempt.finalError(error)
            }
            let outcome = connection.outcome(of: id, until: attempt.deadline)
            if let reply = try attempt.resolve(outcome, now: .now) {
                return try operation.output(from: reply, connection.welcome)
            }
            failed = attempt.needsConnection ? connection : nil
        }
    }

    func perform<Output>(_ operation: Operation<Output>) async throws(LarderError) -> Output {
        let request = operation.request(by: options.author)
        if operation.isChange, snapshot != nil { throw Self.snapshotIsReadOnly }
        var attempt = attempt(
            isWrite: operation.isWrite, hasKey: operation.hasKey, expiriesMax: expiriesMax)
        var failed: Connection?
        while true {
            let connection: Connection
            let id: UInt64
            do throws(LarderError) {
                connection = try await self.connection(replacing: failed, for: attempt)
                id = try connection.send(
                    request, .call, until: attempt.deadline, in: snapshotID(for: request))
            } catch {
                throw attempt.finalError(error)
            }
            let outcome = await connection.outcome(of: id, until: attempt.deadline)
            if let reply = try attempt.resolve(outcome, now: .now) {
                return try operation.output(from: reply, connection.welcome)
            }
            failed = attempt.needsConnection ? connection : nil
        }
    }

    /// The schema of the current server, which is read once.
    func schema() throws(LarderError) -> Schema {
        if let cachedSchema { return cachedSchema }
        return try perform(.schema(cachedBy: self))
    }

    /// The whole result of a query. The server need not wait for credit, because the caller wants
    /// all batches. If the connection is lost, the query is sent again and begins again.
    func collect<Element>(_ list: ListQuery<Element>) throws(LarderError) -> [Element] {
        try collect(try list.request(), list.elements)
    }

    /// What a closure makes of each batch, while the server reads the next one.
    func collect<Element>(
        _ query: QueryRequest, _ elements: (Batch, UUID) throws(LarderError) -> [Element]
    ) throws(LarderError) -> [Element] {
        let request = Request.query(query)
        var attempt = attempt(isWrite: false, expiriesMax: expiriesMax)
        var failed: Connection?
        while true {
            let connection = try connection(replacing: failed, for: attempt)
            let id = try connection.send(
                request, .stream(window: 0), until: attempt.deadline,
                in: snapshotID(for: request))
            var list: [Element] = []
            while true {
                let outcome = connection.outcome(of: id, until: attempt.deadline)
                guard let reply = try attempt.resolve(outcome, now: .now) else { break }
                do throws(LarderError) {
                    if try list.append(reply, connection.welcome, elements) { return list }
                } catch {
                    connection.cancel(id)
                    throw error
                }
            }
            failed = attempt.needsConnection ? connection : nil
        }
    }

    func collect<Element>(_ list: ListQuery<Element>) async throws(LarderError) -> [Element] {
        let request = Request.query(try list.request())
        var attempt = attempt(isWrite: false, expiriesMax: expiriesMax)
        var failed: Connection?
        while true {
            let connection = try await connection(replacing: failed, for: attempt)
            let id = try connection.send(
                request, .stream(window: 0), until: attempt.deadline,
                in: snapshotID(for: request))
            var elements: [Element] = []
            while true {
                let outcome = await connection.outcome(of: id, until: attempt.deadline)
                guard let reply = try attempt.resolve(outcome, now: .now) else { break }
                do throws(LarderError) {
                    if try elements.append(reply, connection.welcome, list.elements) {
                        return elements
                    }
                } catch {
                    connection.cancel(id)
                    throw error
                }
            }
            failed = attempt.needsConnection ? connection : nil
        }
    }

    /// The snapshot in which a request reads; 0 if it is not a read, or there is none.
    func snapshotID(for request: Request) -> UInt64 {
        switch request {
        case .get, .query, .explain: return snapshot?.id ?? 0
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
