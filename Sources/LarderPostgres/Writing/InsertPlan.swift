import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// The rows and links of a change set that only inserts objects, before anything is written.
///
/// It refuses, by name, what needs the rules over several changes, which stores in PostgreSQL do
/// not have yet: updates and deletes, and links that change the row of a stored object.
struct InsertPlan {
    /// A row to insert.
    struct Row {
        let entity: Entity
        let key: Int64
        let change: Int
        var values: [String: PostgresValue] = [:]
    }

    /// A pair of a join table, with the positions in the lists of both sides.
    struct Pair {
        let table: String
        let source: Int64
        let target: Int64
        var positions: [String: Int64] = [:]
    }

    /// A relationship of a stored object that changes through its inverse.
    struct StoredChange: Hashable {
        let object: PersistentIdentifier
        let relationship: String
    }

    private(set) var rows: [Row] = []
    private(set) var pairs: [Pair] = []
    /// The stored objects to which the rows are linked.
    private(set) var targets: [PersistentIdentifier] = []
    private(set) var storedChanges: [StoredChange] = []

    private let layout: Layout
    private let store: UUID
    /// The index of the row of each temporary identifier.
    private var inserted: [String: Int] = [:]
    private var pairIndexes: [[Int64]: [String: Int]] = [:]
    /// The next position in lists that the other side appends to, by column and owner.
    private var listCounts: [String: [Int64: Int64]] = [:]

    static let positionGap: Int64 = 1 << 16

    /// - Parameter keys: Those of the inserted objects; fewer after an entity that does not exist.
    init(
        _ set: ChangeSet, _ layout: Layout, store: UUID, keys: [Int64]
    ) throws(LarderError) {
        self.layout = layout
        self.store = store
        try Self.check(set)
        for (index, change) in set.changes.enumerated() {
            guard case .insert(let identifier, _, let edits) = change, edits.isEmpty else {
                throw LarderError.missing("updates, deletes and edits")
            }
            try Self.locating(index) { () throws(LarderError) in
                try check(identifier, index)
            }
            let entity = try layout.schema.existingEntity(named: identifier.entityName)
            rows.append(Row(entity: entity, key: keys[index], change: index))
        }
        for (index, change) in set.changes.enumerated() {
            guard case .insert(_, let values, _) = change else { continue }
            try Self.locating(index) { () throws(LarderError) in
                try assign(values, to: index)
            }
        }
        let linked = linkedKeys
        for row in rows {
            try Self.locating(row.change) { () throws(LarderError) in
                try checkRequired(row, linked)
            }
        }
    }

    private static func check(_ set: ChangeSet) throws(LarderError) {
        if !set.conditions.isEmpty { throw LarderError.missing("conditions of change sets") }
        if set.onUniqueConflict == .upsert {
            throw LarderError.missing("inserts that become updates")
        }
        if !set.idempotencyKey.isEmpty || !set.releasedKeys.isEmpty {
            throw LarderError.missing("idempotency keys")
        }
    }

    /// Adds the index of the change to an error.
    private static func locating(
        _ change: Int, _ body: () throws(LarderError) -> Void
    ) throws(LarderError) {
        do throws(LarderError) { try body() } catch {
            var located = error
            var detail =
                error.details.first ?? ChangeViolation(error.code, error.message, uri: error.uri)
            detail.change = change
            located.details = [detail]
            throw located
        }
    }

    private mutating func check(
        _ identifier: PersistentIdentifier, _ index: Int
    ) throws(LarderError) {
        let entity = try layout.schema.existingEntity(named: identifier.entityName)
        guard !entity.isAbstract else {
            throw LarderError(
                ChangeViolation(
                    .validationFailed, "\(entity.name) is abstract and has no objects of its own",
                    entityName: entity.name, rule: .abstract))
        }
        guard case .temporary(let name) = identifier.key else {
            throw LarderError(.invalidChangeSet, "an insert needs a temporary identifier")
        }
        guard inserted.updateValue(index, forKey: name) == nil else {
            throw LarderError(.invalidChangeSet, "two inserts have the same temporary identifier")
        }
    }

    // MARK: Values

