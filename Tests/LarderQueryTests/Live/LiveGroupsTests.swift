import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("The groups of an observed aggregate")
struct LiveGroupsTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                name: "Item",
                attributes: [
                    Attribute(name: "n", type: .int64, isOptional: true),
                    Attribute(name: "real", type: .double, isOptional: true),
                    Attribute(name: "price", type: .decimal, isOptional: true),
                    Attribute(name: "text", type: .string, isOptional: true),
                    Attribute(name: "date", type: .date, isOptional: true),
                    Attribute(name: "link", type: .url, isOptional: true),
                    Attribute(name: "notes", type: .json, isOptional: true),
                ],
                relationships: [
                    Relationship(name: "owner", destination: "Person", inverse: "items"),
                    Relationship(name: "place", destination: "Place", inverse: "items"),
                ]),
            Entity(
                name: "Place", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: "items", destination: "Item", isToMany: true, inverse: "place",
                        deleteRule: .noAction)
                ]),
            Entity(
                name: "Person", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: "items", destination: "Item", isToMany: true, inverse: "owner")
                ]),
            Entity(name: "Student", attributes: [], parent: "Base"),
            Entity(name: "Base", attributes: [Attribute(name: "m", type: .int64)]),
        ])
    }

    private func live(_ query: Query, limit: Int64? = nil) throws -> LiveAggregate? {
        try ObservableQuery(query, QueryParameters(limit: limit), in: schema, store: UUID())
            .aggregate
    }

    private func live(_ aggregate: Aggregate) throws -> LiveAggregate? {
        try live(.aggregate(aggregate))
    }

    /// The rows, or nil if they have to be read again.
    private func rows(
        _ groups: LiveGroups, _ columns: [(String, AttributeType)], limit: Int64? = nil
    ) -> [[Value]]? {
        let columns = columns.map { Column(name: $0.0, kind: .attribute($0.1)) }
        return groups.batches(columns, limit: limit, bytesMax: 1 << 20)?.flatMap { batch in
            batch.rows(store: UUID()).map(\.values)
        }
    }

    private func entry(_ key: Int64, _ values: Value...) -> LiveWindow.Entry {
        LiveWindow.Entry(key, values)
    }

    // MARK: - Changes

    @Test("a live aggregate adds, changes and removes the contributions of objects")
    func changes() throws {
        let aggregate = try #require(
            try live(
                Aggregate(
                    "Item", groupBy: ["text"],
                    [
                        .count, .init(.sum, "n"), .init(.average, "n"), .init(.minimum, "n"),
                        .init(.maximum, "n"), .init(.countDistinct, "n"),
                    ])))
        let columns: [(String, AttributeType)] = [
            ("text", .string), ("count", .int64), ("sum:n", .int64), ("average:n", .double),
            ("minimum:n", .int64), ("maximum:n", .int64), ("countDistinct:n", .int64),
        ]
        func entry(_ key: Int64, _ text: Value, _ n: Value) -> LiveWindow.Entry {
            LiveWindow.Entry(key, [text, n, n, n, n, n])
        }
        var groups = LiveGroups(aggregate)
        #expect(rows(groups, columns) == [])
        groups.apply(
            [1, 2, 3, 4, 5],
            matching: [
                entry(1, "b", 4), entry(2, "b", 1), entry(3, .null, .null), entry(4, "a", 7),
            ])
        #expect(
            rows(groups, columns) == [
                [.null, 1, 0, .null, .null, .null, 0], ["a", 1, 7, 7.0, 7, 7, 1],
                ["b", 2, 5, 2.5, 1, 4, 2],
            ])
        // An object changes its group, one leaves, one is added.
        groups.apply([2, 3, 5], matching: [entry(2, "a", 7), entry(5, "b", -4)])
        #expect(
            rows(groups, columns) == [["a", 2, 14, 7.0, 7, 7, 1], ["b", 2, 0, 0.0, -4, 4, 2]])
        groups.apply([1, 2, 4, 5], matching: [])
        #expect(rows(groups, columns) == [])
        #expect(groups.objectCount == 0)
    }

    @Test("a live aggregate without group keys has one row, even without objects")
    func noKeys() throws {
        let aggregate = try #require(
            try live(Aggregate("Item", [.count, .init(.sum, "price"), .init(.maximum, "date")])))
        let columns: [(String, AttributeType)] = [
            ("count", .int64), ("sum", .decimal), ("max", .date),
        ]
        var groups = LiveGroups(aggregate)
        #expect(rows(groups, columns) == [[0, .decimal(0), .null]])
        groups.apply([1], matching: [entry(1, .decimal(3), .null)])
        #expect(rows(groups, columns) == [[1, .decimal(3), .null]])
        groups.apply([1], matching: [])
        #expect(rows(groups, columns) == [[0, .decimal(0), .null]])
        #expect(rows(groups, columns, limit: 0) == [])
    }

    @Test("a live aggregate compares strings by bytes, and both zeros are one key")
    func keys() throws {
        let aggregate = try #require(
            try live(Aggregate("Item", groupBy: ["text", "real"], [.count])))
        var groups = LiveGroups(aggregate)
        groups.apply(
            [],
            matching: [
                entry(1, "e\u{301}", 0.0), entry(2, "\u{E9}", 0.0), entry(3, "\u{E9}", -0.0),
            ])
        let found = rows(groups, [("text", .string), ("real", .double), ("count", .int64)])
        #expect(found == [["e\u{301}", 0.0, 1], ["\u{E9}", 0.0, 2]])
    }

    @Test("a live aggregate orders and limits its groups, and applies HAVING")
    func order() throws {
        let aggregate = try #require(
            try live(
                Aggregate(
                    "Item", groupBy: ["text"], [.init(.sum, "n", name: "total")],
                    having: .format("total > 1 AND text != \"z\""),
                    sort: [SortKey("total", descending: true)])))
        var groups = LiveGroups(aggregate)
        let columns: [(String, AttributeType)] = [("text", .string), ("total", .int64)]
        groups.apply(
            [],
            matching: [
                entry(1, "a", 1), entry(2, "b", 2), entry(3, "c", 3), entry(4, "d", 3),
                entry(5, "z", 9),
            ])
        #expect(rows(groups, columns) == [["c", 3], ["d", 3], ["b", 2]])
        #expect(rows(groups, columns, limit: 2) == [["c", 3], ["d", 3]])
        groups.apply([1, 3], matching: [entry(1, "a", 8), entry(3, "c", 0)])
        #expect(rows(groups, columns) == [["a", 8], ["d", 3], ["b", 2]])
    }

    @Test("a live aggregate has no result while a sum exceeds its type")
    func overflow() throws {
        let aggregate = try #require(try live(Aggregate("Item", [.init(.sum, "n")])))
        var groups = LiveGroups(aggregate)
        groups.apply([], matching: [entry(1, .int(.max)), entry(2, 1)])
        #expect(rows(groups, [("sum", .int64)]) == nil)
        groups.apply([2], matching: [])
        #expect(rows(groups, [("sum", .int64)]) == [[.int(.max)]])
    }

    @Test("the live sum of doubles or decimals does not depend on removed values")
    func sums() throws {
        let aggregate = try #require(
            try live(Aggregate("Item", [.init(.sum, "real"), .init(.average, "price")])))
        let columns: [(String, AttributeType)] = [("sum", .double), ("average", .decimal)]
        var groups = LiveGroups(aggregate)
        let tiny = Decimal(sign: .plus, exponent: -100, significand: 1)
        groups.apply(
            [],
            matching: [
                entry(1, 0.1, .decimal(tiny)), entry(2, 1e300, .decimal(1)),
                entry(3, .double(.infinity), .null),
            ])
        groups.apply([4], matching: [entry(4, .double(-.infinity), .null)])
        #expect(rows(groups, columns) == nil)
        groups.apply([2], matching: [])
        #expect(rows(groups, columns)?.first?.first == .null)
        groups.apply([4], matching: [])
        #expect(rows(groups, columns)?.first?.first == .double(.infinity))
        groups.apply([3], matching: [])
        #expect(rows(groups, columns) == [[0.1, .decimal(tiny)]])
    }

    @Test("a live aggregate equals the groups of the same objects in any order after any changes")
    func random() throws {
        var choice = SeededGenerator.fromEnvironment("the groups of an observed aggregate")
        let aggregate = try #require(
            try live(
                Aggregate(
                    "Item", groupBy: ["text"],
                    [
                        .count, .init(.minimum, "n"), .init(.maximum, "n"),
                        .init(.countDistinct, "n"), .init(.sum, "real"),
                    ], sort: [SortKey("minimum:n"), SortKey("maximum:n", descending: true)])))
        let columns: [(String, AttributeType)] = [
            ("text", .string), ("count", .int64), ("min", .int64), ("max", .int64),
            ("distinct", .int64), ("sum", .double),
        ]
        for _ in 0..<20 {
            var objects: [Int64: LiveWindow.Entry] = [:]
            var groups = LiveGroups(aggregate)
            for _ in 0..<200 {
                var evaluated: Set<Int64> = []
                for _ in 0..<Int.random(in: 1...4, using: &choice) {
                    let key = Int64.random(in: 1...60, using: &choice)
                    evaluated.insert(key)
                    objects[key] = nil
                    guard Int.random(in: 0...3, using: &choice) > 0 else { continue }
                    let text = [Value.null, "a", "b", "c"].randomElement(using: &choice) ?? .null
                    let n: Value =
                        Bool.random(using: &choice)
                        ? .null : .int(.random(in: -9...9, using: &choice))
                    let real = Value.double(.random(in: -1e9...1e9, using: &choice))
                    objects[key] = LiveWindow.Entry(key, [text, n, n, n, real])
                }
                groups.apply(evaluated, matching: evaluated.compactMap { objects[$0] })
                var fresh = LiveGroups(aggregate)
                fresh.apply([], matching: objects.values.shuffled(using: &choice))
                #expect(rows(groups, columns) == rows(fresh, columns), "seed \(choice.seed)")
            }
        }
    }

    // MARK: - Which queries

    @Test("an aggregate that cannot be computed from single objects is read again")
    func fallback() throws {
        #expect(try live(.count(entityName: "Item", predicate: .format("n > 1"))) != nil)
        #expect(try live(.count(entityName: "Base", predicate: nil)) != nil)
        #expect(try live(.count(entityName: "Item", predicate: .format("date < now()"))) == nil)
        #expect(try live(.fetch(Fetch("Item"))) == nil)
        for key in ["text", "real", "date", "owner", "owner.name", "length(text)", "n > 2"] {
            #expect(try live(Aggregate("Item", groupBy: [.init(key)], [.count])) != nil, "\(key)")
        }
        for key in ["real * 2", "link", "notes.a", "price + 1", "place.name", "place"] {
            #expect(try live(Aggregate("Item", groupBy: [.init(key)], [.count])) == nil, "\(key)")
        }
        for function in AggregateFunction.allCases {
            let isComputed = ![.median, .mode, .stddev].contains(function)
            let column = Aggregate.Column(function, "n", where: "n != 3")
            #expect(try (live(Aggregate("Item", [column])) != nil) == isComputed, "\(function)")
        }
        #expect(try live(Aggregate("Item", [.init(.count, "notes.a")])) == nil)
        #expect(try live(Aggregate("Item", [.init(.count, "link")])) == nil)
        for having in ["total > 1", "total + 1 BETWEEN {2, 4}"] {
            #expect(try live(having: having) != nil, "\(having)")
        }
        for having in ["text MATCHES \"a\"", "owner.name == \"a\"", "other > 1"] {
            #expect(try live(having: having) == nil, "\(having)")
        }
        let sorted = Aggregate("Item", [.init(.sum, "n", name: "s")], sort: [SortKey("s * 2")])
        #expect(try live(sorted) == nil)
    }

    private func live(having: String) throws -> LiveAggregate? {
        try live(
            Aggregate(
                "Item", groupBy: ["text", "owner.name"], [.init(.sum, "n", name: "total")],
                having: .format(having)))
    }
}
