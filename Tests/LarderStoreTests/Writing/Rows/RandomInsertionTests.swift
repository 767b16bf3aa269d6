import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("rows of a stream and the same inserts of a change set")
struct RandomInsertionTests {
    /// Every type, bounds of each kind, and a default.
    private static let sample = Entity(
        name: "Sample",
        attributes: AttributeType.allCases.map {
            Attribute(name: $0.rawValue, type: $0, isOptional: true)
        } + [
            Attribute(
                name: "bound", type: .int32, isOptional: true, defaultValue: .int(3),
                validation: .init(minimum: .int(0), maximum: .int(5))),
            Attribute(
                name: "ratio", type: .double, isOptional: true,
                validation: .init(minimum: .double(0), maximum: .double(1))),
            Attribute(
                name: "word", type: .string, isOptional: true,
                validation: .init(minLength: 1, maxLength: 3)),
            Attribute(
                name: "bytes", type: .data, isOptional: true, validation: .init(maxLength: 2)),
            Attribute(name: "needed", type: .bool),
        ],
        relationships: [
            Relationship(name: "group", destination: "Group", inverse: "samples"),
            Relationship(name: "list", destination: "Group", isToMany: true),
        ],
        uniquenessConstraints: [["int16", "group"]])
    private static let group = Entity(
        name: "Group",
        attributes: [Attribute(name: "name", type: .string, isOptional: true, unique: .exact)],
        relationships: [
            Relationship(
                name: "samples", destination: "Sample", isToMany: true, isOrdered: true,
                inverse: "group", maxCount: 4)
        ])

