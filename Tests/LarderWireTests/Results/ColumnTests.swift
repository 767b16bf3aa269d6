import LarderModel
import LarderWire
import Testing

@Suite("Rows are encoded as columns")
struct ColumnTests {
    private static let rowCount = 10_000

    /// Names of growing length, every seventh nil.
    private static func names() -> Column {
        var heap: [UInt8] = []
        var ends: [UInt32] = []
        var nulls = [UInt8](repeating: 0, count: (rowCount + 7) / 8)
        for row in 0..<rowCount {
            if row % 7 == 0 {
                nulls[row / 8] |= 1 << UInt8(row % 8)
            } else {
                heap += Array("näme \(row)".utf8)
            }
            ends.append(UInt32(heap.count))
        }
        return Column(
            name: "name", kind: .attribute(.string), storage: .bytes(heap: heap, ends: ends),
            nulls: nulls)
    }

    private static func batch() -> Batch {
        let integers = (0..<rowCount).map { Int64($0) &* 0x0102_0304_0506_0709 }
        return Batch(
            rowCount: rowCount,
            identity: .init(
                entityName: "Student", keys: (1...rowCount).map(Int64.init),
                versions: Array(repeating: 1, count: rowCount)),
            columns: [
                Column(name: "n", kind: .attribute(.int64), storage: .integers(integers)),
                Column(
                    name: "d", kind: .attribute(.double),
                    storage: .doubles((0..<rowCount).map { Double($0) / 3 })),
                names(),
                Column(
                    name: "courses", kind: .objects(entityName: "Course"),
                    storage: .lists(
                        keys: (0..<2 * rowCount).map(Int64.init),
                        ends: (1...rowCount).map { UInt32($0 * 2) })),
            ])
    }

    @Test("10,000 rows in columns are decoded as they were encoded")
    func manyRows() throws {
        let batch = Self.batch()
        let envelope = ReplyEnvelope(id: 1, reply: .batches([batch], more: false))
        let decoded = try WireTesting.reply(try WireTesting.frame(envelope))
        #expect(decoded == envelope)
        guard case .batches(let batches, _) = decoded.reply else { return }
        let records = batches[0].records(store: Samples.store)
        #expect(records.count == Self.rowCount)
        #expect(records[7]["name"] == .null)
        #expect(records[9_999]["name"] == "näme 9999")
        #expect(records[9_999]["d"] == .double(3_333))
        #expect(
            records[1]["courses"]
                == .objects(
                    [2, 3].map {
                        PersistentIdentifier(store: Samples.store, entityName: "Course", key: $0)
                    }))
    }

    @Test("numbers in columns are eight bytes each, least significant byte first")
    func layout() throws {
        let integers: [Int64] = [1, -1, 0x0102_0304_0506_0708]
        let batch = Batch(
            rowCount: 3,
            columns: [Column(name: "n", kind: .attribute(.int64), storage: .integers(integers))])
        let frame = try WireTesting.frame(
            ReplyEnvelope(id: 1, reply: .batches([batch], more: false)))
        let expected: [UInt8] =
            [1, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 255, count: 8) + [8, 7, 6, 5, 4, 3, 2, 1]
        #expect(frame.suffix(26) == [0x22, 24] + expected)
    }

    @Test("10,000 rows of a number take eight bytes each, and at most 40 bytes more")
    func density() throws {
        let column = Self.batch().columns[0]
        let batch = Batch(rowCount: Self.rowCount, columns: [column])
        let frame = try WireTesting.frame(
            ReplyEnvelope(id: 1, reply: .batches([batch], more: true)))
        #expect(frame.count <= 8 * Self.rowCount + 40)
    }

    @Test("numbers in columns that are not packed are decoded too")
    func unpacked() throws {
        let column = ProtoBytes().text(1, "n").number(2, 4).fixed64(4, 5).fixed64(4, 6)
        let batch = ProtoBytes().number(1, 2).message(3, column)
        let reply = try WireTesting.reply(
            content: ProtoBytes.envelope(31, ProtoBytes().message(1, batch)))
        let expected = Column(name: "n", kind: .attribute(.int64), storage: .integers([5, 6]))
        #expect(reply.reply == .batches([Batch(rowCount: 2, columns: [expected])], more: false))
    }

    @Test("columns that do not fit their rows are rejected")
    func inconsistent() {
        let integers = ProtoBytes().text(1, "n").number(2, 4)
        let strings = ProtoBytes().text(1, "s").number(2, 8)
        let uuids = ProtoBytes().text(1, "u").number(2, 10)
        let lists = ProtoBytes().text(1, "l").number(2, 15).text(3, "Course")
        let cases: [(String, UInt64, ProtoBytes)] = [
            ("no type", 0, ProtoBytes().text(1, "n")),
            ("an unknown type", 0, ProtoBytes().text(1, "n").number(2, 16)),
            ("a number too few", 2, integers.fixed64(4, 1)),
            ("a number too many", 0, integers.fixed64(4, 1)),
            ("rows without limit", 0xffff_ffff, integers),
            ("half a number", 1, integers.bytes(4, [1, 2, 3, 4])),
            ("doubles for integers", 1, integers.fixed64(5, 1)),
            ("no ends", 1, strings.text(6, "a")),
            ("an end beyond the heap", 1, strings.text(6, "a").fixed32(7, 2)),
            ("an end before the heap's", 1, strings.text(6, "ab").fixed32(7, 1)),
            ("ends that go back", 2, strings.text(6, "a").fixed32(7, 1).fixed32(7, 0)),
            ("text that is not UTF-8", 1, strings.bytes(6, [0xff]).fixed32(7, 1)),
            ("a cut character", 2, strings.text(6, "é").fixed32(7, 1).fixed32(7, 2)),
            ("15 bytes of UUID", 1, uuids.bytes(6, Array(0..<15)).fixed32(7, 15)),
            ("an end beyond the list", 1, lists.fixed64(4, 1).fixed32(7, 2)),
            ("a list without entity", 0, ProtoBytes().text(1, "l").number(2, 15)),
            ("more nils than rows", 1, integers.fixed64(4, 1).bytes(8, [0, 0])),
        ]
        for (what, rowCount, column) in cases {
            let batch = ProtoBytes().number(1, rowCount).message(3, column)
            let rejected = WireTesting.rejectionOfReply(
                content: ProtoBytes.envelope(31, ProtoBytes().message(1, batch)))
            #expect(rejected?.error.code == .malformedMessage, "\(what)")
        }
    }

    @Test("rows without columns, and incomplete identities, are rejected")
    func identities() {
        func rejection(_ batch: ProtoBytes) -> ErrorCode? {
            let body = ProtoBytes().message(1, batch)
            return WireTesting.rejectionOfReply(content: ProtoBytes.envelope(31, body))?.error.code
        }
        let identity = ProtoBytes().text(1, "Student").fixed64(2, 1)
        #expect(rejection(ProtoBytes().number(1, 5)) == .malformedMessage)
        #expect(rejection(ProtoBytes().number(1, 1).message(2, identity)) == .malformedMessage)
        #expect(rejection(ProtoBytes().number(1, 1).message(2, identity.fixed64(3, 1))) == nil)
        let anonymous = ProtoBytes().fixed64(2, 1).fixed64(3, 1)
        #expect(rejection(ProtoBytes().number(1, 1).message(2, anonymous)) == .malformedMessage)
    }
}
