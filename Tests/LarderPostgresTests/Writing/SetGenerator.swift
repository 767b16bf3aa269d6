#if PostgreSQL
import Foundation
import LarderModel
import LarderQuery
import TestSupport

/// Makes random change sets of any schema: valid ones, and such with errors of every rule.
struct SetGenerator {
    var random: SeededGenerator
    let schema: Schema
    let store: UUID
    /// The objects that are stored, by entity.
    var stored: [String: [Int64]] = [:]
    /// The temporary identifiers of the set.
    private var new: [PersistentIdentifier] = []

    init(_ schema: Schema, store: UUID, _ random: SeededGenerator) {
        self.schema = schema
        self.store = store
        self.random = random
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.randomElement(using: &random)
    }

    mutating func request() -> SaveRequest {
        var request = SaveRequest(set(), digest: chance(4) ? 1 : 2)
        request.source = ChangeSource(
            userIdentifier: chance(2) ? 7 : nil, processIdentifier: nil,
            clientName: chance(2) ? "client" : "")
        return request
    }

    private mutating func set() -> ChangeSet {
        new = []
        var set = ChangeSet()
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            guard let entity = pick(schema.entities) else { continue }
            if !entity.isAbstract || chance(20), chance(2) {
                let identifier = PersistentIdentifier(
                    temporary: "n\(new.count)", entityName: entity.name)
                new.append(identifier)
            }
        }
        for identifier in new {
            if let change = change() { set.changes.append(change) }
            set.changes.append(insert(identifier))
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            if let change = change() { set.changes.append(change) }
        }
        if chance(4) { set.onUniqueConflict = .upsert }
        if chance(3) { set.mergePolicy = pick(MergePolicy.allCases) ?? .error }
        if chance(12), let condition = condition() { set.conditions = [condition] }
        if chance(3) { set.author = "author" }
        if chance(6) { set.idempotencyKey = pick(["k", "l", "m"]) ?? "" }
        if chance(10) { set.releasedKeys = ["k"] }
        if chance(15) { set.isDryRun = true }
        return set
    }

    // MARK: - Changes

    private mutating func insert(_ identifier: PersistentIdentifier) -> Change {
        guard let entity = schema.entity(named: identifier.entityName) else {
            return .insert(identifier, values: [:])
        }
        var values: [String: Value] = [:]
        for attribute in entity.attributes where !attribute.isDerived || chance(60) {
            guard attribute.isOptional ? chance(2) : !chance(25) else { continue }
            values[attribute.name] = value(of: attribute)
        }
        for relationship in entity.relationships {
            guard relationship.isOptional ? chance(3) : !chance(15) else { continue }
            values[relationship.name] = value(of: relationship)
        }
        return .insert(identifier, values: values, edits: edits(of: entity, except: values))
    }

    private mutating func change() -> Change? {
        guard let entity = pick(schema.entities) else { return nil }
        if chance(8) { return bulkChange(of: entity) }
        guard let object = object(of: entity.name) else { return nil }
        let ifVersion = chance(6) ? Int64.random(in: 1...3, using: &random) : nil
        if chance(5) { return .delete(object, ifVersion: ifVersion) }
        var values: [String: Value] = [:]
        var base: [String: Value] = [:]
        for attribute in entity.attributes where !attribute.isDerived && chance(3) {
            values[attribute.name] = value(of: attribute)
            if chance(6) { base[attribute.name] = value(of: attribute) }
        }
        for relationship in entity.relationships where chance(5) {
            values[relationship.name] = value(of: relationship)
            if chance(6) { base[relationship.name] = value(of: relationship) }
        }
        return .update(
            object, ifVersion: ifVersion, values: values, base: base,
            edits: edits(of: entity, except: values))
    }

    private mutating func edits(
        of entity: Entity, except values: [String: Value]
    ) -> [RelationshipEdit] {
        var edits: [RelationshipEdit] = []
        for relationship in entity.relationships
        where relationship.isToMany && values[relationship.name] == nil && chance(5) {
            let objects = objects(of: relationship.destination)
            let point = point(in: relationship)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: edits.append(.add(objects, to: relationship.name, at: point))
            case 1: edits.append(.remove(objects, from: relationship.name))
            default:
                guard relationship.isOrdered else { continue }
                edits.append(.move(objects, in: relationship.name, to: point))
            }
        }
        return edits
    }

    private mutating func point(in relationship: Relationship) -> RelationshipPosition {
        guard relationship.isOrdered else { return .last }
        let neighbor = object(of: relationship.destination)
        switch (Int.random(in: 0..<5, using: &random), neighbor) {
        case (0, _): return .first
        case (1, _): return .index(Int64.random(in: 0...3, using: &random))
        case (2, let neighbor?): return .before(neighbor)
        case (3, let neighbor?): return .after(neighbor)
        default: return .last
        }
    }

    private mutating func bulkChange(of entity: Entity) -> Change? {
        guard let selection = selection(of: entity) else { return nil }
        if chance(4) { return .deleteAll(selection) }
        var assignments: [PropertyAssignment] = []
        for attribute in entity.attributes where !attribute.isDerived && chance(4) {
            let isInteger = [.int16, .int32, .int64].contains(attribute.type)
            assignments.append(
                isInteger && chance(2)
                    ? PropertyAssignment(attribute.name, .format("\(attribute.name) + 1"))
                    : PropertyAssignment(attribute.name, to: value(of: attribute)))
        }
        for relationship in entity.relationships where !relationship.isToMany && chance(4) {
            assignments.append(PropertyAssignment(relationship.name, to: value(of: relationship)))
        }
        return assignments.isEmpty ? nil : .updateAll(selection, set: assignments)
    }

    private mutating func selection(of entity: Entity) -> ObjectSelection? {
        var selection = ObjectSelection(entity.name, wantsIdentifiers: chance(2))
        selection.includesSubentities = !chance(4)
        let compared = entity.attributes.filter { $0.type != .json && $0.type != .data }
        let toOnes = entity.relationships.filter { !$0.isToMany }
        if let attribute = pick(compared), chance(2) {
            selection.predicate = .format("\(attribute.name) == %@")
            selection.arguments = [.value(valid(attribute.type))]
        } else if let relationship = pick(toOnes), chance(2) {
            selection.predicate = .format("\(relationship.name) != nil")
        }
        if chance(3) {
            selection.limit = 2
            if let attribute = pick(compared) { selection.sort = [SortKey(attribute.name)] }
        }
        return selection
    }

    private mutating func condition() -> ChangeSet.Condition? {
        guard let entity = pick(schema.entities), var selection = selection(of: entity)
        else { return nil }
        (selection.limit, selection.sort, selection.wantsIdentifiers) = (nil, [], false)
        return ChangeSet.Condition(selection, count: Int64.random(in: 0...2, using: &random))
    }

    // MARK: - Values

    private mutating func value(of attribute: Attribute) -> Value {
        if chance(30) { return .null }
        if chance(60) { return .string("wrong") }
        return valid(attribute.type)
    }

    private mutating func valid(_ type: AttributeType) -> Value {
        let number = Int64.random(in: 0...9, using: &random)
        switch type {
        case .bool: return .bool(number < 5)
        case .int16, .int32, .int64: return .int(chance(20) ? 40_000 : chance(20) ? -1 : number)
        case .float: return .float(Float(number) / 10)
        case .double: return .double(Double(number) / 10)
        case .decimal: return .decimal(Decimal(number) / 8 - 1)
        case .string: return .string(pick(["a", "b", "c", "AB", "ABC", "é", "", "'\\\"$1?"]) ?? "")
        case .url: return .url(URL(string: "https://a.example/\(number)") ?? URL(filePath: "/"))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) + 0.123456789))
        case .uuid:
            let text = "00000000-0000-0000-0000-00000000000\(number)"
            return .uuid(UUID(uuidString: text) ?? UUID())
        case .data: return .data(Data([0, UInt8(number), 255]))
        case .json: return .json(chance(10) ? "{" : "{\"a\": [\(number), 2.50]}")
        }
    }

    private mutating func value(of relationship: Relationship) -> Value {
        if relationship.isToMany { return .objects(objects(of: relationship.destination)) }
        guard !chance(6), let object = object(of: relationship.destination) else { return .null }
        return .object(object)
    }

    private mutating func objects(of entityName: String) -> [PersistentIdentifier] {
        var objects: [PersistentIdentifier] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard let object = object(of: entityName) else { continue }
            if !objects.contains(object) || chance(40) { objects.append(object) }
        }
        return objects
    }

    /// An object of an entity or one that inherits from it: stored, new, or rarely neither.
    private mutating func object(of entityName: String) -> PersistentIdentifier? {
        let names = [entityName] + schema.subentities(of: entityName).map(\.name)
        let fresh = new.filter { names.contains($0.entityName) }
        if chance(4), let object = pick(fresh) { return object }
        guard let name = pick(names) else { return nil }
        guard let key = pick(stored[name] ?? []) else { return nil }
        // An object of another entity of the table, or one that was deleted, or none.
        let shown = chance(60) ? Int64.random(in: 1...key, using: &random) : key
        return PersistentIdentifier(store: store, entityName: name, key: shown)
    }
}
#endif
