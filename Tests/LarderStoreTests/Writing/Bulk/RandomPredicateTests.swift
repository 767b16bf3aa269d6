import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore

/// Compares random changes, of single objects and in bulk, with nodes in memory.
@Suite("random bulk changes")
final class RandomPredicateTests {
    private let library: Library
    private var model = NodeModel()
    private var random = SeededGenerator.fromEnvironment("changes by predicate")
    private var lastKey: Int64 = 0
    /// The objects that the set being generated has named, updated and inserted.
    private var named: Set<Int64> = []
    private var updated: Set<Int64> = []
    private var insertedFrom: Int64 = 0
    private var affected: [AffectedObjects] = []
    /// Whether a value is out of its bounds at any point in the set.
    private var isFaulty = false

    init() throws { library = try Library(schema: Schema(entities: [NodeModel.schema])) }

    @Test("random bulk changes leave the store equal to the model, or unchanged")
    func agreement() throws {
        var savedCount = 0
        for _ in 0..<RandomTesting.iterations(200) {
            let (before, keyBefore) = (model, lastKey)
            begin()
            var changes: [Change] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changes.append(change())
                // Another test covers reads while two objects have one value.
                if model.hasEqualRanks || isFaulty { break }
            }
            for key in updated where key <= insertedFrom { model.nodes[key]?.version += 1 }
            let outcome = library.writer.save([ChangeSet(changes)])[0]
            if model.isValid && !isFaulty {
                let result = try outcome.get()
                #expect(result.affected == affected)
                savedCount += 1
            } else {
                #expect(throws: LarderError.self) { try outcome.get() }
                (model, lastKey) = (before, keyBefore)
            }
            try compare()
        }
        #expect(savedCount > 0)
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    private func begin() {
        (named, updated, affected, isFaulty) = ([], [], [], false)
        insertedFrom = lastKey
    }

    private func change() -> Change {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: insert()
        case 4: updateByName() ?? insert()
        case 5: deleteByName() ?? insert()
        case 6: deleteAll()
        default: updateAll()
        }
    }

    private func number() -> Int64 { Int64.random(in: -9...9, using: &random) }

    private func existing() -> Int64? {
        let keys = model.nodes.keys.filter { !named.contains($0) && $0 <= insertedFrom }.sorted()
        return keys.randomElement(using: &random)
    }

    private func identifier(_ key: Int64) -> PersistentIdentifier {
        library.identifier("Node", key)
    }

    private func insert() -> Change {
        lastKey += 1
        let rank = Bool.random(using: &random) ? Int64.random(in: 0...300, using: &random) : nil
        let node = NodeModel.Node(b: number(), rank: rank, parent: existing())
        model.nodes[lastKey] = node
        return .insert(
            .new("\(lastKey)", "Node"),
            values: [
                "b": .int(node.b), "rank": rank.map { .int($0) } ?? .null,
                "parent": node.parent.map { .object(identifier($0)) } ?? .null,
            ])
    }

    private func updateByName() -> Change? {
        guard let key = existing() else { return nil }
        named.insert(key)
        updated.insert(key)
        let number = number()
        model.nodes[key]?.a = number
        return .update(identifier(key), ifVersion: nil, values: ["a": .int(number)])
    }

    private func deleteByName() -> Change? {
        guard let key = existing() else { return nil }
        named.insert(key)
        model.delete([key])
        return .delete(identifier(key), ifVersion: nil)
    }

    private func selection() -> (selection: ObjectSelection, keys: [Int64]) {
        guard let rule = NodeModel.rules(number()).randomElement(using: &random) else {
            preconditionFailure("there are rules")
        }
        var keys = model.selected(rule)
        let limit = Bool.random(using: &random) ? nil : Int.random(in: 0...4, using: &random)
        if let limit { keys = model.first(limit, of: keys) }
        let isWanted = Bool.random(using: &random)
        affected.append(
            AffectedObjects(
                count: Int64(keys.count), identifiers: isWanted ? keys.map(identifier) : []))
        let selection = ObjectSelection(
            "Node", where: .format(rule.format),
            sort: limit == nil ? [] : [SortKey("a", descending: true, nilPlacement: .first)],
            limit: limit.map(Int64.init), wantsIdentifiers: isWanted)
        return (selection, keys)
    }

    private func updateAll() -> Change {
        let (selection, keys) = selection()
        var formulas: [NodeModel.Formula] = []
        for formula in NodeModel.formulas(number()).shuffled(using: &random)
        where formulas.allSatisfy({ $0.name != formula.name }) && formulas.count < 2 {
            formulas.append(formula)
        }
        model.apply(formulas, to: keys)
        updated.formUnion(keys)
        isFaulty = !model.nodes.values.allSatisfy { -60...60 ~= $0.b }
        return .updateAll(
            selection, set: formulas.map { PropertyAssignment($0.name, .format($0.format)) })
    }

    private func deleteAll() -> Change {
        let (selection, keys) = selection()
        model.delete(keys)
        return .deleteAll(selection)
    }

    private func compare() throws {
        var stored = NodeModel()
        for row in try library.rows("SELECT _id, a, b, rank, parent, _version FROM Node") {
            let values = row.map { value -> Int64? in
                if case .integer(let integer) = value { integer } else { nil }
            }
            stored.nodes[try #require(values[0])] = NodeModel.Node(
                a: values[1], b: try #require(values[2]), rank: values[3], parent: values[4],
                version: try #require(values[5]))
        }
        #expect(stored == model)
    }
}
