import LarderModel
import LarderQuery
import QueryScripts
import TestSupport
import Testing

@testable import LarderStore

/// Cached results with the stamps of their objects, as in a server: a result with a current stamp
/// must equal the store's result.
final class CachedResults {
    private struct CachedResult {
        let object: PersistentIdentifier
        let properties: [String]
        let stamp: ObjectStamp
        let batches: [Batch]
    }

    private static let countMax = 30

    private let store: Store
    private let reader: any StoreReader
    private var results: [CachedResult] = []
    /// The number of results that were current, and of those that were not.
    private(set) var currentCount = 0
    private(set) var changedCount = 0

    init(_ store: Store) throws {
        self.store = store
        reader = try store.makeReader()
    }

    /// Checks the cached results after a save, and replaces those that changed.
    func check(_ random: inout SeededGenerator) throws {
        var current: [CachedResult] = []
        for result in results {
            guard store.isCurrent(result.stamp) else {
                changedCount += 1
                continue
            }
            currentCount += 1
            let batches = try read(result.object, result.properties)
            try #require(
                batches == result.batches,
                "\(result.object.entityName) \(result.properties), seed \(random.seed)")
            current.append(result)
        }
        results = current
        for _ in 0..<Self.countMax where results.count < Self.countMax {
            if let result = try readRandomObject(&random) { results.append(result) }
        }
    }

    /// A random property of an object; nil if there is none, or it depends on other objects.
    private func readRandomObject(_ random: inout SeededGenerator) throws -> CachedResult? {
        let schema = store.storeDescription.schema
        guard let entity = schema.entities.randomElement(using: &random),
            let property = (entity.attributes.map(\.name) + entity.relationships.map(\.name))
                .randomElement(using: &random)
        else { return nil }
        let object = PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: entity.name,
            key: Int64.random(in: 1...40, using: &random))
        guard let stamp = reader.stamp(of: object, properties: [property]) else { return nil }
        let batches = try read(object, [property])
        guard batches.first?.rowCount == 1 else { return nil }
        return CachedResult(
            object: object, properties: [property], stamp: stamp, batches: batches)
    }

    private func read(_ object: PersistentIdentifier, _ properties: [String]) throws -> [Batch] {
        do throws(ReadFailure) {
            return try reader.objects([object], properties: properties, budget: ReadBudget())
        } catch {
            throw error.shown
        }
    }
}
