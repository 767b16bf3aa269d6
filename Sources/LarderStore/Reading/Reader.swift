import LarderModel

/// Answers questions on a connection of its own.
///
/// Used from one thread at a time. It serves one cursor at a time, which holds the snapshot that
/// it reads; a call to ``objects(_:properties:budget:)`` has a snapshot of its own.
final class Reader: StoreReader {
    let session: ReadSession
    let converter: ValueConverter
    private var objectStatements: [ObjectStatement.Shape: ObjectStatement] = [:]
    private var lastObjectStatement: ObjectStatement?
    private weak var cursor: Cursor?

    private static let objectStatementsMax = 256
    /// Past it the memory of a batch is not kept for the next read of such objects.
    private static let keptBytesMax = 16 << 10
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
        do throws(LarderError) { try check(identifiers) } catch { throw .failed(error) }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        guard let first = identifiers.first else { return [] }
        let statement = try objectStatement(first, properties)
        // A single statement is a snapshot by itself.
        let needsSnapshot = identifiers.count > 1 || !statement.decoder.lists.isEmpty
        if needsSnapshot { try session.beginSnapshot() }
        defer { if needsSnapshot { session.endSnapshot() } }
        var bytesLeft = Self.objectBytesMax
        // As a rule they are of one entity.
        if identifiers.allSatisfy({ $0.entityName == first.entityName }) {
            return [try read(identifiers, statement, &bytesLeft)]
        }
        var batches: [Batch] = []
        for group in Self.byEntity(identifiers) {
            let statement = try objectStatement(group[0], properties)
            batches.append(try read(group, statement, &bytesLeft))
        }
        return batches
    }

    func mark(of object: PersistentIdentifier, properties: [String]?) -> ObjectMark? {
        guard let key = object.permanentKey,
            let statement = try? objectStatement(object, properties), statement.isOfObjectAlone
        else { return nil }
        return session.stamps.stamp(ofKey: key)
    }

    private func check(_ identifiers: [PersistentIdentifier]) throws(LarderError) {
        guard identifiers.count <= Limits.identifiersMax else {
            throw LarderError(
                .resourceExhausted, "\(Limits.identifiersMax) objects at most are read at once")
        }
        for identifier in identifiers { _ = try converter.key(of: identifier) }
    }

    /// The same identifiers, those of one entity together, in the order in which entities occur.
    private static func byEntity(
        _ identifiers: [PersistentIdentifier]
    ) -> [[PersistentIdentifier]] {
        var groups: [[PersistentIdentifier]] = []
        var places: [String: Int] = [:]
        for identifier in identifiers {
            let place = places[identifier.entityName, default: groups.count]
            if place == groups.count {
                places[identifier.entityName] = place
                groups.append([])
            }
            groups[place].append(identifier)
        }
        return groups
    }

    private func objectStatement(
        _ identifier: PersistentIdentifier, _ properties: [String]?
    ) throws(ReadFailure) -> ObjectStatement {
        let shape = ObjectStatement.Shape(
            entityName: identifier.entityName, properties: properties)
        // As a rule the same is asked again and again.
        if let last = lastObjectStatement, last.shape == shape { return last }
        var statement = objectStatements[shape]
        if statement == nil { statement = try makeObjectStatement(shape, identifier) }
        guard let statement else { preconditionFailure("it was there or has been made") }
        lastObjectStatement = statement
        return statement
    }

    private func makeObjectStatement(
        _ shape: ObjectStatement.Shape, _ identifier: PersistentIdentifier
    ) throws(ReadFailure) -> ObjectStatement {
        do throws(LarderError) {
            _ = try QueryResolver.entity(named: shape.entityName, in: session.layout.schema)
        } catch {
            var named = error
            named.uri = identifier.uriRepresentation
            throw .failed(named)
        }
        let statement = try ObjectStatement(shape, session, converter)
        if objectStatements.count >= Self.objectStatementsMax { objectStatements.removeAll() }
        objectStatements[shape] = statement
        return statement
    }

    /// Reads objects of one entity.
    private func read(
        _ identifiers: [PersistentIdentifier], _ statement: ObjectStatement,
        _ bytesLeft: inout Int
    ) throws(ReadFailure) -> Batch {
        let decoder = statement.decoder
        decoder.begin()
        for identifier in identifiers {
            guard let key = identifier.permanentKey, try statement.read(key, session) else {
                continue
            }
            for (column, list) in decoder.lists {
                decoder.append(try session.list(list.sqlText, of: key, list), at: column)
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
        defer {
            if decoder.byteCount > Self.keptBytesMax { decoder.removeAll(keepingCapacity: false) }
        }
        return decoder.batch
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
