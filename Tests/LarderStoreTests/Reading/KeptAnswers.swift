import LarderModel
import TestSupport
import Testing

@testable import LarderStore

/// Cached results with the marks of their objects, as in a server: a result with a current mark
/// must equal the store's result.
final class KeptAnswers {
    private struct Answer {
        let object: PersistentIdentifier
        let properties: [String]
        let mark: ObjectStamp
        let batches: [Batch]
    }

    private static let countMax = 30

    private let store: Store
    private let reader: any StoreReader
    private var answers: [Answer] = []
    /// The number of results that were current, and of those that were not.
    private(set) var currentCount = 0
    private(set) var changedCount = 0

    init(_ store: Store) throws {
        self.store = store
        reader = try store.makeReader()
    }

    /// Checks the cached results after a save, and replaces those that changed.
    func check(_ random: inout SeededGenerator) throws {
        var current: [Answer] = []
        for answer in answers {
            guard store.isCurrent(answer.mark) else {
                changedCount += 1
                continue
            }
            currentCount += 1
            let batches = try read(answer.object, answer.properties)
            try #require(
                batches == answer.batches,
                "\(answer.object.entityName) \(answer.properties), seed \(random.seed)")
            current.append(answer)
        }
        answers = current
        for _ in 0..<Self.countMax where answers.count < Self.countMax {
            if let answer = try answer(&random) { answers.append(answer) }
        }
    }

    /// A random property of an object; nil if there is none, or it depends on other objects.
    private func answer(_ random: inout SeededGenerator) throws -> Answer? {
        let schema = store.storeDescription.schema
        guard let entity = schema.entities.randomElement(using: &random),
            let property = (entity.attributes.map(\.name) + entity.relationships.map(\.name))
                .randomElement(using: &random)
        else { return nil }
        let object = PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: entity.name,
            key: Int64.random(in: 1...40, using: &random))
        guard let mark = reader.mark(of: object, properties: [property]) else { return nil }
        let batches = try read(object, [property])
        guard batches.first?.rowCount == 1 else { return nil }
        return Answer(object: object, properties: [property], mark: mark, batches: batches)
    }

    private func read(_ object: PersistentIdentifier, _ properties: [String]) throws -> [Batch] {
        do throws(ReadFailure) {
            return try reader.objects([object], properties: properties, budget: ReadBudget())
        } catch {
            throw error.shown
        }
    }
}
