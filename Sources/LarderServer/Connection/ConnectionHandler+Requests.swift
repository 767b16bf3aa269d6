import LarderModel
import LarderWire
import NIOCore

/// What each kind of request does: the one table from message to work.
extension ConnectionHandler {
    func execute(_ envelope: RequestEnvelope) {
        let id = envelope.id
        switch envelope.request {
        case .get(let identifiers, let properties):
            get(identifiers, properties: properties, envelope)
        case .query(let request): query(request, envelope)
        case .explain(let request): finish(id, services.loopReader.explain(request))
        case .save(let changes): save(changes, envelope)
        case .insertRows(let insertion): insertRows(insertion, envelope)
        case .schema: finish(id, .schema(services.schemaText))
        case .statistics: statistics(id)
        case .check: check(envelope)
        case .ping: ping(id)
        case .hello, .credit, .cancel, .rows:
            preconditionFailure("the connection's state keeps these to itself")
        }
    }

    /// How long the request may take: what the client allows, and never more than the limit.
    private func time(for envelope: RequestEnvelope, atMost limit: Duration) -> Duration {
        let asked = envelope.timeoutMilliseconds
        return asked == 0 ? limit : min(limit, .milliseconds(Int64(asked)))
    }

    private func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?, _ envelope: RequestEnvelope
    ) {
        if case .answered(let reply) = services.loopReader.objects(
            identifiers, properties: properties, encoded: envelope.encoded)
        {
            return finish(envelope.id, reply)
        }
        let deadline = ContinuousClock.now
            .advanced(by: time(for: envelope, atMost: services.limits.readTimeMax))
        onPool(envelope.id) { reader in
            do throws(ReadFailure) {
                let batches = try reader.objects(
                    identifiers, properties: properties, budget: ReadBudget(deadline: deadline))
                return .batches(batches, more: false)
            } catch {
                return .failed(error.larderError)
            }
        }
    }

    private func query(_ request: QueryRequest, _ envelope: RequestEnvelope) {
        let plan: any QueryPlan
        switch services.loopReader.query(request) {
        case .answered(let reply): return finish(envelope.id, reply)
        case .queryTooLong(let made): plan = made
        case .tooLong: preconditionFailure("a query that is too long comes back with its plan")
        }
        guard let context else { return }
        let stream = QueryStream(
            requestID: envelope.id, plan: plan, parameters: request.parameters,
            credit: request.credit, time: time(for: envelope, atMost: services.limits.readTimeMax),
            services: services, connection: self, eventLoop: context.eventLoop)
        streams[envelope.id] = stream
        stream.start()
    }

    private func statistics(_ id: UInt64) {
        let own = services.statistics
        onPool(id) { reader in
            do throws(LarderError) {
                return .statistics(try reader.statistics() + own())
            } catch {
                return .failed(error)
            }
        }
    }

    private func check(_ envelope: RequestEnvelope) {
        let deadline = ContinuousClock.now
            .advanced(by: time(for: envelope, atMost: services.limits.readTimeMax))
        onPool(envelope.id) { reader in
            do throws(ReadFailure) {
                return .checked(try reader.check(budget: ReadBudget(deadline: deadline)))
            } catch {
                return .failed(error.larderError)
            }
        }
    }

    /// Answers with what a reader of the pool comes to, in one piece.
    private func onPool(_ id: UInt64, _ read: @escaping @Sendable (any StoreReader) -> Reply) {
        guard let port else { return }
        let pool = services.pool
        pool.acquire(for: port.identity, of: user, on: port.eventLoop) { reader in
            let reply: Reply
            switch reader {
            case .success(let reader):
                reply = read(reader.reader)
                pool.release(reader)
            case .failure(let error): reply = .failed(error)
            }
            port.execute { $0.finish(id, reply) }
        }
    }

    private func ping(_ id: UInt64) {
        if let failure = services.probe.failure(of: services.loopReader) {
            return finish(id, .failed(failure))
        }
        guard let writes = services.writes, let port else { return finish(id, .pong) }
        if let refusal = writes.probe({ port.execute { $0.finish(id, .pong) } }) {
            finish(id, .failed(refusal))
        }
    }

    private static let readOnly = LarderError(
        .readOnly, "the server only reads this store",
        hint: "start the server without --read-only")

    private func insertRows(_ insertion: Insertion, _ envelope: RequestEnvelope) {
        guard let context else { return }
        guard let writes = services.writes else {
            return finish(envelope.id, .failed(Self.readOnly))
        }
        do throws(LarderError) {
            try insertion.check(nil, in: services.store.schema)
            let spool =
                insertion.isAtomic
                ? try services.spools.open(in: services.store.folder) : nil
            // One that is stored batch by batch holds nothing between two of them.
            let isBound = insertion.isAtomic || envelope.timeoutMilliseconds > 0
            let time = time(for: envelope, atMost: services.limits.atomicStreamTimeMax)
            insertStreams[envelope.id] = InsertStream(
                requestID: envelope.id, ReceivedInsertion(insertion, from: source), spool: spool,
                time: isBound ? time : nil, writes: writes, connection: self,
                eventLoop: context.eventLoop)
        } catch {
            finish(envelope.id, .failed(error))
        }
    }

    private func save(_ changes: ChangeSet, _ envelope: RequestEnvelope) {
        let id = envelope.id
        guard let writes = services.writes else { return finish(id, .failed(Self.readOnly)) }
        var received = ReceivedChangeSet(changes, from: source)
        if !changes.idempotencyKey.isEmpty {
            do throws(LarderError) {
                received.digest = try changes.digest()
            } catch {
                return finish(id, .failed(error))
            }
        }
        let bytes = frameBytes
        if hasLoopToItself, let outcome = writes.saveAtOnce(received, frameBytes: bytes) {
            return finish(id, Self.reply(to: outcome))
        }
        guard let port else { return }
        guard bookWrite(bytes) else { return finish(id, .failed(Self.userExhausted)) }
        let time = time(for: envelope, atMost: services.limits.writeWaitTimeMax)
        if changes.changes.contains(where: \.isByPredicate) {
            // What is given up has to be undone, and its answer to arrive, in this time.
            received.budget = ReadBudget(deadline: .now.advanced(by: time * 0.9))
        }
        let deadline = NIODeadline.now() + TimeAmount(time)
        writes.save(
            received, frameBytes: bytes, deadline: deadline, on: port.eventLoop
        ) { outcome in
            port.executeHere { handler in
                handler.writeLeft(bytes)
                handler.finish(id, Self.reply(to: outcome))
            }
        }
    }

    /// Whether a save that waits for the disk on this event loop lets nobody else wait,
    /// as far as one can know: the last requests of the loop all came from here, and no other is
    /// under way.
    private var hasLoopToItself: Bool {
        services.loopTurns.count >= services.limits.requestsAloneMin && input.byteCount == 0
            && state.requestsInFlight == 1
    }

    private static func reply(to outcome: WriteQueue.Outcome) -> Reply {
        switch outcome {
        case .success(let result): .saved(result)
        case .failure(let error): .failed(error)
        }
    }
}
