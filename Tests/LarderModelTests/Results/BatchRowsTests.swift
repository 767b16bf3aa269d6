import FoundationEssentials
import LarderModel
import Testing

@Suite("Rows of a batch")
struct BatchRowsTests {
    private let store = UUID()

    private func batch() throws -> Batch {
        func column(_ name: String, _ kind: Column.Kind, _ values: [Value]) throws -> Column {
            var column = Column(name: name, kind: kind)
            for value in values { try column.append(value) }
            return column
        }
        func object(_ key: Int64) -> PersistentIdentifier {
            PersistentIdentifier(
                store: store, entityName: key % 4 == 2 ? "B" : "A", key: key)
        }
        return Batch(
            rowCount: 10,
            identity: .init(
                entityName: "A", keys: Array(1...10), versions: [Int64](repeating: 1, count: 10)),
            columns: [
                try column("n", .attribute(.int64), (0..<10).map { $0 % 3 == 0 ? nil : .int($0) }),
                try column("d", .attribute(.double), (0..<10).map { .double(Double($0)) }),
                try column(
                    "s", .attribute(.string),
                    (0..<10).map { $0 == 8 ? nil : .string(String(repeating: "é", count: $0)) }),
                try column(
                    "l", .objects(entityName: "A"),
                    (0..<10).map { .objects((0..<$0).map { object(Int64($0) + 1) }) }),
            ])
    }

    @Test("each range of a batch's rows is a batch with the same values")
    func ranges() throws {
        let batch = try batch()
        let rows = batch.rows(store: store)
        for start in 0...10 {
            for end in start...10 {
                let part = batch.rows(start..<end)
                try part.check()
                #expect(part.rows(store: store) == Array(rows[start..<end]))
                #expect(part.identity?.keys == Array(Int64(start) + 1..<Int64(end) + 1))
            }
        }
    }

    @Test("the rows and records of a batch have the values of its columns")
    func values() throws {
        var batch = try batch()
        batch.columns.append(batch.columns[0])
        batch.columns[4].name = "m"
        batch.identity?.versions = Array(11...20)
        let (rows, records) = (batch.rows(store: store), batch.records(store: store))
        #expect(rows.count == 10 && records.count == 10)
        for row in 0..<10 {
            let values = batch.columns.map { $0.value(at: row, store: store) }
            #expect(rows[row] == Row(names: ["n", "d", "s", "l", "m"], values: values))
            #expect(records[row].identifier.permanentKey == Int64(row) + 1)
            #expect(records[row].version == Int64(row) + 11)
            #expect(
                records[row].values
                    == Dictionary(uniqueKeysWithValues: zip(rows[row].names, values)))
        }
        #expect(records[3]["n"] == .null && records[4]["n"] == .int(4))
        #expect(records[8]["s"] == .null && records[2]["s"] == .string("éé"))
    }

    @Test("changing one record of a batch does not change its other records")
    func independence() throws {
        var records = try batch().records(store: store)
        records[1].values["n"] = .int(99)
        #expect(try records[0] == batch().records(store: store)[0])
        #expect(try records[2...] == batch().records(store: store)[2...])
    }

    @Test("a record has the last of several columns with one name")
    func sameName() throws {
        var batch = try batch()
        batch.columns[1].name = "n"
        for (row, record) in batch.records(store: store).enumerated() {
            #expect(record["n"] == .double(Double(row)) && record.values.count == 3)
        }
    }
}
