import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// The work of each kind of operation.
extension ConnectionHandler {
    func execute(_ operation: Operation) {
        let id = operation.id
        guard operation.snapshot == 0 || requests[operation.snapshot] is SnapshotLease else {
            return finish(id, .failed(SnapshotLease.expired))
        }
        if let denial = denial(of: operation) { return finish(id, .failed(denial)) }
        switch operation.kind {
        case .get(let identifiers, let properties): get(identifiers, properties, operation)
        case .query(let request): query(request, operation)
        case .explain(let request): explain(request, operation)
        case .analyze(let request): analyze(request, operation)
        case .save(let changes): save(changes, operation)
        case .saveInParts: saveInParts(operation)
        case .insertRows(let insertion): insertRows(insertion, operation)
        case .history(let request): history(request, operation)
        case .deleteHistory(let deletion): deleteHistory(deletion, operation)
        case .openSnapshot: openSnapshot(operation)
        case .observe(let request): observe(request, operation)
        case .backup(let credit): backup(credit: credit, operation)
        case .migrate(let request): migrate(request, operation)
        case .schema: finish(id, .schema(services.schemaText))
        case .statistics: statistics(operation)
        case .queryStatistics(let reset): queryStatistics(resetting: reset, operation)
        case .activity: activity(operation)
        case .metrics: metrics(operation)
        case .endRequests(let connection, let request):
            endRequests(of: connection, request, operation)
        case .check: check(operation)
        case .ping: ping(operation)
        }
    }

    // MARK: Reads

    private func get(
        _ identifiers: [PersistentIdentifier], _ properties: [String]?, _ operation: Operation
    ) {
        let record = services.loopReader.queries.record(ofGet: identifiers, properties, for: user)
        times.count(in: record)
        if isShort, operation.snapshot == 0,
            case .reply(let reply) = services.loopReader.objects(
                identifiers, properties: properties, countedIn: record)
        {
            return finish(operation.id, reply)
        }
        let view = services.view
        onPool(operation) { (reader, budget) throws(ReadFailure) in
            .batches(
                try view.reader(over: reader).objects(
                    identifiers, properties: properties, budget: budget),
                more: false)
        }
    }

    /// Whether the read of the last frame may be performed on the event loop.
    private var isShort: Bool { frame.byteCount <= services.limits.loopReadBytesMax }

    /// Whether a query may be planned there too. To plan it is work for its user like any other,
    /// and nothing interrupts it.
    private func isPlannedHere(_ request: QueryRequest) -> Bool {
        isShort && request.shape.byteCount <= services.limits.loopShapeBytesMax
    }

    private func query(_ request: QueryRequest, _ operation: Operation) {
        guard isPlannedHere(request), operation.snapshot == 0 else {
            let view = services.view
            let planBytes = Self.planBytes(of: request)
            times.count(in: record(of: request.shape))
            return stream(request, operation, planBytes: planBytes) { () throws(LarderError) in
                try view.plan(try request.shape.decoded(), request.parameters)
            }
        }
        let (outcome, record) = services.loopReader.query(request, of: user)
        times.count(in: record)
        switch outcome {
        case .reply(let reply): finish(operation.id, reply)
        case .needsPool(let plan):
            stream(request, operation, planBytes: plan.byteCount) { plan }
        }
    }

    /// The record of a query that is planned in the pool; nil if its shape is long.
    private func record(of shape: QueryShape) -> QueryCounters.RecordNumber? {
        guard shape.byteCount <= services.limits.loopShapeBytesMax else { return nil }
        return services.loopReader.queries.record(of: .query(shape), for: user)
    }

    /// Roughly the memory of the plan of a query that has not been planned yet.
    private static func planBytes(of request: QueryRequest) -> Int {
        request.shape.byteCount * planBytesPerByte
    }

    /// A node of an expression takes some 16 bytes of a shape and 1 KiB of a plan.
    private static let planBytesPerByte = 64

