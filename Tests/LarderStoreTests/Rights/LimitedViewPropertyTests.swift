import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore
@testable import QueryFuzzing

/// Compares the view of a user with limited rights with a store that has only what the user may
/// see: the same objects, of which those that the evaluator finds invisible are deleted.
@Suite("The view of a user with random rights")
struct LimitedViewPropertyTests {
    @Test("a user with random rights gets the results that a store of the visible objects gives")
    func reads() throws {
        var random = SeededGenerator.fromEnvironment("random rights")
        var account = Account()
        for number in 0..<RandomTesting.iterations(25) {
            var one = SeededGenerator(seed: random.next())
            do {
                try run(&one, &account)
            } catch {
                Issue.record("rights \(number), seed \(one.seed): \(error)")
                return
            }
        }
        // Rights that hide nothing or everything would test little.
        #expect(account.hidden > 0 && account.visible > account.hidden / 10)
        #expect(account.selected > account.queries / 5)
    }

    @Test("an object that the user may not see is found if a view shows it")
    func plantedLeaks() throws {
        var random = SeededGenerator.fromEnvironment("random rights with a leak")
        for _ in 0..<200 {
            var one = SeededGenerator(seed: random.next())
            var account = Account()
            do {
                try run(&one, &account, leaksOne: true)
            } catch is Difference {
                return
            }
        }
        Issue.record("nothing was found")
    }

    private struct Account {
        var visible = 0
        var hidden = 0
        var queries = 0
        var selected = 0
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private func run(
        _ random: inout SeededGenerator, _ account: inout Account, leaksOne: Bool = false
    ) throws {
        let fuzzed = try FuzzedStore(&random)
        let (role, rules) = try Self.role(for: fuzzed, &random)
        guard let resolved = try? RoleRights(role, in: fuzzed.schema) else { return }
        var hidden = fuzzed.identifiers.indices.filter {
            !Self.sees(fuzzed.identifiers[$0], rules, fuzzed)
        }
        account.hidden += hidden.count
        account.visible += fuzzed.identifiers.count - hidden.count
        if leaksOne, !hidden.isEmpty { hidden.removeLast() }
        let expected = try FuzzedStore(fuzzed.schema, fuzzed.drafts, without: hidden)
        var whole = role
        for name in whole.entities.keys where whole.entities[name]?.rules[.read] != .denied {
            whole.entities[name]?.rules[.read] = .granted
        }
        let view = try fuzzed.store.limitedView(Rights(resolved, of: Self.user))
        let other = try expected.store.limitedView(
            Rights(try RoleRights(whole, in: fuzzed.schema), of: Self.user))
        let seen = fuzzed.identifiers.filter {
            view.storeDescription.schema.entity(named: $0.entityName) != nil
        }
        let one = Self.objects(seen, view, fuzzed.reader)
        let two = Self.objects(seen.map { Self.moved($0, to: expected) }, other, expected.reader)
        // SQLite decides for which rows a failing rule is computed.
        if one.dependsOnOrder { return }
        guard one == two else {
            throw Difference(description: "objects by \(rules): \(one), not \(two)")
        }
        for query in Self.queries(of: fuzzed, view, &random) {
            let moved = query.map { Self.moved($0, to: expected) }
            let one = Self.outcome(query.query, view, fuzzed.reader)
            let two = Self.outcome(moved.query, other, expected.reader)
            account.queries += 1
            if case .rows(let rows) = one, !rows.isEmpty { account.selected += 1 }
            // The order of rows decides which side reaches a sum that overflows.
            if one.dependsOnOrder || two.dependsOnOrder { continue }
            guard one == two else {
                throw Difference(
                    description: "\(query) by \(role.entities.mapValues(\.rules)): "
                        + "\(one), not \(two)")
            }
        }
    }

    // MARK: Rights

    private static let user = Principal(
        user: "ann", userIdentifier: 1_001, groups: ["staff"], groupIdentifiers: [50])

