import LarderModel
import TestSupport
import Testing

@testable import LarderStore

/// Compares random change sets with a simple model of the same objects. The history has the values
/// before each of them.
@Suite("random change sets")
final class RandomChangeTests {
    private static let stepCount = 400
    private static let entityNames = [
        "Article", "Category", "Collection", "Tag", "Cover", "Person",
    ]

    private let library: Library
    private var model: ObjectModel
    private var random = SeededGenerator.fromEnvironment("change sets")
    private var nameCount = 0
    private let cached: CachedResults

    init() throws {
        library = try Library(schema: Library.schema().recordingValues())
        cached = try CachedResults(library.store)
        model = ObjectModel(library.store.layout.schema)
    }

    /// A change set and its expected result.
    private struct Step {
        var changes: [Change] = []
        var inserted: [ObjectModel.Key] = []
        var deletedCount: Int64 = 0
        var updateCount = 0
        /// Objects of this set that have no permanent identifier yet.
        var names: [ObjectModel.Key: String] = [:]
        var updated: Set<ObjectModel.Key> = []
        /// The difference of the model before and after.
        var difference: RecordedChanges?
        var before: ObjectModel?
    }

    @Test(
        "random change sets leave both sides of relationships equal to the model",
        arguments: [false, true])
    func agreement(inParts: Bool) throws {
        var stepsLeft = Self.stepCount
        while stepsLeft > 0 {
            let groupSize = Int.random(in: 1...4, using: &random)
            var steps: [Step?] = []
            var sets: [ChangeSet] = []
            for _ in 0..<groupSize {
                let before = model
                var step = self.step()
                if Int.random(in: 0..<5, using: &random) == 0 {
                    model = before
                    step.changes.append(
                        .delete(library.identifier("Tag", 1_000_000), ifVersion: nil))
                    steps.append(nil)
                } else {
                    step.difference = RecordedChanges(from: before, to: model)
                    step.before = before
                    steps.append(step)
                }
                sets.append(ChangeSet(step.changes))
            }
            let outcomes =
                inParts
                ? sets.map { library.save($0, inPartsOf: .random(in: 1...4, using: &random)) }
                : library.writer.save(sets)
            for (step, outcome) in zip(steps, outcomes) { try check(outcome, step) }
            stepsLeft -= groupSize
            try compare()
            try cached.check(&random)
        }
        #expect(cached.currentCount > 100 && cached.changedCount > 100)
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
        #expect(try orphanedPairCount() == 0)
    }

    // MARK: - Generating changes

