import LarderModel
import LarderQuery
import LarderSQL

/// Reads on its own connection.
///
/// Used from one thread at a time. It serves one cursor at a time, which holds its snapshot. A call
/// of ``objects(_:properties:budget:)`` has a snapshot of its own.
final class Reader: StoreReader {
    let session: ReadSession
    let converter: ValueConverter
    private let layout: Layout
    /// nil if the user may see all objects.
    private let rules: RowRules?
    private var objectQueries: [ObjectQuery.Shape: ObjectQuery] = [:]
    private var lastObjectQuery: ObjectQuery?
    weak var cursor: Cursor?

    private static let objectQueriesMax = 256
    /// Their memory. Clients choose the properties that they read.
    private static let objectQueryBytesMax = 1 << 20
    private var objectQueryBytes = 0
    /// The memory of a larger batch is not reused for the next read of such objects.
    private static let reusedBytesMax = 16 << 10
    /// The objects of one read have to fit into one reply, whose frame is longer for a long object.
    private static let objectBytesMax = Limits.frameBytesMax

    convenience init(_ store: Store) throws(LarderError) {
        try self.init(store, on: store.openReadConnection())
    }

    /// - Parameter connection: To the store's file, or to a copy of it.
    init(_ store: Store, on connection: Connection) throws(LarderError) {
        session = try ReadSession(store, connection)
        converter = store.valueConverter
        layout = store.layout
        rules = nil
    }

    /// A reader that shares the connection and the statements of another one, and reads objects as
    /// a limited view has them.
    init(
        over reader: Reader, _ layout: Layout, _ converter: ValueConverter, _ rules: RowRules?
    ) {
        session = reader.session
        self.rules = rules
        self.converter = converter
        self.layout = layout
    }

    // MARK: Objects by identifier

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch] {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        let identifiers = layout.current(identifiers)
        do throws(LarderError) { try identifiers.check(converter) } catch { throw .failed(error) }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        guard let first = identifiers.first else { return [] }
        let query = try objectQuery(first, properties)
        // A single statement is a snapshot of its own.
        let needsSnapshot = identifiers.count > 1 || !query.decoder.lists.isEmpty
        if needsSnapshot { try session.beginSnapshot() }
        defer { if needsSnapshot { session.endSnapshot() } }
        var bytesLeft =
            identifiers.count == 1 ? session.objectBytesMax : Self.objectBytesMax
        // Usually they are of one entity.
        if identifiers.allSatisfy({ $0.entityName == first.entityName }) {
            return [try read(identifiers, query, &bytesLeft, budget)]
        }
        var batches: [Batch] = []
        for group in identifiers.groupedByEntity {
            let query = try objectQuery(group[0], properties)
            batches.append(try read(group, query, &bytesLeft, budget))
        }
        return batches
    }

    func stamp(of object: PersistentIdentifier, properties: [String]?) -> ObjectStamp? {
        guard let key = object.permanentKey,
            let query = try? objectQuery(object, properties), query.dependsOnObjectOnly
        else { return nil }
        return session.stamps.stamp(ofKey: key)
    }

    private func objectQuery(
        _ identifier: PersistentIdentifier, _ properties: [String]?
    ) throws(ReadFailure) -> ObjectQuery {
        let shape = ObjectQuery.Shape(entityName: identifier.entityName, properties: properties)
        // Usually consecutive reads have the same shape.
        if let last = lastObjectQuery, last.shape == shape { return last }
        var query = objectQueries[shape]
        if query == nil { query = try makeObjectQuery(shape, identifier) }
        lastObjectQuery = query
        guard let query else { preconditionFailure("the query was cached or has been made") }
        return query
    }

    private func makeObjectQuery(
        _ shape: ObjectQuery.Shape, _ identifier: PersistentIdentifier
    ) throws(ReadFailure) -> ObjectQuery {
        do throws(LarderError) {
            _ = try converter.schema.existingEntity(named: shape.entityName)
        } catch {
            var located = error
            located.uri = identifier.uriRepresentation
            throw .failed(located)
        }
        let query: ObjectQuery
        do throws(LarderError) {
            query = try ObjectQuery(shape, layout, converter, rules)
        } catch {
            throw .failed(error)
        }
        // The last one is in use, and may be alone larger.
        let byteCount = query.byteCount
        guard byteCount <= Self.objectQueryBytesMax else { return query }
        if objectQueries.count >= Self.objectQueriesMax
            || objectQueryBytes + byteCount > Self.objectQueryBytesMax
        {
            objectQueries.removeAll()
            objectQueryBytes = 0
        }
        objectQueries[shape] = query
        objectQueryBytes += byteCount
        return query
    }

    /// Reads objects of one entity.
    private func read(
        _ identifiers: [PersistentIdentifier], _ query: ObjectQuery, _ bytesLeft: inout Int,
        _ budget: ReadBudget
    ) throws(ReadFailure) -> Batch {
        try read(identifiers, query.statement, &query.decoder, &bytesLeft, budget)
    }

    private func read(
        _ identifiers: [PersistentIdentifier], _ keyed: KeyStatement, _ decoder: inout RowDecoder,
        _ bytesLeft: inout Int, _ budget: ReadBudget
    ) throws(ReadFailure) -> Batch {
        let statement = try session.statement(keyed.sql)
        decoder.begin()
        for identifier in identifiers {
            guard let key = identifier.permanentKey,
                try read(key, keyed, statement, &decoder, budget)
            else { continue }
            for (column, list) in decoder.lists {
                decoder.append(try session.list(list, of: key), at: column)
            }
            guard decoder.byteCount <= bytesLeft else {
                decoder.removeAll(keepingCapacity: false)
                throw .failed(
                    LarderError(
                        .resourceExhausted, "the objects do not fit into one reply",
                        hint: "ask for fewer of them, or for some of their properties"))
            }
        }
        bytesLeft -= decoder.byteCount
        let batch = try decoder.batch()
        if decoder.byteCount > Self.reusedBytesMax { decoder.removeAll(keepingCapacity: false) }
        return batch
    }

    /// Decodes the row of an object, without its lists; false if there is none.
    private func read(
        _ key: Int64, _ keyed: KeyStatement, _ statement: Statement, _ decoder: inout RowDecoder,
        _ budget: ReadBudget
    ) throws(ReadFailure) -> Bool {
        defer { statement.reset() }
        try session.bind(key: key, of: keyed, to: statement)
        guard try session.step(statement) else { return false }
        if let bytesMax = budget.bytesMax,
            decoder.byteCount + decoder.valueBytes(of: statement) > bytesMax
        {
            throw .budgetExceeded
        }
        decoder.append(statement)
        return true
    }

    func releaseMemory() {
        objectQueries.removeAll()
        objectQueryBytes = 0
        lastObjectQuery = nil
        session.releaseMemory()
    }

    func setCacheBytes(_ bytes: Int) throws(LarderError) {
        do throws(SQLError) {
            try session.connection.execute("PRAGMA cache_size = -\(bytes >> 10)")
            session.setStatementBytes(bytes / 4)
        } catch {
            throw error.larderError
        }
    }

    // MARK: Queries

    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget,
        workers: (any ReadWorkers)?
    ) throws(ReadFailure) -> any ResultCursor {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        let opened = try Cursor(session, plan, parameters, workers)
        cursor = opened
        return opened
    }
}