    /// - Parameter planBytes: The memory of the plan, which the stream has until its end.
    private func stream(
        _ request: QueryRequest, _ operation: Operation, planBytes: Int,
        plan: @escaping @Sendable () throws(LarderError) -> any QueryPlan
    ) {
        guard let context else { return }
        let bytes = frame.memoryBytes + planBytes
        if let refusal = quota.addRequest(bytes) {
            return finish(operation.id, .failed(refusal))
        }
        let stream = QueryStream(
            requestID: operation.id, plan: plan, parameters: request.parameters,
            measurement: services.slowReads.measurement(
                of: request.shape, from: source, trace: operation.trace),
            countedIn: times.entry(of: operation.id)?.record, credit: request.credit,
            time: operation.time(atMost: services.limits.readTimeMax),
            bytes: bytes, services: services, readers: readers(for: operation),
            connection: self, eventLoop: context.eventLoop)
        requests[operation.id] = stream
        stream.start()
    }

    private func explain(_ request: QueryRequest, _ operation: Operation) {
        let view = services.view
        let bytes = frame.memoryBytes + Self.planBytes(of: request)
        onPool(operation, bytes: bytes) { (reader, budget) throws(ReadFailure) in
            let plan: any QueryPlan
            do throws(LarderError) {
                plan = try view.plan(try request.shape.decoded(), request.parameters)
            } catch {
                throw .failed(error)
            }
            return .explained(try reader.explain(plan, request.parameters, budget: budget))
        }
    }

    private func analyze(_ request: QueryRequest, _ operation: Operation) {
        let analysis = QueryAnalysis(request, view: services.view, limits: services.limits)
        let bytes = frame.memoryBytes + Self.planBytes(of: request)
        onPool(operation, bytes: bytes) { (reader, budget) throws(ReadFailure) in
            .explained(try analysis.run(on: reader, budget: budget))
        }
    }

    private func statistics(_ operation: Operation) {
        let serverStatistics = services.statistics
        // Not charged, so that it does not count itself.
        onPool(operation, bytes: 0) { (reader, _) throws(ReadFailure) in
            do throws(LarderError) {
                return .statistics(try reader.statistics() + serverStatistics())
            } catch {
                throw .failed(error)
            }
        }
    }

    private func check(_ operation: Operation) {
        onPool(operation, timeMax: services.limits.checkTimeMax) {
            (reader, budget) throws(ReadFailure) in
            .checked(try reader.check(budget: budget))
        }
    }

    /// Executes a read with a single reply on a reader of the pool.
    ///
    /// - Parameters:
    ///   - bytes: The memory that the request takes; nil for that of its frame.
    ///   - timeMax: The time that it may take; nil for that of a query.
    private func onPool(
        _ operation: Operation, bytes: Int? = nil, timeMax: Duration? = nil,
        _ read: @escaping @Sendable (any StoreReader, ReadBudget) throws(ReadFailure) -> Reply
    ) {
        let (id, replyBytesMax) = (operation.id, services.limits.loopReplyBytesMax)
        let frameBytesMax = replyFrameBytesMax
        readOnPool(operation, bytes: bytes, timeMax: timeMax, read) { result, port in
            let reply: Reply
            do throws(LarderError) { reply = try result.get() } catch { reply = .failed(error) }
            let rowCount = reply.objectCount
            let encodable = EncodableReply(
                reply, to: id, encodedAbove: replyBytesMax, frameBytesMax: frameBytesMax)
            port.end { handler in
                handler.services.loopReader.queries.addRows(
                    rowCount, to: handler.times.entry(of: id)?.record)
                handler.streamEnded(id, encodable)
            }
        }
    }

    /// - Parameter done: Called on a thread of the pool, after the reader is free again, or on the
    ///   thread that ended the wait for a reader.
    func readOnPool<Output>(
        _ operation: Operation, bytes: Int? = nil, timeMax: Duration? = nil,
        _ read: @escaping @Sendable (any StoreReader, ReadBudget) throws(ReadFailure) -> Output,
        _ done: @escaping @Sendable (Result<Output, LarderError>, OffLoopRequest.Port) -> Void
    ) {
        guard let port else { return }
        let bytes = bytes ?? frame.memoryBytes
        if let refusal = quota.addRequest(bytes) { return finish(operation.id, .failed(refusal)) }
        let deadline = ContinuousClock.now.advanced(
            by: operation.time(atMost: timeMax ?? services.limits.readTimeMax))
        let open = OffLoopRequest(requestID: operation.id, connection: self)
        requests[operation.id] = open
        let (cancellation, readPort) = (open.cancellation, OffLoopRequest.Port(open, port))
        let readers = readers(for: operation)
        let release = readers.release
        readers.acquire(
            readerRequest(bytes: bytes, cancellation, endSnapshot: { cancellation.cancel() })
        ) { reader in
            var result: Result<Output, LarderError>
            switch reader {
            case .failure(let error): result = .failure(error)
            case .success(let reader):
                do throws(ReadFailure) {
                    result = .success(
                        try read(
                            reader.reader,
                            reader.budget(deadline: deadline, cancellation: cancellation)))
                } catch {
                    // If the read has ended otherwise, it has had its reply.
                    result = .failure(
                        cancellation.isCancelled ? ReaderPool.snapshotExpired : error.larderError)
                }
                release(reader)
            }
            port.execute { $0.requestEnded(bytes) }
            done(result, readPort)
        }
    }

