import FoundationEssentials
import LarderModel
import Testing

@Suite("Batches")
struct BatchTests {
    let store = UUID()

    func identifier(_ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(store: store, entityName: "Article", key: key)
    }

    func column(_ name: String, _ kind: Column.Kind, _ values: [Value]) throws -> Column {
        var column = Column(name: name, kind: kind)
        for value in values { try column.append(value) }
        return column
    }

    @Test("a value of each kind is read from a column as it was appended, also next to nil")
    func eachKind() throws {
        let kinds: [(Column.Kind, [Value])] = [
            (.attribute(.bool), [true, nil, false]),
            (.attribute(.int16), [-1, nil, 32_767]),
            (.attribute(.int32), [-1, nil, 2_147_483_647]),
            (.attribute(.int64), [.int(.min), nil, .int(.max)]),
            (.attribute(.float), [.float(0.1), nil, .float(-.infinity)]),
            (.attribute(.double), [.double(0.1), nil, .double(.infinity)]),
            (.attribute(.decimal), [.decimal(Decimal(-15) / 10), nil, .decimal(0)]),
            (.attribute(.string), ["", nil, "é 🏳️‍🌈"]),
            (.attribute(.date), [.date(Date(timeIntervalSinceReferenceDate: -0.5)), nil]),
            (.attribute(.uuid), [.uuid(UUID()), nil, .uuid(UUID())]),
            (.attribute(.url), [.url(try #require(URL(string: "https://a.example/b?c#d"))), nil]),
            (.attribute(.data), [.data(Data([0, 255])), nil, .data(Data())]),
            (.attribute(.json), [.json("{}"), nil, .json("[1]")]),
            (.object(entityName: "Article"), [.object(identifier(1)), nil]),
            (
                .objects(entityName: "Article"),
                [.objects([identifier(2), identifier(1)]), nil, .objects([])]
            ),
        ]
        for (kind, values) in kinds {
            let column = try column("c", kind, values)
            let batch = Batch(rowCount: values.count, columns: [column])
            try batch.check()
            #expect(values.indices.map { column.value(at: $0, store: store) } == values)
            #expect(batch.rows(store: store).map { $0["c"] } == values)
        }
    }

    @Test("a column of nils and a column without rows are valid")
    func nils() throws {
        let values = [Value](repeating: nil, count: 17)
        for kind: Column.Kind in [.attribute(.uuid), .attribute(.int64), .objects(entityName: "A")]
        {
            let column = try column("c", kind, values)
            try Batch(rowCount: 17, columns: [column]).check()
            #expect((0..<17).allSatisfy { column.value(at: $0, store: store).isNull })
            try Batch(columns: [Column(name: "c", kind: kind)]).check()
        }
    }

    @Test("a column rejects a value of another type with its name")
    func mismatch() {
        var column = Column(name: "title", kind: .attribute(.string))
        let error = #expect(throws: LarderError.self) { try column.append(.int(1)) }
        #expect(error?.code == .wrongType)
        #expect(error?.message.contains("`title`") == true)
        #expect(column.rowCount == 0)
    }

    @Test("records have the identity of their rows, and rows without identity have no records")
    func records() throws {
        var batch = Batch(
            rowCount: 2,
            identity: Batch.Identity(entityName: "Article", keys: [7, 9], versions: [1, 3]),
            columns: [try column("title", .attribute(.string), ["a", nil])])
        let records = batch.records(store: store)
        #expect(records.map(\.identifier) == [identifier(7), identifier(9)])
        #expect(records.map(\.version) == [1, 3])
        #expect(records[0]["title"] == "a" && records[1]["title"] == .some(.null))
        batch.identity = nil
        #expect(batch.records(store: store).isEmpty)
    }

    @Test("a row has no value for an unknown name")
    func rowNames() {
        let row = Row(names: ["a", "b"], values: [1])
        #expect(row["a"] == 1 && row["b"] == nil && row["c"] == nil)
    }

    @Test("a batch with an inconsistent column is rejected")
    func malformed() {
        let text = Column.Kind.attribute(.string)
        let columns: [(Column.Kind, Column.Storage, [UInt8])] = [
            (.attribute(.int64), .integers([1]), []),
            (.attribute(.int64), .integers([1, 2, 3]), []),
            (.attribute(.int64), .doubles([1, 2]), []),
            (.attribute(.double), .integers([1, 2]), []),
            (.attribute(.double), .doubles([1]), []),
            (.attribute(.int64), .integers([1, 2]), [0, 0]),
            (text, .bytes(heap: [65], ends: [1]), []),
            (text, .bytes(heap: [65], ends: [1, 0]), []),
            (text, .bytes(heap: [65], ends: [1, 2]), []),
            (text, .bytes(heap: [65, 66], ends: [0, 1]), []),
            (text, .bytes(heap: [], ends: [0, .max]), []),
            (text, .bytes(heap: [0xC3, 0xA9], ends: [1, 2]), []),
            (text, .bytes(heap: [0xC3, 0x41], ends: [1, 2]), []),
            (.attribute(.uuid), .bytes(heap: [1, 2], ends: [1, 2]), []),
            (.attribute(.decimal), .bytes(heap: [0x31, 0x78], ends: [1, 2]), []),
            (.attribute(.url), .bytes(heap: [0x61, 0x20], ends: [1, 2]), []),
            (.objects(entityName: "A"), .lists(keys: [1], ends: [2, 2]), []),
            (.objects(entityName: "A"), .lists(keys: [1, 2], ends: [2, 1]), []),
            (.objects(entityName: "A"), .integers([1, 2]), []),
        ]
        for (kind, storage, nulls) in columns {
            let column = Column(name: "bad", kind: kind, storage: storage, nulls: nulls)
            let error = #expect(throws: LarderError.self, "\(storage)") {
                try Batch(rowCount: 2, columns: [column]).check()
            }
            #expect(error?.code == .malformedMessage)
            #expect(error?.message.contains("`bad`") == true)
        }
    }

    @Test("a batch whose subentities are not named, or do not match its keys, is rejected")
    func malformedSubentities() {
        for indexes in [[0, 2], [0], [0, 0, 0]] as [[UInt32]] {
            let subentities = Subentities(names: ["B"], indexes: indexes)
            let identity = Batch.Identity(
                entityName: "A", keys: [1, 2], versions: [1, 1], subentities: subentities)
            let columns = [
                Column(
                    name: "o", kind: .object(entityName: "A"), storage: .integers([1, 2]),
                    subentities: subentities),
                Column(
                    name: "m", kind: .objects(entityName: "A"),
                    storage: .lists(keys: [1, 2], ends: [0, 2]), subentities: subentities),
            ]
            #expect(throws: LarderError.self) {
                try Batch(rowCount: 2, identity: identity, columns: []).check()
            }
            for column in columns {
                #expect(throws: LarderError.self) {
                    try Batch(rowCount: 2, columns: [column]).check()
                }
            }
        }
    }

