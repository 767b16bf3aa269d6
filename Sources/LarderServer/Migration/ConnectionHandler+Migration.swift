import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import NIOPosix

extension ConnectionHandler {
    /// Performs the request if its user may migrate the store.
    func migrate(_ request: MigrateRequest, _ operation: Operation) {
        guard let port, let credentials else { return }
        let (id, bytes, rights) = (operation.id, frame.memoryBytes, services.migrations.rights)
        // Who has a role with this right needs no other one.
        let isPermitted = services.view.rights?.may(.migrate) ?? false
        switch isPermitted ? .permitted : rights.decision(for: credentials) {
        case .permitted: migrate(request, operation, bytes)
        case .denied: finish(id, .failed(MigrationRights.denial(to: user)))
        case .dependsOnGroups:
            let open = OffLoopRequest(requestID: id, connection: self)
            requests[id] = open
            let lookedUp = OffLoopRequest.Port(open, port)
            NIOSingletons.posixBlockingThreadPool.submit { _ in
                let isMember = rights.isMember(credentials.userIdentifier)
                lookedUp.end { handler in
                    if isMember { return handler.migrate(request, operation, bytes) }
                    let denial = MigrationRights.denial(to: handler.user)
                    handler.streamEnded(id, .reply(.failed(denial)))
                }
            }
        }
    }

    /// - Parameter bytes: The memory that the request takes.
    private func migrate(_ request: MigrateRequest, _ operation: Operation, _ bytes: Int) {
        let id = operation.id
        guard services.writes != nil else {
            return streamEnded(id, .reply(.failed(Self.readOnly)))
        }
        switch request {
        case .plan(let text):
            plan(text, operation, bytes) { (result, _, port) in
                port.end { $0.migrated(id, result) }
            }
        case .migrate(let text):
            plan(text, operation, bytes) { (result, schema, port) in
                port.end { handler in
                    guard case .success(let summary) = result, let schema else {
                        return handler.migrated(id, result)
                    }
                    handler.inTurn(id) { $0.migrate(to: schema, $1, summary) }
                }
            }
        case .begin: inTurn(id) { $0.beginMigration($1, operation) }
        case .commit: commitMigration(id)
        }
    }

    /// Starts a migration after a pause, if one is due after the last migration of the user.
    private func inTurn(
        _ id: UInt64,
        _ start: @escaping @Sendable (ConnectionHandler, MigrationRequest) -> Void
    ) {
        guard let port else { return }
        let request = MigrationRequest(id: id, port, connection: self)
        requests[id] = request
        // A stage of a session has no turn.
        guard services.migrations.session == nil,
            let pauseEnd = services.migrations.turns.pauseEnd(for: user)
        else { return start(self, request) }
        let bound = NIOLoopBound(request, eventLoop: port.eventLoop)
        request.wait(until: pauseEnd, on: port.eventLoop) {
            port.executeHere { start($0, bound.value) }
        }
    }

    private func beginTurn() -> MigrationTurns.Turn {
        let isStage = services.migrations.session != nil
        return services.migrations.turns.begin(
            for: user, keepsOthersOut: !isStage && services.registry.hasUsers(besides: user))
    }

    private func migrate(
        to schema: Schema, _ request: MigrationRequest, _ summary: MigrationSummary
    ) {
        let (id, port, turn) = (request.id, request.work.requester, beginTurn())
        services.migrations.migrate(to: schema, request.work) { error in
            turn.end(error)
            port.execute { $0.migrated(id, error.map { .failure($0) } ?? .success(summary)) }
        }
    }

    private func commitMigration(_ id: UInt64) {
        guard let port else { return }
        let request = MigrationRequest(id: id, port, connection: self)
        requests[id] = request
        services.migrations.commit(request.work) { error in
            port.execute { $0.migrated(id, error.map { .failure($0) } ?? .success(.nothing)) }
        }
    }

    private func migrated(_ id: UInt64, _ result: Result<MigrationSummary, LarderError>) {
        let request = requests[id] as? MigrationRequest
        request?.ended()
        switch result {
        case .success(let summary): streamEnded(id, .reply(.migrated(summary)))
        case .failure(let error):
            streamEnded(id, .reply(.failed(request?.error(error) ?? error)))
        }
    }

    /// The steps of a migration, read within the time limit of a read. Without a schema if the
    /// store has it already.
    private func plan(
        _ text: String, _ operation: Operation, _ bytes: Int,
        _ done:
            @escaping @Sendable (
                _ result: Result<MigrationSummary, LarderError>, Schema?, OffLoopRequest.Port
            ) -> Void
    ) {
        let own = services.migrations.schema
        readOnPool(operation, bytes: bytes) { (reader, budget) throws(ReadFailure) in
            let schema: Schema
            do throws(SchemaError) { schema = try SchemaFile.schema(parsing: text) } catch {
                throw .failed(error.larderError)
            }
            if SchemaDifference.differences(from: own, to: schema).isEmpty {
                return (MigrationSummary.nothing, nil as Schema?)
            }
            return (try reader.migrationSummary(to: schema, budget: budget), schema)
        } _: { result, port in
            switch result {
            case .success(let (summary, schema)): done(.success(summary), schema, port)
            case .failure(let error): done(.failure(error), nil, port)
            }
        }
    }

    private func beginMigration(_ request: MigrationRequest, _ operation: Operation) {
        let (id, port, turn) = (request.id, request.work.requester, beginTurn())
        let session = services.migrations.begin(request.work) { session in
            let reply = EncodableReply.reply(.migrationBegun(session: session.key))
            port.execute { $0.send(id, reply) }
        } whenEnded: { failure in
            turn.end(failure)
            port.execute { $0.migrated(id, failure.map { .failure($0) } ?? .success(.nothing)) }
        }
        migrationSession = session
        request.began(
            session, time: operation.time(atMost: services.limits.migrationTimeMax),
            silence: services.limits.migrationSilenceMax, on: port.eventLoop)
    }
}

extension MigrationSummary {
    /// The summary of a migration to the schema that the store has already.
    static let nothing = MigrationSummary(changes: [], steps: [], isAdditive: true, byteCount: 0)
}