    /// SQLite's copies of the arguments of a query take about this multiple of the request.
    private static let executedBytesPerByte = 2

    /// A request of this connection for a reader.
    ///
    /// - Parameters:
    ///   - bytes: The memory that the request takes.
    ///   - cancellation: Ends the wait for a reader.
    func readerRequest(
        bytes: Int, _ cancellation: ReadCancellation, endSnapshot: @escaping @Sendable () -> Void
    ) -> ReaderPool.Request {
        guard let context else { preconditionFailure("a closed connection reads nothing") }
        return ReaderPool.Request(
            connection: ObjectIdentifier(self), user: user,
            byteCount: bytes * Self.executedBytesPerByte, eventLoop: context.eventLoop,
            endSnapshot: endSnapshot, cancellation: cancellation)
    }

    private func ping(_ operation: Operation) {
        let id = operation.id
        if let failure = services.probe.failure(of: services.loopReader) {
            return finish(id, .failed(failure))
        }
        guard let writes = services.writes, let port else { return finish(id, .pong) }
        writes.append(
            .probe(
                WriteQueue.Probe(for: user, deadline: writeDeadline(of: operation)) { error in
                    port.execute { $0.finish(id, error.map { .failed($0) } ?? .pong) }
                }))
    }

    private func writeDeadline(of operation: Operation) -> NIODeadline {
        .now() + TimeAmount(operation.time(atMost: services.limits.writeWaitTimeMax))
    }

    /// Where an operation gets its reader.
    private func readers(for operation: Operation) -> ReaderSource {
        (requests[operation.snapshot] as? SnapshotLease)?.readers ?? ReaderSource(services.pool)
    }

    private func observe(_ request: ObserveRequest, _ operation: Operation) {
        guard let context else { return }
        let bytes = frame.memoryBytes
        if let refusal = quota.addRequest(bytes) {
            return finish(operation.id, .failed(refusal))
        }
        if let refusal = services.registry.followerBegins(of: user) {
            requestEnded(bytes)
            return finish(operation.id, .failed(refusal))
        }
        let observer = Observer(
            requestID: operation.id, request, bytes: bytes, connection: self,
            eventLoop: context.eventLoop)
        requests[operation.id] = observer
        observer.start()
    }

    private func backup(credit: UInt32, _ operation: Operation) {
        guard let context else { return }
        let backup = BackupStream(
            requestID: operation.id, credit: credit,
            time: operation.time(atMost: services.limits.backupTimeMax), connection: self,
            eventLoop: context.eventLoop)
        requests[operation.id] = backup
        backup.start()
    }

    private func openSnapshot(_ operation: Operation) {
        guard let context else { return }
        let snapshot = SnapshotLease(
            requestID: operation.id, time: operation.time(atMost: services.limits.readTimeMax),
            connection: self, eventLoop: context.eventLoop)
        requests[operation.id] = snapshot
        snapshot.open()
    }

    private func history(_ request: HistoryRequest, _ operation: Operation) {
        guard let context else { return }
        let bytes = request.objects.reduce(frame.memoryBytes) { $0 + Self.planBytes(of: $1) }
        if let refusal = quota.addRequest(bytes) {
            return finish(operation.id, .failed(refusal))
        }
        if request.follows, let refusal = services.registry.followerBegins(of: user) {
            requestEnded(bytes)
            return finish(operation.id, .failed(refusal))
        }
        let stream = HistoryStream(
            requestID: operation.id, request,
            time: operation.time(atMost: services.limits.readTimeMax), bytes: bytes,
            readers: readers(for: operation), connection: self, eventLoop: context.eventLoop)
        requests[operation.id] = stream
        stream.start()
    }

    // MARK: Writes