    private func step() -> Step {
        var step = Step()
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard let entityName = Self.entityNames.randomElement(using: &random) else { break }
            let existing = model.objects(entityName)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: insert(entityName, &step)
            case 4..<9:
                guard let object = existing.randomElement(using: &random) else { continue }
                update(object, &step)
            default:
                guard let object = existing.randomElement(using: &random) else { continue }
                delete(object, &step)
            }
        }
        return step
    }

    private func insert(_ entityName: String, _ step: inout Step) {
        let object = model.insert(entityName)
        nameCount += 1
        step.names[object] = "n\(nameCount)"
        step.inserted.append(object)
        var values = links(of: object, step)
        if entityName == "Article" { values["title"] = .string("t\(nameCount)") }
        if entityName == "Category" { values["name"] = .string("c\(nameCount)") }
        step.changes.append(.insert(identifier(object, step), values: values))
    }

    private func update(_ object: ObjectModel.Key, _ step: inout Step) {
        guard step.names[object] == nil, step.updated.insert(object).inserted else { return }
        step.updateCount += 1
        step.changes.append(
            .update(identifier(object, step), ifVersion: nil, values: links(of: object, step)))
    }

    private func delete(_ object: ObjectModel.Key, _ step: inout Step) {
        guard step.names[object] == nil else { return }
        step.changes.append(.delete(identifier(object, step), ifVersion: nil))
        step.deletedCount += model.delete(object)
    }

    /// Sets up to two relationships, in the order in which the writer does.
    private func links(of object: ObjectModel.Key, _ step: Step) -> [String: Value] {
        var values: [String: Value] = [:]
        for relationship in model.relationships(object.entity)
        where Int.random(in: 0..<3, using: &random) == 0 {
            let candidates = model.objects(relationship.destination).shuffled(using: &random)
            let count = Int.random(in: 0...(relationship.isToMany ? 4 : 1), using: &random)
            let targets = Array(candidates.prefix(count))
            model.set(object, relationship, targets)
            let identifiers = targets.map { identifier($0, step) }
            values[relationship.name] =
                relationship.isToMany
                ? .objects(identifiers) : identifiers.first.map { .object($0) } ?? .null
        }
        return values
    }

    private func identifier(_ object: ObjectModel.Key, _ step: Step) -> PersistentIdentifier {
        step.names[object].map { .new($0, object.entity) }
            ?? library.identifier(object.entity, object.key)
    }

    // MARK: - Comparing

    private func check(_ outcome: Result<SaveResult, LarderError>, _ step: Step?) throws {
        switch (outcome, step) {
        case (.success(let result), let step?):
            #expect(
                result.inserted == step.inserted.map { library.identifier($0.entity, $0.key) })
            #expect(result.deletedCount == step.deletedCount)
            #expect(result.updatedVersions.count == step.updateCount)
            try checkHistory(result.transaction, step)
            try checkFormerValues(result.transaction, step)
        case (.failure(let error), nil): #expect(error.code == .objectNotFound)
        case (.failure(let error), _?): Issue.record("seed \(random.seed): \(error)")
        case (.success, nil): Issue.record("seed \(random.seed): a faulty set was saved")
        }
    }

    private func checkHistory(_ transaction: Int64?, _ step: Step) throws {
        let difference = try #require(step.difference)
        let recorded = RecordedChanges(try transaction.map { try library.history($0) } ?? [])
        try #require(
            recorded.covers(difference), "\(recorded), \(difference), seed \(random.seed)")
        // One relationship of one object passes through no other state.
        guard step.changes.count == 1,
            case .update(let object, _, let values, _, _) = step.changes[0], values.count == 1
        else { return }
        for (key, names) in recorded.updated
        where key != ObjectModel.Key(entity: object.entityName, key: object.permanentKey ?? 0) {
            let unordered = names.filter { name in
                model.relationships(key.entity).contains { $0.name == name && !$0.isOrdered }
            }
            try #require(
                unordered.isSubset(of: difference.updated[key] ?? []),
                "\(recorded), \(difference), seed \(random.seed)")
        }
    }

    /// Compares the to-ones of the history with those that the model had, and finds each one that
    /// has changed.
    private func checkFormerValues(_ transaction: Int64?, _ step: Step) throws {
        guard let transaction, let before = step.before else { return }
        let former = try library.formerValues(transaction)
        for (object, values) in former {
            let key = ObjectModel.Key(entity: object.entityName, key: object.permanentKey ?? 0)
            for relationship in model.relationships(key.entity) where !relationship.isToMany {
                guard let value = values[relationship.name] else { continue }
                let expected = before.destinations(key, relationship.name).first.map {
                    Value.object(library.identifier($0.entity, $0.key))
                }
                try #require(
                    value == expected ?? .null,
                    "\(object.shortText).\(relationship.name), seed \(random.seed)")
            }
        }
        for (key, names) in try #require(step.difference).updated {
            for relationship in model.relationships(key.entity)
            where !relationship.isToMany && names.contains(relationship.name) {
                let values = former[library.identifier(key.entity, key.key)]
                try #require(
                    values?[relationship.name] != nil,
                    "\(key).\(relationship.name) is not recorded, seed \(random.seed)")
            }
        }
    }

    private func compare() throws {
        for entityName in Self.entityNames {
            let objects = model.objects(entityName)
            try #require(
                try library.rows("SELECT _id FROM \(name: entityName) ORDER BY _id")
                    == objects.map { [.integer($0.key)] }, "seed \(random.seed)")
            for object in objects {
                for relationship in model.relationships(entityName) {
                    var stored = try library.keys(
                        library.identifier(entityName, object.key), relationship.name)
                    var expected = model.destinations(object, relationship.name).map(\.key)
                    if !relationship.isOrdered {
                        stored.sort()
                        expected.sort()
                    }
                    try #require(
                        stored == expected,
                        "\(entityName) \(object.key) \(relationship.name), seed \(random.seed)")
                }
            }
        }
    }

    private func orphanedPairCount() throws -> Int64? {
        try library.readConnection.integer(
            """
            SELECT count(*) FROM "_join.Article.tags"
            WHERE source NOT IN (SELECT _id FROM Article) OR target NOT IN (SELECT _id FROM Tag)
            """)
    }
}
