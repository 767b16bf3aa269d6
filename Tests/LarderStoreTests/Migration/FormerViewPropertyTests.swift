import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore
@testable import QueryFuzzing

@Suite("The view of a random former schema")
struct FormerViewPropertyTests {
    @Test("the view of a former schema gives the same results after a random addition")
    func reads() throws {
        var random = SeededGenerator.fromEnvironment("random former schemas")
        var (found, selected) = (0, 0)
        for number in 0..<RandomTesting.iterations(15) {
            var one = SeededGenerator(seed: random.next())
            do {
                let counts = try run(&one)
                found += counts.found
                selected += counts.selected
            } catch {
                Issue.record("addition \(number), seed \(one.seed): \(error)")
                return
            }
        }
        // Queries that select nothing, or fail, would test little.
        #expect(found > 0 && selected > found / 4)
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// The results of one view.
    fileprivate struct Results: Equatable {
        var outcomes: [Outcome] = []
        var objects: [Batch] = []
    }

    fileprivate enum Outcome: Equatable {
        case batches([Batch])
        case failed(ErrorCode)
    }

    private func run(_ random: inout SeededGenerator) throws -> (found: Int, selected: Int) {
        let fuzzed = try FuzzedStore(&random)
        let queries = Self.queries(of: fuzzed, &random)
        let before = try Self.results(queries, fuzzed.identifiers, fuzzed.store, fuzzed.reader)
        let objects = try ModelObjects(fuzzed.reader, fuzzed.store.storeDescription, keysMax: 1)
        var migration = RandomMigration(fuzzed.schema, objects)
        for _ in 0..<random.number(1...5) { migration.add(&random) }
        let new = try migration.schema.schema()
        let edits = migration.edits.joined(separator: "; ")
        let store = try fuzzed.store.reopened(
            .migration(new, stoppedBy: ReadCancellation())
        ) { _ in }
        guard
            let view = store.formerView(version: "", fingerprint: fuzzed.schema.fingerprint)
        else {
            let changes = SchemaMapping(from: fuzzed.schema, to: new).changes.filter {
                !$0.isAdditive
            }
            throw Difference(description: "no view after \(edits): \(changes)")
        }
        let reader = try store.makeReader()
        func compare(_ time: String, _ expected: Results, _ found: Results) throws {
            if expected.objects != found.objects {
                throw Difference(
                    description: "\(time) \(edits): objects \(found.objects), "
                        + "not \(expected.objects)")
            }
            for (query, (one, two)) in zip(queries, zip(expected.outcomes, found.outcomes))
            where one != two {
                throw Difference(
                    description: "\(time) \(edits): \(query): \(two), not \(one)")
            }
        }
        try compare(
            "after", before, try Self.results(queries, fuzzed.identifiers, view, reader))
        try Self.fill(store, new, fuzzed)
        try compare(
            "after writes and", before.withoutVersions,
            try Self.results(queries, fuzzed.identifiers, view, reader).withoutVersions)
        let selected = before.outcomes.count {
            guard case .batches(let batches) = $0 else { return false }
            return batches.contains { $0.rowCount > 0 }
        }
        return (queries.count, selected)
    }

    // MARK: Reads

    private static func queries(
        of store: FuzzedStore, _ random: inout SeededGenerator
    ) -> [(Query, QueryParameters)] {
        let paths = SchemaPaths(store.schema)
        return (0..<20).map { _ in
            let entity = random.pick(store.schema.entities)?.name ?? ""
            var generator = PredicateGenerator(store, paths, about: entity, random)
            let predicate = generator.predicate(depth: generator.random.number(0...2))
            let sort = generator.sort()
            random = generator.random
            let includesSubentities = !random.once(in: 5)
            let parameters = QueryParameters(arguments: generator.arguments)
            if random.once(in: 4) {
                return (
                    .count(
                        entityName: entity, predicate: .tree(predicate),
                        includesSubentities: includesSubentities), parameters
                )
            }
            return (
                .fetch(
                    Fetch(
                        entity, where: .tree(predicate), sort: sort,
                        includesSubentities: includesSubentities)), parameters
            )
        }
    }

    private static func results(
        _ queries: [(Query, QueryParameters)], _ identifiers: [PersistentIdentifier],
        _ view: any StoreView, _ reader: any StoreReader
    ) throws -> Results {
        let objects = try view.reader(over: reader).objects(
            identifiers, properties: nil, budget: ReadBudget())
        return Results(
            outcomes: queries.map { outcome($0, $1, view, reader) }, objects: objects)
    }

    private static func outcome(
        _ query: Query, _ parameters: QueryParameters, _ view: any StoreView,
        _ reader: any StoreReader
    ) -> Outcome {
        do {
            let cursor = try reader.open(
                try view.plan(query, parameters), parameters, budget: ReadBudget())
            defer { cursor.close() }
            var batches: [Batch] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget())
                batches.append(batch)
                if isLast { return .batches(batches) }
            }
        } catch let error as LarderError {
            return .failed(error.code)
        } catch {
            return .failed((error as? ReadFailure)?.larderError.code ?? .storageFailed)
        }
    }

    // MARK: Writes

    /// Writes values of all new attributes, and objects of all new entities.
    private static func fill(_ store: any StoreBackend, _ new: Schema, _ old: FuzzedStore) throws {
        let writer = try store.makeWriter()
        defer { writer.close() }
        var changes: [Change] = []
        for (index, identifier) in old.identifiers.enumerated() where index % 2 == 0 {
            let known = old.schema.entity(named: identifier.entityName)?.attributes.map(\.name)
            let added = new.entity(named: identifier.entityName)?.attributes ?? []
            let values = added.filter { known?.contains($0.name) == false }.map {
                ($0.name, RandomMigration.simpleValue($0.type))
            }
            changes.append(
                .update(
                    identifier, ifVersion: nil, values: Dictionary(uniqueKeysWithValues: values)))
        }
        for (index, entity) in new.entities.enumerated()
        where old.schema.entity(named: entity.name) == nil {
            let values = entity.attributes.map {
                ($0.name, RandomMigration.simpleValue($0.type))
            }
            changes.append(
                .insert(
                    PersistentIdentifier(temporary: "n\(index)", entityName: entity.name),
                    values: Dictionary(uniqueKeysWithValues: values)))
        }
        for result in writer.save([ChangeSet(changes)]) { _ = try result.get() }
    }
}

extension FormerViewPropertyTests.Results {
    /// The rows without the versions of objects, which updates of unknown properties change too.
    fileprivate var withoutVersions: Self {
        var results = self
        results.objects = objects.map(\.withoutVersions)
        results.outcomes = outcomes.map {
            guard case .batches(let batches) = $0 else { return $0 }
            return .batches(batches.map(\.withoutVersions))
        }
        return results
    }
}

extension Batch {
    fileprivate var withoutVersions: Batch {
        var batch = self
        batch.objects.versions = []
        return batch
    }
}
