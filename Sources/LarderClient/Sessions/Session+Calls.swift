import LarderModel
internal import LarderWire

/// Calls that outlive the connection they were begun on: asked, and asked again where that is safe.
///
/// Each stands twice, for threads and for tasks; what an outcome means is decided in `Attempt`.
extension Session {
    func perform<Answer>(_ operation: Operation<Answer>) throws(LarderError) -> Answer {
        let request = operation.request(by: options.author)
        var attempt = attempt(isWrite: operation.isWrite, hasKey: operation.hasKey)
        var failed: Connection?
        while true {
            let connection: Connection
            let id: UInt64
            do throws(LarderError) {
                connection = try self.connection(replacing: failed, for: attempt)
                id = try connection.ask(request, .call, until: attempt.deadline)
            } catch {
                throw attempt.final(error)
            }
            let outcome = connection.outcome(of: id, until: attempt.deadline)
            if let reply = try attempt.settle(outcome, now: .now) {
                return try operation.answer(in: reply, connection.welcome)
            }
            failed = connection
        }
    }

    func perform<Answer>(_ operation: Operation<Answer>) async throws(LarderError) -> Answer {
        let request = operation.request(by: options.author)
        var attempt = attempt(isWrite: operation.isWrite, hasKey: operation.hasKey)
        var failed: Connection?
        while true {
            let connection: Connection
            let id: UInt64
            do throws(LarderError) {
                connection = try await self.connection(replacing: failed, for: attempt)
                id = try connection.ask(request, .call, until: attempt.deadline)
            } catch {
                throw attempt.final(error)
            }
            let outcome = await connection.outcome(of: id, until: attempt.deadline)
            if let reply = try attempt.settle(outcome, now: .now) {
                return try operation.answer(in: reply, connection.welcome)
            }
            failed = connection
        }
    }

    /// The whole answer to a query. All of it is wanted, so the server need not wait for credit;
    /// if the connection is lost within it, the query is asked anew from its beginning.
    func collect<Element>(_ listing: Listing<Element>) throws(LarderError) -> [Element] {
        let request = Request.query(try listing.request())
        var attempt = attempt(isWrite: false)
        var failed: Connection?
        while true {
            let connection = try connection(replacing: failed, for: attempt)
            let id = try connection.ask(
                request, .stream(window: 0), until: attempt.deadline)
            var elements: [Element] = []
            while true {
                let outcome = connection.outcome(of: id, until: attempt.deadline)
                guard let reply = try attempt.settle(outcome, now: .now) else { break }
                do throws(LarderError) {
                    if try listing.append(reply, connection.welcome, to: &elements) {
                        return elements
                    }
                } catch {
                    connection.cancel(id)
                    throw error
                }
            }
            failed = connection
        }
    }

    func collect<Element>(_ listing: Listing<Element>) async throws(LarderError) -> [Element] {
        let request = Request.query(try listing.request())
        var attempt = attempt(isWrite: false)
        var failed: Connection?
        while true {
            let connection = try await connection(replacing: failed, for: attempt)
            let id = try connection.ask(
                request, .stream(window: 0), until: attempt.deadline)
            var elements: [Element] = []
            while true {
                let outcome = await connection.outcome(of: id, until: attempt.deadline)
                guard let reply = try attempt.settle(outcome, now: .now) else { break }
                do throws(LarderError) {
                    if try listing.append(reply, connection.welcome, to: &elements) {
                        return elements
                    }
                } catch {
                    connection.cancel(id)
                    throw error
                }
            }
            failed = connection
        }
    }

    func attempt(isWrite: Bool, hasKey: Bool = false) -> Attempt {
        Attempt(
            isWrite: isWrite, hasKey: hasKey, timeout: options.requestTimeout,
            reconnectWait: reconnectWait, now: .now)
    }
}

extension LarderError {
    /// The server answered with a message that does not answer what was asked.
    static var answerMismatch: LarderError {
        LarderError(.malformedMessage, "the server answered with another kind of message")
    }
}
