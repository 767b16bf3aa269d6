#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// Reads a store in PostgreSQL on its own connection.
///
/// Used from one thread at a time. It serves one cursor at a time, which holds its snapshot. A call
/// of ``objects(_:properties:budget:)`` has a snapshot of its own.
final class PostgresReader: StoreReader {
    private let session: PostgresSession
    private let converter: ValueConverter
    private let layout: Layout
    private var objectQueries: [ObjectShape: ObjectQuery] = [:]
    private weak var cursor: PostgresCursor?

    private static let objectQueriesMax = 256
    /// How many objects one round trip reads.
    private static let objectsAtOnce = 1_000

    private struct ObjectShape: Hashable {
        var entityName: String
        /// nil is every property, to-many relationships included.
        var properties: [String]?
    }

    private struct ObjectQuery {
        let query: ResolvedQuery
        let statement: KeyStatement
    }

    init(_ store: PostgresStore) {
        session = PostgresSession(store)
        converter = store.valueConverter
        layout = store.layout
    }

    // MARK: Objects by identifier

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch] {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        do throws(LarderError) { try identifiers.check(converter) } catch { throw .failed(error) }
        session.limit.start(budget)
        defer { session.endSnapshot() }
        var batches: [Batch] = []
        var bytesLeft = min(Limits.frameBytesMax, budget.bytesMax ?? .max)
        for group in identifiers.groupedByEntity {
            let query = try objectQuery(group[0], properties)
            batches.append(try read(group, query, &bytesLeft))
        }
        return batches
    }

    private func objectQuery(
        _ identifier: PersistentIdentifier, _ properties: [String]?
    ) throws(ReadFailure) -> ObjectQuery {
        let shape = ObjectShape(entityName: identifier.entityName, properties: properties)
        if let query = objectQueries[shape] { return query }
        do throws(LarderError) {
            _ = try converter.schema.existingEntity(named: shape.entityName)
        } catch {
            var located = error
            located.uri = identifier.uriRepresentation
            throw .failed(located)
        }
        do throws(LarderError) {
            let typer = try QueryTyper(
                entityName: shape.entityName, conversion: converter.conversion,
                includesSubentities: false)
            let typed = try typer.object(properties: shape.properties)
            let query = try QueryLowering(typed.entity, layout, converter).query(typed)
            var writer = SQLWriter(QueryParameters(arguments: [1]), converter)
            let made = ObjectQuery(
                query: query, statement: try KeyStatement(writer.statement(query), converter))
            if objectQueries.count >= Self.objectQueriesMax { objectQueries.removeAll() }
            objectQueries[shape] = made
            return made
        } catch {
            throw .failed(error)
        }
    }

    /// Reads objects of one entity, of which each is a statement of a pipeline.
    private func read(
        _ identifiers: [PersistentIdentifier], _ keyed: ObjectQuery, _ bytesLeft: inout Int
    ) throws(ReadFailure) -> Batch {
        var decoder = PostgresRowDecoder(keyed.query)
        let keys = identifiers.compactMap(\.permanentKey)
        for start in stride(from: 0, to: keys.count, by: Self.objectsAtOnce) {
            let part = keys[start..<min(start + Self.objectsAtOnce, keys.count)]
            let begin = session.beginSnapshot()
            let now = session.store.now
            let results = try session.run(
                begin
                    + part.map {
                        PostgresStatement(
                            keyed.statement.sql, key: .integer($0), now: now, returnsFewRows: true)
                    })
            let rows = results.dropFirst(begin.count).flatMap(\.rows)
            let lists = try session.lists(decoder.lists.map(\.list), of: rows, now: now)
            for (index, row) in rows.enumerated() {
                do throws(PostgresError) { try decoder.append(row) } catch {
                    throw session.failure(error)
                }
                for (list, column) in zip(lists, decoder.lists) {
                    decoder.append(list[index], at: column.column)
                }
                guard decoder.byteCount <= bytesLeft else { throw tooLarge }
            }
        }
        bytesLeft -= decoder.byteCount
        return decoder.takeBatch()
    }

    private var tooLarge: ReadFailure {
        session.limit.bytesMax != nil
            ? .budgetExceeded
            : .failed(
                LarderError(
                    .resourceExhausted, "the objects do not fit into one reply",
                    hint: "ask for fewer of them, or for some of their properties"))
    }

    // MARK: Queries

    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget,
        workers: (any ReadWorkers)?
    ) throws(ReadFailure) -> any ResultCursor {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        session.limit.start(budget)
        let opened = try PostgresCursor(session, plan, parameters)
        cursor = opened
        return opened
    }

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> Explanation {
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        session.limit.start(budget)
        defer { session.endSnapshot() }
        let statements = try session.statements(plan, parameters)
        let begin = session.beginSnapshot()
        let results = try session.run(
            begin
                + statements.map {
                    var statement = PostgresStatement($0)
                    statement.text = "EXPLAIN \(statement.text)"
                    return statement
                })
        let steps = results.dropFirst(begin.count).flatMap(\.rows).compactMap { row in
            if case .text(let line)? = row.first { line } else { nil }
        }
        return Explanation(
            plan: plan.query.description,
            sql: statements.map(\.text).joined(separator: ";\n"), steps: steps, warnings: [])
    }

    // MARK: Snapshots

    func pinSnapshot() throws(LarderError) -> Int64 {
        session.limit.start(ReadBudget())
        do throws(ReadFailure) { return try session.pinSnapshot() } catch {
            throw error.larderError
        }
    }

    func unpinSnapshot() { session.unpinSnapshot() }

    // MARK: Not yet

    func history(
        _ request: HistoryPageRequest, budget: ReadBudget
    ) throws(ReadFailure) -> HistoryPage {
        throw .failed(LarderError.missing("reads of the history"))
    }

    func migrationSummary(
        to schema: Schema, budget: ReadBudget
    ) throws(ReadFailure) -> MigrationSummary {
        throw .failed(LarderError.missing("migrations"))
    }

    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport {
        throw .failed(LarderError.missing("a verification"))
    }

    // MARK: Memory

    /// PostgreSQL has views of its own for what it does.
    func statistics() throws(LarderError) -> [Statistic] { [] }

    func releaseMemory() {
        objectQueries.removeAll()
        session.releaseMemory()
    }

    /// PostgreSQL caches what is read, in memory that its administrator limits.
    func setCacheBytes(_ bytes: Int) throws(LarderError) {}
}
#endif