    /// A role, and the rule of each entity for the evaluator; nil for one that denies.
    private static func role(
        for store: FuzzedStore, _ random: inout SeededGenerator
    ) throws -> (Role, [String: QueryExpression?]) {
        var role = Role(name: "random")
        var rules: [String: QueryExpression?] = [:]
        let paths = SchemaPaths(store.schema)
        for entity in store.schema.entities {
            var rule = EntityRights.Rule.granted
            rules[entity.name] = .some(.constant(.bool(true)))
            switch random.number(0...5) {
            case 0:
                rule = .denied
                rules[entity.name] = .some(nil)
            case 1: break
            default:
                var generator = PredicateGenerator(store, paths, about: entity.name, random)
                let depth = generator.random.number(0...2)
                let predicate = generator.predicate(depth: depth)
                random = generator.random
                let tree = predicate.withConstants(generator.arguments)
                let text = tree.format
                if let parsed = try? PredicateFormat.parse(text).expression,
                    parsed.freeVariables.isEmpty, !parsed.namesObject,
                    Self.isValid(parsed, entity, store)
                {
                    rule = .when(text)
                    rules[entity.name] = .some(parsed)
                }
            }
            role.entities[entity.name] = EntityRights(rules: [.read: rule])
        }
        return (role, rules)
    }

    /// Whether a rule can be evaluated for all objects.
    private static func isValid(
        _ rule: QueryExpression, _ entity: Entity, _ store: FuzzedStore
    ) -> Bool {
        let query = QueryCase(entityName: entity.name, predicate: rule, arguments: [])
        guard case .keys = store.selected(query), case .keys = store.evaluated(query) else {
            return false
        }
        return true
    }

    private static func sees(
        _ object: PersistentIdentifier, _ rules: [String: QueryExpression?], _ store: FuzzedStore
    ) -> Bool {
        guard let rule = rules[object.entityName] ?? nil else { return false }
        let query = QueryCase(
            entityName: object.entityName, predicate: rule, arguments: [],
            includesSubentities: false)
        guard case .keys(let keys) = store.evaluated(query) else { return false }
        return keys.contains(object.permanentKey ?? 0)
    }

    // MARK: The store of the visible objects

