import FoundationEssentials
import LarderModel
import LarderWire
import TestSupport
import Testing

@Suite("the bound of a result's encoded size")
struct AnswerSizeTests {
    private func encodedBytes(_ reply: Reply) throws -> Int {
        var bytes: [UInt8] = []
        try WireCodec().encode(ReplyEnvelope(id: .max, reply: reply), into: &bytes)
        return bytes.count
    }

    private func identifiers(
        _ count: Int, using random: inout SeededGenerator
    ) -> [PersistentIdentifier] {
        (0..<count).map { _ in
            PersistentIdentifier(
                store: UUID(),
                entityName: String(
                    repeating: "E", count: .random(in: 1...Limits.nameBytesMax, using: &random)),
                key: .random(in: 1 ... .max, using: &random))
        }
    }

    @Test("the bound of a result's encoded size is never less than the size, and not much more")
    func results() throws {
        var random = SeededGenerator.fromEnvironment("sizes of results")
        for _ in 0..<RandomTesting.iterations(300) {
            let counts = (0..<5).map { _ in Int.random(in: 0...40, using: &random) }
            let least: Int64 = Bool.random(using: &random) ? .min : 0
            let result = SaveResult(
                inserted: identifiers(counts[0], using: &random),
                updatedVersions: (0..<counts[1]).map { _ in
                    .random(in: least ... .max, using: &random)
                },
                deletedCount: .random(in: least ... .max, using: &random),
                merged: (0..<counts[2]).map { _ in .random(in: 0...1_000_000, using: &random) },
                transaction: .max,
                affected: (0..<counts[3] / 4).map { _ in
                    AffectedObjects(
                        count: .max, identifiers: identifiers(counts[2], using: &random))
                },
                upserted: (0..<counts[4]).map { _ in .random(in: 0...1_000_000, using: &random) })
            let size = try encodedBytes(.saved(result))
            #expect(size <= result.encodedBytesMax, "seed \(random.seed)")
            #expect(result.encodedBytesMax <= 4 * size + 200, "seed \(random.seed)")
            #expect(result.fits(inBytes: result.encodedBytesMax))
            #expect(!result.fits(inBytes: result.encodedBytesMax - 1))
            let rows = InsertedRows(
                rowCount: .max, batchCount: .max,
                keys: (0..<counts[0]).map { _ in KeyRange(first: 1 << 62, count: .max) },
                transaction: .max)
            #expect(try encodedBytes(.inserted(rows, more: true)) <= rows.encodedBytesMax)
        }
    }
}