    @Test("the objects of a batch have the names of their actual entities")
    func subentities() throws {
        let objects = ["B", "A", "C", "B"].enumerated().map { key, name in
            PersistentIdentifier(store: store, entityName: name, key: Int64(key))
        }
        var single = Column(name: "o", kind: .object(entityName: "A"))
        var many = Column(name: "m", kind: .objects(entityName: "A"))
        let values: [Value] = objects.map { .object($0) } + [.null]
        for value in values { try single.append(value) }
        let lists: [Value] = [
            .objects([objects[1]]), .objects([]), .objects(objects), .objects([objects[2]]),
            .objects([]),
        ]
        for value in lists { try many.append(value) }
        #expect(
            single.subentities == Subentities(names: ["B", "C"], indexes: [1, 0, 2, 1, 0]))
        let batch = Batch(rowCount: 5, columns: [single, many])
        try batch.check()
        #expect(batch.rows(store: store).map(\.values) == zip(values, lists).map { [$0, $1] })
        #expect(batch.rows(1..<2).columns.map(\.subentities) == [Subentities(), Subentities()])
    }

    @Test("a batch with an identity of another length, or a negative count, is rejected")
    func malformedIdentity() {
        let short = Batch.Identity(entityName: "A", keys: [1], versions: [1])
        #expect(throws: LarderError.self) {
            try Batch(rowCount: 2, identity: short, columns: []).check()
        }
        #expect(throws: LarderError.self) { try Batch(rowCount: -1, columns: []).check() }
    }
}
