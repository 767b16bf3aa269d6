import LarderModel
import LarderWire
import NIOCore

/// What each kind of operation does.
extension ConnectionHandler {
    func execute(_ operation: Operation) {
        let id = operation.id
        switch operation.kind {
        case .get(let identifiers, let properties): get(identifiers, properties, operation)
        case .query(let request): query(request, operation)
        case .explain(let request): finish(id, services.loopReader.explain(request))
        case .save(let changes): save(changes, operation)
        case .insertRows(let insertion): insertRows(insertion, operation)
        case .schema: finish(id, .schema(services.schemaText))
        case .statistics: statistics(id)
        case .check: check(operation)
        case .ping: ping(id)
        }
    }

    // MARK: Reads

    private func get(
        _ identifiers: [PersistentIdentifier], _ properties: [String]?, _ operation: Operation
    ) {
        switch services.loopReader.objects(identifiers, properties: properties) {
        case .reply(let reply): return finish(operation.id, reply)
        case .needsPool: break
        }
        let deadline = readDeadline(of: operation)
        onPool(operation.id) { reader in
            do throws(ReadFailure) {
                let batches = try reader.objects(
                    identifiers, properties: properties, budget: ReadBudget(deadline: deadline))
                return .batches(batches, more: false)
            } catch {
                return .failed(error.larderError)
            }
        }
    }

    private func query(_ request: QueryRequest, _ operation: Operation) {
        switch services.loopReader.query(request) {
        case .reply(let reply): finish(operation.id, reply)
        case .needsPool(let plan): stream(plan, request, operation)
        }
    }

    private func stream(_ plan: any QueryPlan, _ request: QueryRequest, _ operation: Operation) {
        guard let context else { return }
        let stream = QueryStream(
            requestID: operation.id, plan: plan, parameters: request.parameters,
            credit: request.credit, time: operation.time(atMost: services.limits.readTimeMax),
            services: services, connection: self, eventLoop: context.eventLoop)
        streams[operation.id] = stream
        stream.start()
    }

    private func statistics(_ id: UInt64) {
        let serverStatistics = services.statistics
        onPool(id) { reader in
            do throws(LarderError) {
                return .statistics(try reader.statistics() + serverStatistics())
            } catch {
                return .failed(error)
            }
        }
    }

    private func check(_ operation: Operation) {
        let deadline = readDeadline(of: operation)
        onPool(operation.id) { reader in
            do throws(ReadFailure) {
                return .checked(try reader.check(budget: ReadBudget(deadline: deadline)))
            } catch {
                return .failed(error.larderError)
            }
        }
    }

    private func readDeadline(of operation: Operation) -> ContinuousClock.Instant {
        .now.advanced(by: operation.time(atMost: services.limits.readTimeMax))
    }

    /// Executes a read with a single reply on a reader of the pool.
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

    // MARK: Writes

    private static let readOnly = LarderError(
        .readOnly, "the server has opened this store read-only",
        hint: "start the server without --read-only")

    private func insertRows(_ insertion: Insertion, _ operation: Operation) {
        guard let context else { return }
        guard let writes = services.writes else {
            return finish(operation.id, .failed(Self.readOnly))
        }
        do throws(LarderError) {
            try insertion.check(nil, in: services.store.schema)
            let spool = insertion.isAtomic ? try services.spools.open() : nil
            // A stream that is stored batch by batch holds no resources between its batches.
            let isLimited = insertion.isAtomic || operation.timeoutMilliseconds > 0
            let time = operation.time(atMost: services.limits.atomicStreamTimeMax)
            insertStreams[operation.id] = InsertStream(
                requestID: operation.id, InsertionRequest(insertion, from: source), spool: spool,
                time: isLimited ? time : nil, writes: writes, connection: self,
                eventLoop: context.eventLoop)
        } catch {
            finish(operation.id, .failed(error))
        }
    }

    private func save(_ changes: ChangeSet, _ operation: Operation) {
        let id = operation.id
        guard let writes = services.writes else { return finish(id, .failed(Self.readOnly)) }
        var received = SaveRequest(changes, from: source)
        if !changes.idempotencyKey.isEmpty {
            do throws(LarderError) {
                received.digest = try changes.digest()
            } catch {
                return finish(id, .failed(error))
            }
        }
        let bytes = frameBytes
        if hasLoopAlone, let outcome = writes.saveInline(received, frameBytes: bytes) {
            return finish(id, Self.reply(to: outcome))
        }
        guard let port else { return }
        guard quota.addWrite(bytes) else { return finish(id, .failed(ByteQuota.userExceeded)) }
        let time = operation.time(atMost: services.limits.writeWaitTimeMax)
        if changes.runsQueries {
            // The rest of the time is for the rollback and the reply.
            received.budget = ReadBudget(deadline: .now.advanced(by: time * 0.9))
        }
        let deadline = NIODeadline.now() + TimeAmount(time)
        writes.save(
            received, frameBytes: bytes, deadline: deadline, on: port.eventLoop
        ) { outcome in
            port.executeHere { handler in
                handler.writeEnded(bytes)
                handler.finish(id, Self.reply(to: outcome))
            }
        }
    }

    /// Whether a save that waits for the disk on this event loop delays no other connection, as far
    /// as the loop can know: its last requests all came from this connection, and no other request
    /// of it has arrived.
    private var hasLoopAlone: Bool {
        services.loopOccupancy.consecutiveRequests >= services.limits.consecutiveRequestsMin
            && input.byteCount == 0 && state.requestsInFlight == 1
    }

    private static func reply(to outcome: WriteQueue.Outcome) -> Reply {
        switch outcome {
        case .success(let result): .saved(result)
        case .failure(let error): .failed(error)
        }
    }
}