    private mutating func assign(
        _ values: [String: Value], to index: Int
    ) throws(LarderError) {
        let entity = rows[index].entity
        for name in values.keys where entity.property(named: name) == nil {
            throw LarderError(.unknownProperty, "\(entity.name) has no property \(name)")
        }
        for attribute in entity.attributes {
            let given = values[attribute.name]
            let value = given ?? attribute.defaultValue ?? .null
            rows[index].values[layout.column(for: attribute, of: entity)] =
                try Self.stored(value, attribute, of: entity)
        }
        for relationship in entity.relationships {
            guard let value = values[relationship.name] else { continue }
            try assign(value, relationship, index)
        }
    }

    private static func stored(
        _ value: Value, _ attribute: Attribute, of entity: Entity
    ) throws(LarderError) -> PostgresValue {
        let name = "\(entity.name).\(attribute.name)"
        let bounds = attribute.validation
        if bounds.minLength != nil || bounds.maxLength != nil || bounds.pattern != nil {
            throw LarderError.missing("the check of lengths and patterns, as \(name) has one")
        }
        let stored = try SQLValue(storing: value, as: attribute.type, named: name)
        if stored == .null, !attribute.isOptional {
            throw LarderError(
                ChangeViolation(
                    .missingValue, "\(name) is required", entityName: entity.name,
                    propertyNames: [attribute.name], rule: .optional))
        }
        if case .json(let text) = value { try JSONValue.check(text, .never) }
        return PostgresValue(stored, as: attribute.type)
    }

    // MARK: Links

    private mutating func assign(
        _ value: Value, _ relationship: Relationship, _ index: Int
    ) throws(LarderError) {
        let (entity, key) = (rows[index].entity, rows[index].key)
        let name = "\(entity.name).\(relationship.name)"
        if relationship.minCount > 0 || relationship.maxCount > 0 {
            throw LarderError.missing("the check of counts, as \(name) has one")
        }
        let others = try Self.objects(value, relationship, name)
        guard Set(others).count == others.count else {
            throw LarderError(.invalidChangeSet, "\(name) names an object twice")
        }
        for (place, other) in others.enumerated() {
            let end = try self.end(other, relationship, name)
            switch layout.link(for: relationship, of: entity) {
            case .column(let table, let column):
                try link(
                    index, column, to: end.key, relationship, in: table, end,
                    isOwnInverse: relationship.inverse == relationship.name)
            case .inverseColumn(_, let column, let positionColumn):
                guard let row = end.row else {
                    throw LarderError.missing("changes of the links of stored objects")
                }
                try set(column, .integer(key), in: row, name)
                if let positionColumn {
                    rows[row].values[positionColumn] =
                        .integer(Int64(place) * Self.positionGap)
                }
            case .join(let table, let own, _, let positionColumn):
                let isSource = own == Layout.sourceColumn
                let isOwnInverse = relationship.inverse == relationship.name
                try pair(
                    table, isSource ? key : end.key, isSource ? end.key : key,
                    positionColumn.map { [$0: Int64(place) * Self.positionGap] } ?? [:])
                if isOwnInverse { try pair(table, end.key, key, [:]) }
                try recordInverse(of: relationship, end)
            }
        }
    }

    private typealias End = (key: Int64, row: Int?, stored: PersistentIdentifier?)

    /// The other end of a link.
    private mutating func end(
        _ identifier: PersistentIdentifier, _ relationship: Relationship, _ name: String
    ) throws(LarderError) -> End {
        let entity = try layout.schema.existingEntity(named: identifier.entityName)
        guard layout.schema.isKind(entity.name, of: relationship.destination) else {
            throw LarderError(
                .wrongType,
                "\(name) takes an object of \(relationship.destination), not of \(entity.name)")
        }
        switch identifier.key {
        case .temporary(let name):
            guard let row = inserted[name] else {
                throw LarderError(
                    .invalidChangeSet,
                    "a relationship names \(identifier.uriRepresentation), "
                        + "which the set does not insert")
            }
            return (rows[row].key, row, nil)
        case .permanent(let key):
            guard identifier.store == store else {
                throw LarderError(
                    .foreignIdentifier, "\(identifier.uriRepresentation) is of another store")
            }
            targets.append(identifier)
            return (key, nil, identifier)
        }
    }

