import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Compares random edits and whole lists with the same changes of arrays.
@Suite("random edits of lists")
final class RandomEditTests {
    private static let stepCount = RandomTesting.iterations(250)
    private static let entityNames = ["Shelf", "Book", "Reader", "Tag"]

    private let library: Library
    private var model: ObjectModel
    private var random = SeededGenerator.fromEnvironment("edits of lists")
    private var nameCount = 0
    private let cached: CachedResults

    init() throws {
        library = try Library(schema: Lists.schema())
        cached = try CachedResults(library.store)
        model = ObjectModel(library.store.layout.schema)
    }

    /// A change set and its expected result.
    private struct Step {
        var changes: [Change] = []
        /// Objects of this set that have no permanent identifier yet.
        var names: [ObjectModel.Key: String] = [:]
        var updated: Set<ObjectModel.Key> = []
        var isFault = false
    }

    @Test("random edits leave every list equal to an array, whatever its positions")
    func agreement() throws {
        var faultCount = 0
        for number in 0..<Self.stepCount {
            if number % 20 == 19 { try crowd() }
            let before = model
            let step = self.step()
            let outcome = library.writer.save([ChangeSet(step.changes)])[0]
            if step.isFault {
                model = before
                faultCount += 1
                guard case .failure(let error) = outcome else {
                    Issue.record("seed \(random.seed): a faulty set was saved")
                    return
                }
                try #require(error.code == .objectNotFound, "\(error), seed \(random.seed)")
            } else {
                try checkHistory(try outcome.get(), from: before)
            }
            try compare()
            try cached.check(&random)
        }
        #expect(cached.currentCount > 100 && cached.changedCount > 100)
        // Most steps must succeed.
        #expect(faultCount < Self.stepCount / 2)
        let reader = try library.store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
    }

