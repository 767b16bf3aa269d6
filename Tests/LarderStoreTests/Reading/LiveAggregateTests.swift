import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import TestSupport
import Testing

/// Observed aggregates over a real store: the groups must have the rows of the query itself.
@Suite("Aggregates that are kept up to date")
struct LiveAggregateTests {
    private let fixture: QueryFixture

    init() throws {
        fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [
                      { "name": "Item", "attributes": [
                        { "name": "n", "type": "int64", "optional": true },
                        { "name": "small", "type": "int16", "optional": true },
                        { "name": "real", "type": "double", "optional": true },
                        { "name": "single", "type": "float", "optional": true },
                        { "name": "price", "type": "decimal", "optional": true },
                        { "name": "text", "type": "string", "optional": true },
                        { "name": "done", "type": "bool", "optional": true },
                        { "name": "date", "type": "date", "optional": true },
                        { "name": "code", "type": "uuid", "optional": true } ],
                        "relationships": [
                          { "name": "category", "destination": "Category",
                            "inverse": "items" } ] },
                      { "name": "Offer", "parent": "Item", "attributes": [] },
                      { "name": "Section", "parent": "Category", "attributes": [] },
                      { "name": "Category", "attributes": [
                        { "name": "name", "type": "string" } ],
                        "relationships": [
                          { "name": "items", "destination": "Item", "toMany": true,
                            "inverse": "category" } ] } ] }
                    """))
    }

    /// An observed query with its groups.
    private struct Observed {
        let query: Query
        let observable: ObservableQuery
        let aggregate: LiveAggregate
        let columns: [Column]
        var groups: LiveGroups
    }

    private func observed(_ query: Query, _ parameters: QueryParameters) throws -> Observed {
        let observable = try ObservableQuery(
            query, parameters, in: fixture.store.storeDescription.schema,
            store: fixture.storeIdentifier)
        let aggregate = try #require(observable.aggregate, "\(query)")
        let columns = try #require(try fixture.batches(query, parameters).first?.columns)
        var observed = Observed(
            query: query, observable: observable, aggregate: aggregate, columns: columns,
            groups: LiveGroups(aggregate))
        try update(&observed, of: nil)
        return observed
    }

    private func update(
        _ observed: inout Observed, of keys: Set<Int64>?, budget: ReadBudget = ReadBudget()
    ) throws {
        let (query, parameters) = observed.observable.contributions(
            of: keys?.sorted(), observed.aggregate)
        var entries: [LiveWindow.Entry] = []
        for batch in try fixture.batches(query, parameters, budget: budget) {
            for (row, key) in (batch.identity?.keys ?? []).enumerated() {
                let values = batch.columns.indices.map {
                    batch.value(row: row, column: $0, store: fixture.storeIdentifier)
                }
                entries.append(LiveWindow.Entry(key, values))
            }
        }
        observed.groups.apply(keys ?? [], matching: entries)
    }

    private static let queries: [(Query, QueryParameters)] = [
        (.count(entityName: "Item", predicate: nil), QueryParameters()),
        (
            .count(entityName: "Item", predicate: .format("category.name BEGINSWITH %@ OR n > 3")),
            QueryParameters(arguments: [.value("a")])
        ),
        (
            .aggregate(Aggregate("Item", groupBy: ["text", "done"], everything)),
            QueryParameters()
        ),
        (.aggregate(Aggregate("Item", everything)), QueryParameters()),
        (
            .aggregate(
                Aggregate(
                    "Item", groupBy: ["text"], [.count, .init(.sum, "real")],
                    includesSubentities: false)), QueryParameters()
        ),
        (
            .aggregate(
                Aggregate(
                    "Item", where: .format("small != 2"), groupBy: ["category.name", "category"],
                    filtered + [.init(.count, where: "SELF IS Offer", name: "offers")],
                    sort: [
                        SortKey("total", descending: true, nilPlacement: .first),
                        SortKey("category.name", stringOrder: .localizedStandard),
                    ])), QueryParameters(limit: 4)
        ),
        (
            .aggregate(
                Aggregate(
                    "Item", groupBy: [.init("abs(n)", name: "size"), "price"], filtered,
                    having: .format("total > %@ OR size = nil AND cheapest < 1.5"),
                    sort: [SortKey("mean"), SortKey("price", descending: true)])),
            QueryParameters(arguments: [.value(2)])
        ),
        (
            .aggregate(
                Aggregate(
                    "Item", groupBy: ["real", "date", "code"], [],
                    sort: [SortKey("date", descending: true, nilPlacement: .last)])),
            QueryParameters()
        ),
        (
            .aggregate(
                Aggregate(
                    "Category", where: .format("items.@count > 0"),
                    groupBy: [.init("items.@max.small", name: "most")],
                    [.count, .init(.sum, "items.@sum.n", name: "s")], sort: [SortKey("s")])),
            QueryParameters()
        ),
    ]

    private static let everything: [Aggregate.Column] =
        [.count]
        + ["n", "small", "real", "single", "price"].flatMap { name in
            [
                .init(.sum, name), .init(.average, name), .init(.minimum, name),
                .init(.maximum, name), .init(.countDistinct, name), .init(.count, name),
            ]
        }
        + ["text", "date", "code"].flatMap { [.init(.minimum, $0), .init(.maximum, $0)] }
        + [.init(.count, "category"), .init(.countDistinct, "category.name")]

    private static let filtered: [Aggregate.Column] = [
        .init(.sum, "n * 2", where: "done = true", name: "total"),
        .init(.count, where: "n > 2", name: "many"),
        .init(.minimum, "single", where: "category.name != \"b\"", name: "least"),
        .init(.maximum, "small", where: "n = nil", name: "most"),
        .init(.minimum, "price", name: "cheapest"), .init(.average, "real", name: "mean"),
    ]

    @Test("the groups of an observed aggregate equal the rows of the query after any commits")
    func property() throws {
        var choice = SeededGenerator.fromEnvironment("aggregates that are kept up to date")
        var all = try Self.queries.map { try observed($0.0, $0.1) }
        var items: [PersistentIdentifier] = []
        var categories: [PersistentIdentifier] = []
        for round in 0..<RandomTesting.iterations(100) {
            try commit(&items, &categories, &choice)
            let keys = Set((items + removed).compactMap(\.permanentKey))
            let some = keys.filter { changed.contains($0) }
            let categoryKeys = Set((categories + removed).compactMap(\.permanentKey))
            for index in all.indices {
                // Which objects a change concerns is tested with the server.
                let candidates =
                    all[index].query.entityName == "Category"
                    ? categoryKeys : changesCategories ? keys : some
                try update(&all[index], of: candidates)
                let (query, parameters) = Self.queries[index]
                // A sum may have too many digits.
                let expected = try? fixture.batches(query, parameters, bytesMax: 300)
                let found = all[index].groups.batches(
                    all[index].columns, limit: parameters.limit, bytesMax: 300)
                guard found == expected else {
                    Issue.record(
                        """
                        round \(round), query \(index), seed \(choice.seed):
                        \(fixture.rows(found ?? []))
                        instead of
                        \(fixture.rows(expected ?? []))
                        """)
                    return
                }
            }
        }
    }

    /// The changes of the last commit.
    private final class Commit {
        var changed: Set<Int64> = []
        var removed: [PersistentIdentifier] = []
        var changesCategories = false
    }

    private let last = Commit()
    private var changed: Set<Int64> { last.changed }
    private var removed: [PersistentIdentifier] { last.removed }
    private var changesCategories: Bool { last.changesCategories }

    private func commit(
        _ items: inout [PersistentIdentifier], _ categories: inout [PersistentIdentifier],
        _ choice: inout SeededGenerator
    ) throws {
        var changes: [Change] = []
        (last.changed, last.removed, last.changesCategories) = ([], [], false)
        for number in 0..<Int.random(in: 1...4, using: &choice) {
            let isItem = Int.random(in: 0...5, using: &choice) > 0 || categories.isEmpty
            let known = isItem ? items : categories
            let object = known.filter { object in
                !changes.contains { $0.target == object }
            }.randomElement(using: &choice)
            if !isItem { last.changesCategories = true }
            let values = try isItem ? item(categories, &choice) : category(&choice)
            switch (Int.random(in: 0...5, using: &choice), object) {
            case (0, let object?) where changes.isEmpty:
                changes.append(.delete(object, ifVersion: nil))
                last.removed.append(object)
                if isItem { last.changed.formUnion([object.permanentKey ?? 0]) }
                items.removeAll { $0 == object }
                categories.removeAll { $0 == object }
                _ = try fixture.writer.save([ChangeSet(changes)]).first?.get()
                return
            case (1...3, let object?):
                changes.append(.update(object, ifVersion: nil, values: values))
                if isItem { last.changed.formUnion([object.permanentKey ?? 0]) }
            default:
                let names = isItem ? ["Item", "Offer"] : ["Category", "Section"]
                let temporary = PersistentIdentifier(
                    temporary: "t\(number)",
                    entityName: names.randomElement(using: &choice) ?? names[0])
                changes.append(.insert(temporary, values: values))
            }
        }
        let result = try #require(try fixture.writer.save([ChangeSet(changes)]).first?.get())
        for object in result.inserted {
            if ["Item", "Offer"].contains(object.entityName) {
                items.append(object)
                last.changed.formUnion([object.permanentKey ?? 0])
            } else {
                categories.append(object)
            }
        }
    }

    private func item(
        _ categories: [PersistentIdentifier], _ choice: inout SeededGenerator
    ) throws -> [String: Value] {
        func some(_ values: [Value]) -> Value {
            (values + [.null]).randomElement(using: &choice) ?? .null
        }
        var values: [String: Value] = [:]
        values["n"] = some([-3, 0, 1, 2, 4, 1_000_000_000_000])
        values["small"] = some([-2, 1, 2, 3])
        values["real"] = some([0.1, -0.0, 0.0, 1e300, -1e300, 2.5])
        values["single"] = some([.double(0.1), 1.5, -7.0])
        values["price"] = .null
        for text in ["1.0", "1.00", "0.1", "-3.25", "1e-36"]
        where Int.random(in: 0...4, using: &choice) == 0 {
            values["price"] = try Value(json: .string(text), type: .decimal)
        }
        values["text"] = some(["", "a", "B", "e\u{301}", "\u{E9}", "10", "9"])
        values["done"] = some([true, false])
        values["date"] = some([
            .date(Date(timeIntervalSinceReferenceDate: 0)),
            .date(Date(timeIntervalSinceReferenceDate: -86_400.5)),
        ])
        values["code"] = some([
            .uuid(try #require(UUID(uuidString: "00000000-0000-0000-0000-0000000000FF"))),
            .uuid(try #require(UUID(uuidString: "10000000-0000-0000-0000-000000000000"))),
        ])
        values["category"] = some(categories.map { .object($0) })
        return values
    }

    private func category(_ choice: inout SeededGenerator) throws -> [String: Value] {
        ["name": .string(["a1", "a10", "A2", "b", "\u{E9}"].randomElement(using: &choice) ?? "")]
    }

    // MARK: - Cost

    @Test("a change to an observed aggregate needs work for the changed objects only")
    func cost() throws {
        try fixture.insert(
            (0..<20_000).map { number in
                QueryFixture.Object(
                    entityName: "Item", name: "i\(number)",
                    values: [
                        "n": .integer(Int64(number % 1_000)), "text": .string("\(number % 7)"),
                    ])
            })
        let query = Query.aggregate(Aggregate("Item", groupBy: ["text"], [.init(.sum, "n")]))
        var live = try observed(query, QueryParameters())
        let budget = ReadBudget(work: 5_000)
        #expect(throws: (any Error).self) { try fixture.batches(query, budget: budget) }
        let object = try fixture.identifier("i10")
        let change = Change.update(object, ifVersion: nil, values: ["n": 500, "text": "new"])
        _ = try fixture.writer.save([ChangeSet([change])]).first?.get()
        try update(&live, of: [object.permanentKey ?? 0], budget: budget)
        let expected = try fixture.batches(query)
        #expect(live.groups.batches(live.columns, limit: nil, bytesMax: 1 << 20) == expected)
        #expect(live.groups.objectCount == 20_000)
    }
}

extension Change {
    fileprivate var target: PersistentIdentifier? {
        switch self {
        case .insert(let identifier, _, _), .update(let identifier, _, _, _, _),
            .delete(let identifier, _):
            identifier
        case .updateAll, .deleteAll: nil
        }
    }
}
