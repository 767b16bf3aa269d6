import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore

/// Applies random change sets over every kind of relationship. After each of them the stored
/// values are those that a query computes.
@Suite("random change sets and derived attributes")
final class RandomDerivationTests {
    private static let setCount = RandomTesting.iterations(150)
    private static let entityNames = [
        "Article", "Article", "Article", "Category", "Collection", "Tag", "Cover", "Shelf",
    ]

    private let library: Library
    private var random = SeededGenerator.fromEnvironment("derived attributes")
    private var nameCount = 0
    private var savedCount = 0

    private let cached: CachedResults

    init() throws {
        library = try Library(schema: Newsroom.schema())
        cached = try CachedResults(library.store)
    }

    @Test("random change sets leave derived attributes equal to their queries")
    func agreement() throws {
        var before = try library.derivedValues().stored
        for _ in 0..<Self.setCount {
            let set = try changeSet()
            let outcome = library.writer.save([set])[0]
            let (after, computed) = try library.derivedValues()
            try #require(after == computed, "seed \(random.seed), \(set)")
            switch outcome {
            case .success(let result):
                savedCount += 1
                try checkHistory(result.transaction, before, after)
            case .failure: try #require(after == before, "seed \(random.seed)")
            }
            before = after
            try cached.check(&random)
        }
        // Rejected sets test little.
        #expect(savedCount > Self.setCount / 2, "seed \(random.seed)")
        let report = try library.store.makeReader().check(budget: ReadBudget())
        #expect(report.findings == [], "seed \(random.seed)")
    }

    // MARK: - Generating changes

    private func changeSet() throws -> ChangeSet {
        var set = ChangeSet(
            onUniqueConflict: Bool.random(using: &random) ? .upsert : .error,
            mergePolicy: MergePolicy.allCases.randomElement(using: &random) ?? .error)
        var known: [String: [PersistentIdentifier]] = [:]
        for entity in library.store.layout.schema.entities {
            known[entity.name] = try library.rows("SELECT _id FROM \(name: entity.name)").compactMap
            {
                if case .integer(let key) = $0[0] {
                    library.identifier(entity.name, key)
                } else {
                    nil
                }
            }
        }
        var used: Set<PersistentIdentifier> = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard let entityName = Self.entityNames.randomElement(using: &random) else { continue }
            let object = known[entityName]?.randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                nameCount += 1
                let inserted = PersistentIdentifier.new("n\(nameCount)", entityName)
                let values = values(of: entityName, known, isInsert: true)
                known[entityName, default: []].append(inserted)
                set.changes.append(.insert(inserted, values: values))
            case 4..<11:
                guard let object, object.store != nil, used.insert(object).inserted else {
                    continue
                }
                let values = values(of: entityName, known, isInsert: false)
                set.changes.append(
                    .update(object, ifVersion: nil, values: values, base: base(values)))
            default:
                guard let object, object.store != nil, used.insert(object).inserted else {
                    continue
                }
                set.changes.append(.delete(object, ifVersion: nil))
            }
        }
        return set
    }

    /// Sometimes a wrong base, so that merge policies take effect.
    private func base(_ values: [String: Value]) -> [String: Value] {
        guard Int.random(in: 0..<4, using: &random) == 0, values["wordCount"] != nil,
            values.count == 1
        else { return [:] }
        return ["wordCount": .int(Int64.random(in: 0...3, using: &random))]
    }

    private func values(
        of entityName: String, _ known: [String: [PersistentIdentifier]], isInsert: Bool
    ) -> [String: Value] {
        guard let entity = library.store.layout.schema.entity(named: entityName) else { return [:] }
        var values: [String: Value] = [:]
        for attribute in entity.attributes where !attribute.isDerived {
            let isNeeded = isInsert && !attribute.isOptional && attribute.defaultValue == nil
            guard isNeeded || Int.random(in: 0..<3, using: &random) == 0 else { continue }
            values[attribute.name] = value(of: attribute)
        }
        for relationship in entity.relationships
        where Int.random(in: 0..<5, using: &random) == 0 {
            let candidates = (known[relationship.destination] ?? []).shuffled(using: &random)
            let count = Int.random(in: 0...(relationship.isToMany ? 3 : 1), using: &random)
            let targets = Array(candidates.prefix(count))
            values[relationship.name] =
                relationship.isToMany
                ? .objects(targets) : targets.first.map { .object($0) } ?? .null
        }
        return values
    }

    private func value(of attribute: Attribute) -> Value {
        let number = Int64.random(in: 0...9, using: &random)
        if attribute.isOptional, number == 0 { return .null }
        switch attribute.type {
        case .string: return .string(attribute.isUnique ? "U\(number % 6)" : "É\(number)")
        case .decimal: return .decimal(.init(number))
        case .int16: return .int(number)
        default: return .int(number * 20 + number % 4)
        }
    }

    // MARK: - The history

    private func checkHistory(
        _ transaction: Int64?, _ before: [PersistentIdentifier: DerivedValues],
        _ after: [PersistentIdentifier: DerivedValues]
    ) throws {
        let recorded = RecordedChanges(try transaction.map { try library.history($0) } ?? [])
        for (object, values) in after {
            guard let old = before[object] else { continue }
            let changed = Set(values.keys.filter { values[$0] != old[$0] })
            let key = ObjectModel.Key(entity: object.entityName, key: object.permanentKey ?? 0)
            let named = (recorded.updated[key] ?? []).intersection(values.keys)
            try #require(
                named == changed, "\(object.uriRepresentation), seed \(random.seed)")
        }
    }
}
