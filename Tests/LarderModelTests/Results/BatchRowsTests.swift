import FoundationEssentials
import LarderModel
import Testing

@Suite("Rows of a batch")
struct BatchRowsTests {
    private let store = UUID()

    private func batch() throws -> Batch {
        func column(_ name: String, _ kind: Column.Kind, _ values: [Value]) throws -> Column {
            var builder = ColumnBuilder(name: name, kind: kind)
            for value in values { try builder.append(value) }
            return builder.column
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

    @Test("each range is a batch of its own with the same values")
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
}