    private static func moved(
        _ object: PersistentIdentifier, to store: FuzzedStore
    ) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store.storeIdentifier, entityName: object.entityName,
            key: object.permanentKey ?? 0)
    }

    private static func moved(_ value: Value, to store: FuzzedStore) -> Value {
        switch value {
        case .object(let object): .object(moved(object, to: store))
        case .objects(let objects): .objects(objects.map { moved($0, to: store) })
        default: value
        }
    }

    // MARK: Reads

    /// A query of an entity, whose arguments are constants.
    private struct RandomQuery: CustomStringConvertible {
        enum Kind {
            case count
            case groups(by: String?)
            case objects(prefetch: [String])
            case columns([String])
        }

        var entityName: String
        var predicate: QueryExpression
        var sort: [SortKey]
        var kind: Kind

        var description: String { "\(kind) of \(entityName) where \(predicate.format)" }

        var query: Query {
            let term = QueryTerm.tree(predicate)
            switch kind {
            case .count: return .count(entityName: entityName, predicate: term)
            case .groups(let key):
                let keys = key.map { [QueryColumn($0)] } ?? []
                return .aggregate(
                    Aggregate(entityName, where: term, groupBy: keys, [.init(.count)]))
            case .objects(let prefetch):
                return .fetch(Fetch(entityName, where: term, sort: sort, prefetch: prefetch))
            case .columns(let names):
                return .fetch(
                    Fetch(
                        entityName, where: term, sort: sort,
                        selection: .columns(names.map { QueryColumn($0) })))
            }
        }

        func map(_ change: (Value) -> Value) -> RandomQuery {
            withoutActuallyEscaping(change) { change in
                var query = self
                query.predicate = predicate.withConstants([], change)
                query.sort = sort.map { key in
                    guard case .tree(let tree) = key.term else { return key }
                    var key = key
                    key.term = .tree(tree.withConstants([], change))
                    return key
                }
                return query
            }
        }
    }

    private static func queries(
        of store: FuzzedStore, _ view: any StoreView, _ random: inout SeededGenerator
    ) -> [RandomQuery] {
        let schema = view.storeDescription.schema
        let paths = SchemaPaths(schema)
        return (0..<15).map { _ in
            let entity = random.pick(schema.entities)
            let name = entity?.name ?? ""
            var generator = PredicateGenerator(store, paths, about: name, random)
            let predicate = generator.predicate(depth: generator.random.number(0...2))
            let sort = generator.sort()
            random = generator.random
            let arguments = generator.arguments
            let relationships = entity?.relationships ?? []
            let kind: RandomQuery.Kind =
                switch random.number(0...5) {
                case 0: .count
                case 1: .groups(by: relationships.first { !$0.isToMany }?.name)
                case 2: .columns(relationships.map(\.name))
                case 3: .objects(prefetch: relationships.map(\.name))
                default: .objects(prefetch: [])
                }
            return RandomQuery(
                entityName: name, predicate: predicate.withConstants(arguments),
                sort: sort.map { key in
                    guard case .tree(let tree) = key.term else { return key }
                    var key = key
                    key.term = .tree(tree.withConstants(arguments))
                    return key
                }, kind: kind)
        }
    }

    private enum Outcome: Equatable {
        case rows([String])
        case failed(ErrorCode)

        var dependsOnOrder: Bool {
            self == .failed(.arithmeticOverflow) || self == .failed(.resourceExhausted)
        }
    }

    private static func outcome(
        _ query: Query, _ view: any StoreView, _ reader: any StoreReader
    ) -> Outcome {
        outcome {
            let parameters = QueryParameters()
            let cursor = try reader.open(
                try view.plan(query, parameters), parameters, budget: ReadBudget())
            defer { cursor.close() }
            var rows: [String] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget())
                rows += texts(of: batch)
                if isLast { return rows }
            }
        }
    }

    private static func objects(
        _ identifiers: [PersistentIdentifier], _ view: any StoreView, _ reader: any StoreReader
    ) -> Outcome {
        outcome {
            try view.reader(over: reader).objects(
                identifiers, properties: nil, budget: ReadBudget()
            ).flatMap(texts)
        }
    }

    private static func outcome(_ read: () throws -> [String]) -> Outcome {
        do {
            return .rows(try read())
        } catch let error as LarderError {
            return .failed(error.code)
        } catch {
            return .failed((error as? ReadFailure)?.larderError.code ?? .storageFailed)
        }
    }

    private static let anyStore = UUID()

    /// The rows of a batch without the versions of objects and the name of the store.
    private static func texts(of batch: Batch) -> [String] {
        (0..<batch.rowCount).map { row in
            let key = batch.identity.map { "\($0.keys[row])" } ?? ""
            let values = batch.columns.map {
                "\($0.name)=\($0.value(at: row, store: anyStore))"
            }
            return "\(batch.prefetchPath ?? "") \(key) \(values.joined(separator: " "))"
        }
    }
}

extension QueryExpression {
    /// The tree with values instead of arguments, and with changed values.
    ///
    /// - Parameter change: Returns the changed value; nil changes none.
    fileprivate func withConstants(
        _ values: [QueryArgument], _ change: ((Value) -> Value)? = nil
    ) -> QueryExpression {
        switch self {
        case .argument(let index):
            let given =
                switch values[index] {
                case .value(let value): QueryExpression.constant(value)
                case .list(let elements): QueryExpression.list(elements.map { .constant($0) })
                }
            return given.withConstants(values, change)
        case .constant(let value): return .constant(change?(value) ?? value)
        default: return mapChildren { $0.withConstants(values, change) }
        }
    }
}