    private func checkHistory(_ result: SaveResult, from before: ObjectModel) throws {
        let recorded = RecordedChanges(
            try result.transaction.map { try library.history($0) } ?? [])
        let difference = RecordedChanges(from: before, to: model)
        try #require(
            recorded.covers(difference), "\(recorded), \(difference), seed \(random.seed)")
    }

    // MARK: - Generating changes

    private func step() -> Step {
        var step = Step()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let entityName = Self.entityNames.randomElement(using: &random) else { break }
            let existing = model.objects(entityName)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<3 where existing.count < 12: insert(entityName, &step)
            case 3:
                guard let object = existing.randomElement(using: &random),
                    step.names[object] == nil
                else { continue }
                step.changes.append(.delete(identifier(object, step), ifVersion: nil))
                _ = model.delete(object)
            default:
                guard let object = existing.randomElement(using: &random),
                    step.names[object] == nil, step.updated.insert(object).inserted
                else { continue }
                let (values, edits) = content(object, &step)
                step.changes.append(
                    .update(
                        identifier(object, step), ifVersion: nil, values: values, edits: edits))
            }
        }
        return step
    }

    private func insert(_ entityName: String, _ step: inout Step) {
        let object = model.insert(entityName)
        nameCount += 1
        step.names[object] = "n\(nameCount)"
        let (values, edits) = content(object, &step)
        step.changes.append(.insert(identifier(object, step), values: values, edits: edits))
    }

    /// Perhaps one whole list, and up to three edits of other lists.
    private func content(
        _ object: ObjectModel.Key, _ step: inout Step
    ) -> (values: [String: Value], edits: [RelationshipEdit]) {
        var lists = model.relationships(object.entity).filter(\.isToMany)
        lists.shuffle(using: &random)
        var values: [String: Value] = [:]
        if Int.random(in: 0..<4, using: &random) == 0, let relationship = lists.popLast() {
            let targets = candidates(relationship, of: object, atMost: 8)
            model.set(object, relationship, targets)
            values[relationship.name] = .objects(targets.map { identifier($0, step) })
        }
        var edits: [RelationshipEdit] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard let relationship = lists.randomElement(using: &random) else { break }
            edits.append(edit(relationship, of: object, &step))
        }
        return (values, edits)
    }

    private func candidates(
        _ relationship: Relationship, of object: ObjectModel.Key, atMost countMax: Int
    ) -> [ObjectModel.Key] {
        let all = model.objects(relationship.destination).shuffled(using: &random)
        return Array(all.prefix(Int.random(in: 0...countMax, using: &random)))
    }

    private func edit(
        _ relationship: Relationship, of object: ObjectModel.Key, _ step: inout Step
    ) -> RelationshipEdit {
        let list = model.destinations(object, relationship.name)
        let name = relationship.name
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let targets = candidates(relationship, of: object, atMost: 2)
            model.remove(targets, from: object, relationship)
            return .remove(targets.map { identifier($0, step) }, from: name)
        case 1...2 where relationship.isOrdered:
            var targets = Array(list.shuffled(using: &random).prefix(2))
            if Int.random(in: 0..<30, using: &random) == 0 {
                targets = candidates(relationship, of: object, atMost: 2)
            }
            let point = point(in: list, relationship, without: targets)
            if !model.move(targets, in: object, relationship, to: point) { step.isFault = true }
            let objects = targets.map { identifier($0, step) }
            return .move(objects, in: name, to: insertionPoint(point, step))
        default:
            let targets = candidates(relationship, of: object, atMost: 3)
            let point =
                relationship.isOrdered ? point(in: list, relationship, without: targets) : .last
            if !model.add(targets, to: object, relationship, at: point) { step.isFault = true }
            let objects = targets.map { identifier($0, step) }
            return .add(objects, to: name, at: insertionPoint(point, step))
        }
    }

    private func point(
        in list: [ObjectModel.Key], _ relationship: Relationship, without targets: [ObjectModel.Key]
    ) -> ObjectModel.InsertionPoint {
        var neighbors = list
        if Int.random(in: 0..<30, using: &random) == 0 {
            neighbors = model.objects(relationship.destination)
        }
        neighbors.removeAll(where: targets.contains)
        switch (Int.random(in: 0..<5, using: &random), neighbors.randomElement(using: &random)) {
        case (0, let neighbor?): return .before(neighbor)
        case (1, let neighbor?): return .after(neighbor)
        case (2, _): return .first
        case (3, _): return .last
        default: return .index(Int.random(in: 0...(list.count + 1), using: &random))
        }
    }

    private func insertionPoint(_ point: ObjectModel.InsertionPoint, _ step: Step)
        -> RelationshipPosition
    {
        switch point {
        case .first: .first
        case .last: .last
        case .before(let key): .before(identifier(key, step))
        case .after(let key): .after(identifier(key, step))
        case .index(let index): .index(Int64(index))
        }
    }

    private func identifier(_ object: ObjectModel.Key, _ step: Step) -> PersistentIdentifier {
        step.names[object].map { .new($0, object.entity) }
            ?? library.identifier(object.entity, object.key)
    }

    // MARK: - Unusual positions

    /// Renumbers all lists of one relationship without gaps, at an end of the range.
    private func crowd() throws {
        let columns = [
            ("Book", "shelf", "_id", "_position.shelf"),
            ("Reader", "mentor", "_id", "_position.mentor"),
            ("_join.Book.readers", "source", "target", "target_position"),
            ("_join.Book.readers", "target", "source", "source_position"),
            ("_join.Reader.friends", "source", "target", "target_position"),
            ("_join.Reader.followers", "source", "target", "target_position"),
            ("_join.Shelf.featured", "source", "target", "target_position"),
        ]
        guard let (table, owner, item, position) = columns.randomElement(using: &random)
        else { return }
        let rows = try library.rows(
            """
            SELECT \(name: owner), \(name: item) FROM \(name: table)
            WHERE \(name: owner) IS NOT NULL ORDER BY \(name: owner), \(name: position)
            """)
        let starts = [0, ListPosition.range.lowerBound, ListPosition.range.upperBound - 12]
        guard let start = starts.randomElement(using: &random) else { return }
        let statements = try #require(library.writer.statements)
        var counts: [SQLValue: Int64] = [:]
        for row in rows {
            let index = counts[row[0], default: 0]
            counts[row[0]] = index + 1
            try statements.statement(
                """
                UPDATE \(name: table) SET \(name: position) = ?3
                WHERE \(name: owner) = ?1 AND \(name: item) = ?2
                """
            ).run([row[0], row[1], .integer(start + index)])
        }
    }

    // MARK: - Comparing

    private func compare() throws {
        for entityName in Self.entityNames {
            for object in model.objects(entityName) {
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
}