    /// Sets a to-one whose key is in the row.
    private mutating func link(
        _ index: Int, _ column: String, to key: Int64, _ relationship: Relationship,
        in table: String, _ end: End, isOwnInverse: Bool
    ) throws(LarderError) {
        let name = "\(rows[index].entity.name).\(relationship.name)"
        if layout.isOneToOne(relationship) {
            guard let row = end.row else {
                throw LarderError.missing("changes of the links of stored objects")
            }
            if isOwnInverse { try set(column, .integer(rows[index].key), in: row, name) }
        }
        try set(column, .integer(key), in: index, name)
        guard let position = layout.positionColumn(of: relationship, column) else {
            return try recordInverse(of: relationship, end)
        }
        guard end.row != nil else {
            throw LarderError.missing("changes of the lists of stored objects")
        }
        guard rows[index].values[position] == nil else { return }
        let count = listCounts["\(table).\(column)", default: [:]][key, default: 0]
        listCounts["\(table).\(column)", default: [:]][key] = count + 1
        rows[index].values[position] = .integer(count * Self.positionGap)
    }

    /// Sets a key. Both sides of a link may name it.
    private mutating func set(
        _ column: String, _ key: PostgresValue, in row: Int, _ name: String
    ) throws(LarderError) {
        if let known = rows[row].values[column], known != key {
            throw LarderError.missing("relationships whose sides are set differently, as \(name)")
        }
        rows[row].values[column] = key
    }

    private mutating func pair(
        _ table: String, _ source: Int64, _ target: Int64, _ positions: [String: Int64]
    ) throws(LarderError) {
        if let index = pairIndexes[[source, target]]?[table] {
            pairs[index].positions.merge(positions) { _, new in new }
            return
        }
        pairIndexes[[source, target], default: [:]][table] = pairs.count
        pairs.append(Pair(table: table, source: source, target: target, positions: positions))
    }

    private mutating func recordInverse(of relationship: Relationship, _ end: End)
        throws(LarderError)
    {
        guard let object = end.stored,
            let inverse = Layout.inverse(of: relationship, in: layout.schema)
        else { return }
        if inverse.isOrdered { throw LarderError.missing("changes of the lists of stored objects") }
        storedChanges.append(StoredChange(object: object, relationship: inverse.name))
    }

    private static func objects(
        _ value: Value, _ relationship: Relationship, _ name: String
    ) throws(LarderError) -> [PersistentIdentifier] {
        switch value {
        case .objects(let list) where relationship.isToMany: return list
        case .object(let object) where !relationship.isToMany: return [object]
        case .null where !relationship.isToMany: return []
        default:
            throw LarderError(
                .wrongType,
                relationship.isToMany
                    ? "\(name) takes a list of \(relationship.destination) objects"
                    : "\(name) takes an object of \(relationship.destination)")
        }
    }

    // MARK: Completion

    /// By column, the keys that rows or pairs have in it.
    private var linkedKeys: [String: Set<Int64>] {
        var linked: [String: Set<Int64>] = [:]
        for row in rows {
            for case (let column, .integer(let key)) in row.values {
                linked[column, default: []].insert(key)
            }
        }
        for pair in pairs {
            linked["\(pair.table) \(Layout.sourceColumn)", default: []].insert(pair.source)
            linked["\(pair.table) \(Layout.targetColumn)", default: []].insert(pair.target)
        }
        return linked
    }

    private func checkRequired(
        _ row: Row, _ linked: [String: Set<Int64>]
    ) throws(LarderError) {
        for relationship in row.entity.relationships where !relationship.isOptional {
            let isLinked =
                switch layout.link(for: relationship, of: row.entity) {
                case .column(_, let column): row.values[column] != nil
                case .inverseColumn(_, let column, _): linked[column]?.contains(row.key) == true
                case .join(let table, let own, _, _):
                    linked["\(table) \(own)"]?.contains(row.key) == true
                }
            guard !isLinked else { continue }
            let name = "\(row.entity.name).\(relationship.name)"
            throw LarderError(
                ChangeViolation(
                    .missingValue, "\(name) is required", entityName: row.entity.name,
                    propertyNames: [relationship.name], rule: .optional))
        }
    }

    /// The pairs with a position in each ordered list: a list to which only the other side adds
    /// gets the order of the changes.
    func positions(of pair: Pair, _ columns: Set<String>, _ counts: inout [String: Int64]) -> Pair {
        var complete = pair
        for column in columns where pair.positions[column] == nil {
            let isSource = column == "\(Layout.sourceColumn)_position"
            let owner = "\(pair.table) \(column) \(isSource ? pair.target : pair.source)"
            complete.positions[column] = counts[owner, default: 0] * Self.positionGap
            counts[owner, default: 0] += 1
        }
        return complete
    }
}