    @Test("rows of a stream and the same inserts of a change set have the same result")
    func sameMeaning() throws {
        var generator = SeededGenerator.fromEnvironment("rows and inserts")
        var storedCount = 0
        for _ in 0..<RandomTesting.iterations(75) {
            let schema = try Schema(entities: [Self.sample, Self.group])
            let (one, other) = (try Library(schema: schema), try Library(schema: schema))
            for _ in 0..<4 {
                let (names, rows) = Self.rows(in: one, using: &generator)
                let entityName = names.contains("name") ? "Group" : "Sample"
                let policy: UniqueConflictPolicy =
                    Int.random(in: 0..<3, using: &generator) == 0 ? .upsert : .error
                let batches = try Self.batches(one, entityName, names, rows, using: &generator)
                let streamed = one.writer.insert(
                    InsertionRequest(
                        Insertion(entityName, onUniqueConflict: policy, wantsIdentifiers: true)),
                    firstRow: 0, Batches(batches))
                let changes = rows.enumerated().map { place, row in
                    Change.insert(
                        .new("\(place)", entityName),
                        values: Dictionary(
                            uniqueKeysWithValues: zip(names, row.map { other.moved($0) })))
                }
                let saved = other.writer.save([
                    ChangeSet(changes, onUniqueConflict: policy)
                ])[0]
                switch (streamed, saved) {
                case (.success(let rows), .success(let set)):
                    storedCount += 1
                    let keys = rows.identifiers(of: entityName, store: UUID()).map(\.permanentKey)
                    #expect(keys == set.inserted.map(\.permanentKey), "seed \(generator.seed)")
                case (.failure(let planError), .failure(let error)):
                    let found = Set(error.details.map { "\($0.change ?? -1) \($0.code)" })
                    let first = planError.details.first.map { "\($0.change ?? -1) \($0.code)" }
                    #expect(
                        found.contains(first ?? ""),
                        "seed \(generator.seed): \(planError), not \(error)")
                default: Issue.record("seed \(generator.seed): \(streamed), but \(saved)")
                }
                #expect(try one.objects() == other.objects(), "seed \(generator.seed)")
            }
        }
        #expect(storedCount > 50)
    }

    @Test("rows of a stream are stored equally, whatever number of them one statement stores")
    func manyRows() throws {
        var generator = SeededGenerator.fromEnvironment("many rows")
        let types = AttributeType.allCases.map(\.rawValue)
        let sample = Entity(
            name: "Sample",
            attributes: AttributeType.allCases.map {
                Attribute(name: $0.rawValue, type: $0, isOptional: true)
            }
                + [Attribute(name: "other", type: .int32, defaultValue: .int(3))],
            relationships: [Relationship(name: "group", destination: "Group", inverse: "samples")])
        let group = Entity(
            name: "Group", attributes: [],
            relationships: [
                Relationship(
                    name: "samples", destination: "Sample", isToMany: true, inverse: "group")
            ])
        for _ in 0..<RandomTesting.iterations(10) {
            let schema = try Schema(entities: [sample, group])
            let (one, other) = (try Library(schema: schema), try Library(schema: schema))
            for library in [one, other] { for _ in 1...2 { try library.insert("Group") } }
            let names = (types + ["group"]).filter { _ in Bool.random(using: &generator) }
            let groups = [one.identifier("Group", 1), one.identifier("Group", 2)]
            let rows = (0..<200).map { _ in
                names.map { Self.value(of: $0, groups, using: &generator) }
            }
            _ = try one.inserted(Insertion("Sample"), [one.batch("Sample", names, rows)])
            let single = try other.batch(
                "Sample", names, rows.map { $0.map { other.moved($0) } })
            let batches = (0..<20).map { single.rows($0 * 10..<$0 * 10 + 10) }
            _ = try other.inserted(Insertion("Sample"), batches)
            let text: SQL = "SELECT * FROM \"Sample\" ORDER BY 1"
            #expect(try one.rows(text) == other.rows(text), "seed \(generator.seed)")
            #expect(try one.rows(text).count == 200)
        }
    }

    /// Some rows of one of the entities; most are valid.
    private static func rows(
        in library: Library, using generator: inout SeededGenerator
    ) -> (names: [String], rows: [[Value]]) {
        let groups = (1...5).map { library.identifier("Group", $0) }
        let count = Int.random(in: 1...5, using: &generator)
        if Int.random(in: 0..<2, using: &generator) == 0 {
            let rows = (0..<count).map { _ -> [Value] in
                [.string("n\(Int.random(in: 0..<30, using: &generator))")]
            }
            return (["name"], rows)
        }
        var names = (sample.attributes.map(\.name) + ["group", "list"]).filter { _ in
            Int.random(in: 0..<3, using: &generator) == 0
        }
        if !names.contains("needed") { names.append("needed") }
        let rows = (0..<count).map { _ in
            names.map { name -> Value in
                value(of: name, groups, using: &generator)
            }
        }
        return (names, rows)
    }

    private static func value(
        of name: String, _ groups: [PersistentIdentifier], using generator: inout SeededGenerator
    ) -> Value {
        if Int.random(in: 0..<(name == "needed" ? 60 : 5), using: &generator) == 0,
            name != "list"
        {
            return .null
        }
        let group = groups[Int.random(in: 0..<2, using: &generator) == 0 ? 0 : 1]
        switch name {
        case "bool", "needed": return .bool(Bool.random(using: &generator))
        case "int16", "int32", "int64": return .int(Int64.random(in: -2...9, using: &generator))
        case "bound":
            let most: Int64 = Int.random(in: 0..<9, using: &generator) == 0 ? 6 : 5
            return .int(Int64.random(in: 0...most, using: &generator))
        case "ratio": return .double(Double.random(in: 0...1.02, using: &generator))
        case "float": return .float(Float.random(in: -1...1, using: &generator))
        case "double":
            return .double([0.5, -0.0, .infinity, 1e300].randomElement(using: &generator) ?? 0)
        case "decimal": return .decimal(Decimal(Int.random(in: -99...99, using: &generator)) / 10)
        case "string", "word":
            let words = ["a", "bc", "ü", "e\u{301}", "\r\n", "😀", "日本"]
            return .string(words.randomElement(using: &generator) ?? "")
        case "date": return .date(Date(timeIntervalSinceReferenceDate: 0.25))
        case "uuid": return .uuid(someUUID)
        case "url": return URL(string: "https://example.org/a?b=c").map { .url($0) } ?? .null
        case "data", "bytes":
            return .data(Data(repeating: 7, count: Int.random(in: 0...2, using: &generator)))
        case "json": return .json("[1, {\"a\": null}]")
        case "group": return .object(group)
        default: return .objects(Bool.random(using: &generator) ? [group] : [])
        }
    }

    private static let someUUID = UUID(uuidString: "1B4E28BA-2FA1-41D2-883F-0016D3CCA427") ?? UUID()

    /// The rows in one batch or two.
    private static func batches(
        _ library: Library, _ entityName: String, _ names: [String], _ rows: [[Value]],
        using generator: inout SeededGenerator
    ) throws -> [Batch] {
        let batch = try library.batch(entityName, names, rows)
        let cut = Int.random(in: 0...rows.count, using: &generator)
        // The keys that upserts leave unused depend on the end of a set, not on batches.
        return [batch.rows(0..<cut), batch.rows(cut..<rows.count)]
    }
}

extension Library {
    /// The value with objects of this store.
    fileprivate func moved(_ value: Value) -> Value {
        func moved(_ other: PersistentIdentifier) -> PersistentIdentifier {
            identifier(other.entityName, other.permanentKey ?? 0)
        }
        return switch value {
        case .object(let object): .object(moved(object))
        case .objects(let objects): .objects(objects.map { moved($0) })
        default: value
        }
    }

    /// All rows without the times in the history.
    fileprivate func objects() throws -> [[SQLValue]] {
        try rows("SELECT * FROM _change ORDER BY 1, 2")
            + ["Sample", "Group", "_join.Sample.list"].flatMap { table in
                try rows("SELECT * FROM \(name: table) ORDER BY 1, 2")
            }
    }
}
