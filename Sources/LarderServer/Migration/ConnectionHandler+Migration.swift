import LarderModel
import LarderWire
import NIOCore

/// A migration session and the request that began it. It belongs to the event loop of that
/// request's connection.
struct MigrationControl {
    let session: MigrationSession
    let timer: Scheduled<Void>

    func cancel() {
        timer.cancel()
        session.end(MigrationSession.cancelled)
    }
}

extension ConnectionHandler {
    func migrate(_ request: MigrateRequest, _ operation: Operation) {
        let id = operation.id
        guard services.writes != nil else { return finish(id, .failed(Self.readOnly)) }
        switch request {
        case .plan(let text):
            plan(text, operation) { (result, _, port) in
                port.execute { $0.migrated(id, result) }
            }
        case .migrate(let text):
            let migrations = services.migrations
            plan(text, operation) { (result, schema, port) in
                guard case .success = result, let schema else {
                    return port.execute { $0.migrated(id, result) }
                }
                let progress = Self.progress(of: id, port)
                migrations.migrate(to: schema, requester: port, progress: progress) { error in
                    let result = error.map { .failure($0) } ?? result
                    port.execute { $0.migrated(id, result) }
                }
            }
        case .begin: beginMigration(operation)
        case .commit:
            guard let port else { return }
            let progress = Self.progress(of: id, port)
            services.migrations.commit(requester: port, progress: progress) { error in
                port.execute { $0.migrated(id, error.map { .failure($0) } ?? .success(.nothing)) }
            }
        }
    }

    /// Sends each step to the client.
    private static func progress(of id: UInt64, _ port: ConnectionPort) -> Server.Progress {
        { progress in
            port.execute { $0.send(id, .reply(.migrationProgress(progress.step))) }
        }
    }

    private func migrated(_ id: UInt64, _ result: Result<MigrationSummary, LarderError>) {
        switch result {
        case .success(let summary): finish(id, .migrated(summary))
        case .failure(let error): finish(id, .failed(error))
        }
    }

    /// What a migration would do, read within the time limit of a read. Without a schema if the
    /// store has it already.
    private func plan(
        _ text: String, _ operation: Operation,
        _ done:
            @escaping @Sendable (
                _ result: Result<MigrationSummary, LarderError>, Schema?, ConnectionPort
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
        let session = services.migrations.begin(
            requester: port, progress: Self.progress(of: id, port)
        ) { session in
            let reply = EncodableReply.reply(.migrationBegun(session: session.key))
            port.execute { $0.send(id, reply) }
        } whenEnded: { failure in
            port.execute { handler in
                handler.migrations[id]?.timer.cancel()
                handler.streamEnded(
                    id, .reply(failure.map { .failed($0) } ?? .migrated(.nothing)))
            }
        }
        let time = operation.time(atMost: services.limits.migrationTimeMax)
        migrations[id] = MigrationControl(
            session: session,
            timer: context.eventLoop.scheduleTask(in: TimeAmount(time)) {
                session.end(MigrationSession.timeOver)
            })
    }
}

extension MigrationSummary {
    /// The summary of a migration to the schema that the store has already.
    static let nothing = MigrationSummary(changes: [], steps: [], isAdditive: true, byteCount: 0)
}