    static let readOnly = LarderError(
        .readOnly, "the server has opened this store read-only",
        hint: "start the server without --read-only")

    private func insertRows(_ insertion: Insertion, _ operation: Operation) {
        guard let context else { return }
        guard let writes = services.writes else {
            return finish(operation.id, .failed(Self.readOnly))
        }
        do throws(LarderError) {
            try insertion.check(nil, in: services.store.schema)
            var received = InsertionRequest(
                insertion, from: source, view: services.writingView)
            let kind: WriteStream.Kind
            if insertion.isAtomic {
                kind = .rows(received, try services.spools.open(for: user))
            } else {
                received.answerBytesMax = Self.answerBytesMax(services.limits)
                kind = .batches(received)
            }
            // A stream that is stored batch by batch holds no resources between its batches.
            let isLimited = insertion.isAtomic || operation.timeoutMilliseconds > 0
            let time = operation.time(atMost: services.limits.atomicStreamTimeMax)
            requests[operation.id] = WriteStream(
                requestID: operation.id, kind, time: isLimited ? time : nil, writes: writes,
                connection: self, eventLoop: context.eventLoop)
        } catch {
            finish(operation.id, .failed(error))
        }
    }

    private func saveInParts(_ operation: Operation) {
        guard let context else { return }
        guard let writes = services.writes else {
            return finish(operation.id, .failed(Self.readOnly))
        }
        do throws(LarderError) {
            let request = SaveRequest(
                ChangeSet(), from: source,
                view: services.writingView)
            requests[operation.id] = WriteStream(
                requestID: operation.id, .changes(request, try services.spools.open(for: user)),
                time: operation.time(atMost: services.limits.atomicStreamTimeMax), writes: writes,
                connection: self, eventLoop: context.eventLoop)
        } catch {
            finish(operation.id, .failed(error))
        }
    }

    private func deleteHistory(_ deletion: HistoryDeletion, _ operation: Operation) {
        let id = operation.id
        guard let writes = services.writes else { return finish(id, .failed(Self.readOnly)) }
        guard let port else { return }
        writes.append(
            .deletion(
                WriteQueue.Deletion(
                    deletion, for: user, deadline: writeDeadline(of: operation)
                ) { outcome in
                    port.execute { handler in
                        switch outcome {
                        case .success(let count): handler.finish(id, .historyDeleted(count))
                        case .failure(let error): handler.finish(id, .failed(error))
                        }
                    }
                }))
    }

    private func save(_ changes: ChangeSet, _ operation: Operation) {
        let id = operation.id
        guard let writes = services.writes else { return finish(id, .failed(Self.readOnly)) }
        let received = SaveRequest(
            changes, from: source, digest: frame.digest,
            answerBytesMax: Self.answerBytesMax(services.limits),
            view: services.writingView)
        guard let port else { return }
        let bytes = frame.memoryBytes
        if let refusal = quota.addRequest(bytes) { return finish(id, .failed(refusal)) }
        let save = WriteQueue.Save(
            received, for: user, frameBytes: frame.byteCount,
            deadline: writeDeadline(of: operation), on: port.eventLoop
        ) { outcome in
            port.executeHere { handler in
                handler.requestEnded(bytes)
                handler.saved(id, handler.reply(to: outcome))
            }
        }
        writes.append(.save(save))
    }

    /// The longest answer to a write: a frame, less the envelope around it.
    static func answerBytesMax(_ limits: ServerLimits) -> Int { limits.frameBytesMax - 64 }

    private func saved(_ id: UInt64, _ reply: Reply) {
        guard reply.isLonger(than: services.limits.loopReplyBytesMax), let port else {
            return finish(id, reply)
        }
        services.pool.submit(in: .object(ObjectIdentifier(self)), of: user) { _ in
            let encoded = EncodableReply(reply, to: id, encodedAbove: 0)
            port.execute { $0.finish(id, encoded) }
        }
    }

    private func reply(to outcome: WriteQueue.Outcome) -> Reply {
        switch outcome {
        case .success(let result): .saved(result)
        case .failure(let error): .failed(services.known(error))
        }
    }
}

extension Reply {
    /// The objects that a `get` has found; 0 for any other reply.
    fileprivate var objectCount: Int {
        guard case .batches(let batches, _) = self else { return 0 }
        return batches.reduce(0) { $0 + $1.rowCount }
    }
}
