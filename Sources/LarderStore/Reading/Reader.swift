import LarderModel

/// Answers questions on a connection of its own.
///
/// Used from one thread at a time. It serves one cursor at a time, which holds the snapshot that
/// it reads; a call to ``objects(_:properties:budget:)`` has a snapshot of its own.
final class Reader: StoreReader {
    let session: ReadSession
    let converter: ValueConverter
    private var objectStatements: [ObjectStatement.Shape: ObjectStatement] = [:]
    private weak var cursor: Cursor?

    private static let objectStatementsMax = 1_024
    /// What is read of objects at once has to fit into one reply.
    private static let objectBytesMax = Limits.frameBytesMax

    init(_ store: Store) throws(LarderError) {
        session = try ReadSession(store)
        converter = store.valueConverter
    }

    // MARK: Objects by identifier

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch] {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        var groups: [ObjectGroup] = []
        do throws(LarderError) {
            try group(identifiers, properties, into: &groups)
        } catch {
            throw .failed(error)
        }
        // A single statement is a snapshot by itself.
        let needsSnapshot =
            identifiers.count > 1 || groups.contains { !$0.statement.decoder.lists.isEmpty }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        if needsSnapshot { try session.beginSnapshot() }
        defer { if needsSnapshot { session.endSnapshot() } }
        var bytesLeft = Self.objectBytesMax
        var batches: [Batch] = []
        for group in groups { batches.append(try read(group, &bytesLeft)) }
        return batches
    }

    /// The keys asked of one entity, and the statement that reads them.
    private struct ObjectGroup {
        let statement: ObjectStatement
        var keys: [Int64]
    }

    private func group(
        _ identifiers: [PersistentIdentifier], _ properties: [String]?,
        into groups: inout [ObjectGroup]
    ) throws(LarderError) {
        guard identifiers.count <= Limits.identifiersMax else {
            throw LarderError(
                .resourceExhausted, "\(Limits.identifiersMax) objects at most are read at once")
        }
        var places: [String: Int] = [:]
        for identifier in identifiers {
            let key = try converter.key(of: identifier)
            if let place = places[identifier.entityName] {
                groups[place].keys.append(key)
            } else {
                let statement = try objectStatement(identifier.entityName, properties)
                places[identifier.entityName] = groups.count
                groups.append(ObjectGroup(statement: statement, keys: [key]))
            }
        }
    }

    private func objectStatement(
        _ entityName: String, _ properties: [String]?
    ) throws(LarderError) -> ObjectStatement {
        let shape = ObjectStatement.Shape(entityName: entityName, properties: properties)
        if let known = objectStatements[shape] { return known }
        let statement = try ObjectStatement(shape, layout: session.layout, converter: converter)
        if objectStatements.count >= Self.objectStatementsMax { objectStatements.removeAll() }
        objectStatements[shape] = statement
        return statement
    }

    private func read(_ group: ObjectGroup, _ bytesLeft: inout Int) throws(ReadFailure) -> Batch {
        let session = session
        let statement = try session.statement(group.statement.text)
        defer { statement.reset() }
        var decoder = group.statement.decoder
        let lists = decoder.lists.map {
            (column: $0.column, text: $0.list.sqlText, list: $0.list)
        }
        for key in group.keys {
            statement.reset()
            try session.bind([.integer(key)], to: statement)
            guard try session.step(statement) else { continue }
            decoder.append(statement)
            for list in lists {
                let keys = try session.list(list.text, of: key, list.list)
                decoder.append(keys, at: list.column)
            }
            guard decoder.byteCount <= bytesLeft else {
                throw .failed(
                    LarderError(
                        .resourceExhausted, "the objects do not fit into one reply",
                        hint: "ask for fewer of them, or for some of their properties"))
            }
        }
        bytesLeft -= decoder.byteCount
        return decoder.takeBatch()
    }

    // MARK: Queries

    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> any ResultCursor {
        precondition(cursor?.isOpen != true, "one cursor at a time")
        guard let plan = plan as? ReadPlan else { preconditionFailure("a plan of another store") }
        let opened = try Cursor(session, plan, parameters)
        cursor = opened
        return opened
    }
}
