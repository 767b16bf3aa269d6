import LarderModel
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Compares random change sets under every rule with a simple model of their results:
/// the same objects, or the same errors.
@Suite("random change sets under rules")
final class RandomRuleTests {
    private typealias Key = ObjectModel.Key

    private let library: Library
    private var random = SeededGenerator.fromEnvironment("change sets under rules")
    /// The state of the store, and the state after the set that is being generated.
    private var before: RuleModel
    private var model: RuleModel
    private var set = ChangeSet()
    private var inserted: [Key] = []
    /// The indexes of inserts that update existing objects.
    private var upserted: [Int] = []
    private var deletedCount: Int64 = 0
    /// The temporary identifiers of objects that upserts of the set update.
    private var aliases: [Key: String] = [:]
    private var new: Set<Key> = []
    private var named: Set<Key> = []
    private let cached: CachedResults

    init() throws {
        library = try Library(schema: League.schema())
        cached = try CachedResults(library.store)
        before = RuleModel(library.store.layout.schema)
        model = before
    }

    @Test("random change sets under rules leave the store equal to the model, or fail like it")
    func agreement() throws {
        var (saved, refused) = (0, 0)
        for _ in 0..<RandomTesting.iterations(200) {
            repeat { try makeSet() } while model.isUndecided
            model.check()
            let outcome = library.writer.save([set])[0]
            switch outcome {
            case .success(let result):
                saved += 1
                try #require(model.violations == [], "seed \(random.seed)")
                #expect(
                    result.inserted == inserted.map { library.identifier($0.entity, $0.key) })
                #expect(result.upserted == upserted)
                #expect(result.deletedCount == deletedCount)
                try checkHistory(result.transaction)
                before = model
            case .failure(let error):
                refused += 1
                let violations = Set(error.details.map(RuleModel.description))
                try #require(violations == model.violations, "seed \(random.seed)")
            }
            try compare()
            try cached.check(&random)
        }
        #expect(saved > 20 && refused > 20)
    }

    // MARK: - Generating a set

    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private func makeSet() throws {
        model = before
        model.objects.deniedDeletes = []
        (inserted, upserted, deletedCount, aliases, new, named) = ([], [], 0, [:], [], [])
        set = ChangeSet(
            onUniqueConflict: chance(2) ? .upsert : .error,
            mergePolicy: MergePolicy.allCases.randomElement(using: &random) ?? .error)
        let entityNames = ["League", "Team", "Team", "Team", "Player", "Player", "Mascot"]
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let name = (entityNames + ["Badge", "Sponsor"]).randomElement(using: &random) ?? "Team"
            let existing = model.objects.objects(name).filter {
                !new.contains($0) && !named.contains($0)
            }
            let object = existing.randomElement(using: &random)
            switch (Int.random(in: 0..<10, using: &random), object) {
            case (0..<4, _), (_, nil): insert(name)
            case (4..<8, let object?): try update(object)
            case (_, let object?): try delete(object)
            }
        }
    }

    private func insert(_ entityName: String) {
        let object = model.objects.insert(entityName)
        model.objects.forget(object)
        let name = "n\(set.changes.count)"
        let given = values(of: entityName)
        let links = links(of: entityName)
        set.changes.append(
            .insert(.new(name, entityName), values: given.merging(wire(links)) { $1 }))
        let values = model.accepted(given, of: object)
        let matches =
            set.onUniqueConflict == .upsert ? model.matches(entityName, values, links) : []
        if Set(matches.map(\.object)).count > 1 {
            let names = matches.flatMap(\.names).joined(separator: ",")
            model.violations.insert("\(entityName).\(names) unique")
            return
        }
        let meant = matches.first?.object ?? object
        if meant == object {
            model.objects.restore(object)
            new.insert(object)
        } else {
            upserted.append(inserted.count)
        }
        aliases[meant] = name
        inserted.append(meant)
        model.write(values, links, to: meant)
    }

    private func update(_ object: Key) throws {
        named.insert(object)
        var given = values(of: object.entity)
        var links = links(of: object.entity)
        let (ifVersion, base, isConflict, changed) = try expectation(object, given, links)
        set.changes.append(
            .update(
                identifier(object), ifVersion: ifVersion,
                values: given.merging(wire(links)) { $1 }, base: base))
        given = model.accepted(given, of: object)
        if isConflict {
            switch set.mergePolicy {
            case .error:
                model.violations.insert("\(object.entity). version")
                return
            case .rollback: return
            case .callerWins: break
            case .storeWins:
                given = given.filter { !changed.contains($0.key) }
                links = links.filter { !changed.contains($0.key) }
            case .overwrite: given = base.merging(given) { $1 }
            }
        }
        model.write(given, links, to: object)
    }

    private func delete(_ object: Key) throws {
        named.insert(object)
        let version = try library.version(identifier(object)) ?? 0
        let isConflict = chance(4)
        set.changes.append(
            .delete(identifier(object), ifVersion: isConflict ? version - 1 : version))
        if isConflict {
            switch set.mergePolicy {
            case .error:
                model.violations.insert("\(object.entity). version")
                return
            case .storeWins, .rollback: return
            case .callerWins, .overwrite: break
            }
        }
        deletedCount += model.delete(object)
    }

    /// The base of an update, whether the store differs from it, and in which properties.
    private func expectation(
        _ object: Key, _ given: [String: Value], _ links: [String: [Key]]
    ) throws -> (version: Int64?, base: [String: Value], isConflict: Bool, changed: Set<String>) {
        let kind = Int.random(in: 0..<4, using: &random)
        guard kind > 0 else { return (nil, [:], false, []) }
        var base: [String: Value] = [:]
        var changed: Set<String> = []
        for name in object.entity == "Team" ? ["name", "number", "motto"] : [] {
            let stored = before.attributes[object]?[name] ?? .null
            base[name] = stored
            guard chance(3) else { continue }
            base[name] = name == "number" ? .int(8) : .string("other")
            if base[name] != stored { changed.insert(name) }
        }
        // A key that a deleted object left cannot be set again.
        for name in links.keys.sorted() where set.mergePolicy != .overwrite {
            let relationship = model.objects.relationships(object.entity).first { $0.name == name }
            let stored = before.objects.destinations(object, name)
            guard let relationship else { continue }
            base[name] = wire(relationship, stored.map { identifier($0) })
            guard chance(3), !stored.isEmpty else { continue }
            base[name] = relationship.isToMany ? .objects([]) : .null
            changed.insert(name)
        }
        let version = try #require(try library.version(identifier(object)))
        switch kind {
        case 1: return (version, base, false, changed)
        case 2: return (version - 1, base, true, changed)
        default: return (nil, base, !changed.isEmpty, changed)
        }
    }

    private func values(of entityName: String) -> [String: Value] {
        guard entityName == "Team" else { return [:] }
        var values: [String: Value] = [:]
        if chance(2) { values["name"] = .string("\(Int.random(in: 0..<6, using: &random))") }
        if chance(2) {
            values["number"] = .int(chance(20) ? 10 : .random(in: 0...3, using: &random))
        }
        if chance(3) { values["motto"] = .string(chance(2) ? "m" : "n") }
        if chance(8) { values["name"] = .null }
        return values
    }

    private func links(of entityName: String) -> [String: [Key]] {
        var links: [String: [Key]] = [:]
        for relationship in model.objects.relationships(entityName) {
            let isNeeded = !relationship.isOptional && !chance(10)
            guard isNeeded || chance(3) else { continue }
            let candidates = model.objects.objects(relationship.destination)
                .shuffled(using: &random)
            let count = relationship.isToMany ? Int.random(in: 0...3, using: &random) : 1
            // nil in a required to-one is an error of another kind.
            if !relationship.isToMany && (candidates.isEmpty || chance(6)) {
                if relationship.isOptional { links[relationship.name] = [] }
                continue
            }
            links[relationship.name] = Array(candidates.prefix(isNeeded ? max(1, count) : count))
        }
        return links
    }

    private func wire(_ links: [String: [Key]]) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, targets) in links {
            let all = before.objects.schema.entities.flatMap(\.relationships)
            guard let relationship = all.first(where: { $0.name == name }) else { continue }
            values[name] = wire(
                relationship,
                targets.map { key in
                    aliases[key].map { .new($0, key.entity) } ?? identifier(key)
                })
        }
        return values
    }

    private func wire(
        _ relationship: Relationship, _ identifiers: [PersistentIdentifier]
    ) -> Value {
        relationship.isToMany
            ? .objects(identifiers) : identifiers.first.map { .object($0) } ?? .null
    }

    private func identifier(_ object: Key) -> PersistentIdentifier {
        library.identifier(object.entity, object.key)
    }

    // MARK: - Comparing

    private func checkHistory(_ transaction: Int64?) throws {
        var difference = RecordedChanges(from: before.objects, to: model.objects)
        for (object, values) in model.attributes
        where before.exists(object) && model.exists(object) {
            let known = before.attributes[object] ?? [:]
            let names = ["name", "motto"].filter { values[$0] ?? .null != known[$0] ?? .null }
            if !names.isEmpty { difference.updated[object, default: []].formUnion(names) }
        }
        let recorded = RecordedChanges(try transaction.map { try library.history($0) } ?? [])
        try #require(
            recorded.covers(difference), "\(recorded), \(difference), seed \(random.seed)")
    }

    private func compare() throws {
        for entity in before.objects.schema.entities {
            let objects = before.objects.objects(entity.name)
            try #require(
                try library.rows("SELECT _id FROM \(name: entity.name) ORDER BY _id")
                    == objects.map { [.integer($0.key)] }, "seed \(random.seed)")
            for object in objects {
                for relationship in entity.relationships {
                    var stored = try library.keys(identifier(object), relationship.name)
                    var expected = before.objects.destinations(object, relationship.name)
                        .map(\.key)
                    if !relationship.isOrdered {
                        stored.sort()
                        expected.sort()
                    }
                    try #require(
                        stored == expected,
                        "\(entity.name) \(object.key) \(relationship.name), seed \(random.seed)")
                }
                guard entity.name == "Team" else { continue }
                for name in ["name", "motto"] {
                    let value = before.attributes[object]?[name] ?? .null
                    let expected: SQLValue =
                        if case .string(let text) = value { .text(text) } else { .null }
                    try #require(
                        try library.value(identifier(object), name) == expected,
                        "seed \(random.seed)")
                }
            }
        }
    }
}
