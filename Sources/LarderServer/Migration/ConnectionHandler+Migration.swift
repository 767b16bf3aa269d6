import LarderModel
import LarderWire
import NIOCore

extension ConnectionHandler {
    func migrate(_ request: MigrateRequest, _ operation: Operation) {
        let id = operation.id
        guard services.writes != nil else { return finish(id, .failed(Self.readOnly)) }
        switch request {
        case .plan(let text):
            plan(text, operation) { (result, _, port) in
                port.end { $0.migrated(id, result) }
            }
        case .migrate(let text):
            plan(text, operation) { (result, schema, port) in
                port.end { handler in
                    guard case .success(let summary) = result, let schema else {
                        return handler.migrated(id, result)
                    }
                    handler.migrate(to: schema, id, summary)
                }
            }
        case .begin: beginMigration(operation)
        case .commit: commitMigration(id)
        }
    }

    private func migrate(to schema: Schema, _ id: UInt64, _ summary: MigrationSummary) {
        guard let port else { return }
        let request = MigrationRequest()
        requests[id] = request
        services.migrations.migrate(
            to: schema, stoppedBy: request.cancellation, requester: port,
            progress: Self.progress(of: id, port)
        ) { error in
            port.execute { $0.migrated(id, error.map { .failure($0) } ?? .success(summary)) }
        }
    }

    private func commitMigration(_ id: UInt64) {
        guard let port else { return }
        let request = MigrationRequest()
        requests[id] = request
        services.migrations.commit(
            stoppedBy: request.cancellation, requester: port,
            progress: Self.progress(of: id, port)
        ) { error in
            port.execute { $0.migrated(id, error.map { .failure($0) } ?? .success(.nothing)) }
        }
    }

    /// Sends each step to the client.
    private static func progress(of id: UInt64, _ port: ConnectionPort) -> Server.Progress {
        { progress in
            port.execute { $0.send(id, .reply(.migrationProgress(progress.step))) }
        }
    }

    private func migrated(_ id: UInt64, _ result: Result<MigrationSummary, LarderError>) {
        let request = requests[id] as? MigrationRequest
        switch result {
        case .success(let summary): streamEnded(id, .reply(.migrated(summary)))
        case .failure(let error):
            streamEnded(id, .reply(.failed(request?.error(error) ?? error)))
        }
    }

    /// What a migration would do, read within the time limit of a read. Without a schema if the
    /// store has it already.
    private func plan(
        _ text: String, _ operation: Operation,
        _ done:
            @escaping @Sendable (
                _ result: Result<MigrationSummary, LarderError>, Schema?, PoolRead.Port
            ) -> Void
    ) {
        let own = services.migrations.schema
        readOnPool(operation) { (reader, budget) throws(ReadFailure) in
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

    private func beginMigration(_ operation: Operation) {
        let id = operation.id
        guard let port, let context else { return }
        let request = MigrationRequest()
        requests[id] = request
        let session = services.migrations.begin(
            stoppedBy: request.cancellation, requester: port, progress: Self.progress(of: id, port)
        ) { session in
            let reply = EncodableReply.reply(.migrationBegun(session: session.key))
            port.execute { $0.send(id, reply) }
        } whenEnded: { failure in
            port.execute { $0.migrated(id, failure.map { .failure($0) } ?? .success(.nothing)) }
        }
        let time = operation.time(atMost: services.limits.migrationTimeMax)
        let bound = NIOLoopBound(request, eventLoop: context.eventLoop)
        request.began(
            session,
            timer: context.eventLoop.scheduleTask(in: TimeAmount(time)) {
                bound.value.fail(MigrationSession.timeOver)
            })
    }
}

extension MigrationSummary {
    /// The summary of a migration to the schema that the store has already.
    static let nothing = MigrationSummary(changes: [], steps: [], isAdditive: true, byteCount: 0)
}
