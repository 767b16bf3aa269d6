import LarderModel
import LarderWire
import Testing

@Suite("The messages of snapshots and of observed queries")
struct LiveMessageTests {
    // Numbers of Proto/larder.proto.
    private static let openSnapshot: UInt64 = 26
    private static let observe: UInt64 = 27
    private static let snapshotOpened: UInt64 = 43
    private static let observed: UInt64 = 44

    private static let token = ProtoBytes().bytes(1, Samples.store.bytes).number(3, 5)
    /// The shortest valid reply.
    private static let reply = ProtoBytes().message(8, token)

    private func expect(
        _ code: ErrorCode?, _ field: UInt64, _ body: ProtoBytes, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let content = ProtoBytes.envelope(field, body)
        let rejected =
            field < 30
            ? WireTesting.rejection(content: content)
            : WireTesting.rejectionOfReply(content: content)
        #expect(rejected?.error.code == code, "\(what)", sourceLocation: sourceLocation)
        guard code != nil else { return }
        #expect(rejected?.requestID == 9, "\(what)", sourceLocation: sourceLocation)
        #expect(rejected?.isFatal == false, "\(what)", sourceLocation: sourceLocation)
    }

    /// A batch of objects without columns.
    private static func rows(_ count: Int) -> ProtoBytes {
        let ones = (0..<count).flatMap { _ in ProtoBytes().fixed64(1, 1).bytes.dropFirst() }
        let identity = ProtoBytes().text(1, "Student").bytes(2, Array(ones)).bytes(3, Array(ones))
        return ProtoBytes().number(1, UInt64(count)).message(2, identity)
    }

    /// A change with packed lists.
    private static func change(
        rows: Int?, new: [UInt8], old: [UInt8], moved: [UInt8]
    ) -> ProtoBytes {
        let body = rows.map { reply.message(3, Self.rows($0)) } ?? reply
        return body.bytes(4, new).bytes(5, old).bytes(6, moved)
    }

    // MARK: Snapshots

    @Test("a snapshot is opened by an empty message, whatever fields a newer client adds")
    func opening() throws {
        let content = ProtoBytes.envelope(Self.openSnapshot, ProtoBytes().number(1, 1))
        #expect(
            try WireTesting.request(content: content)
                == RequestEnvelope(id: 9, request: .openSnapshot))
    }

    @Test("the reply for a snapshot without a position, or with a malformed one, is rejected")
    func opened() {
        func expect(_ code: ErrorCode?, _ body: ProtoBytes, _ what: String) {
            self.expect(code, Self.snapshotOpened, body, what)
        }
        expect(nil, ProtoBytes().message(1, Self.token), "a position")
        expect(nil, ProtoBytes().message(1, Self.token).number(2, 1), "an unknown field")
        expect(.malformedMessage, ProtoBytes(), "no position")
        expect(.malformedMessage, ProtoBytes().number(1, 1), "a position that is a number")
        expect(.malformedToken, ProtoBytes().message(1, ProtoBytes()), "no store")
        let negative = Self.token.number(3, UInt64(bitPattern: -1))
        expect(.malformedToken, ProtoBytes().message(1, negative), "a negative number")
    }

    // MARK: Observing

    @Test("a request to observe without a query, or with malformed fields, is rejected")
    func requests() {
        func expect(_ code: ErrorCode?, _ body: ProtoBytes, _ what: String) {
            self.expect(code, Self.observe, body, what)
        }
        let query = ProtoBytes().message(1, ProtoBytes())
        expect(nil, query, "the shape is decoded when it is planned")
        expect(nil, query.number(3, 1), "with sections")
        expect(nil, query.number(4, 1), "an unknown field")
        expect(.malformedMessage, ProtoBytes(), "no query")
        expect(.malformedMessage, ProtoBytes().number(2, 5), "only an interval")
        expect(.malformedMessage, ProtoBytes().number(1, 1), "a query that is a number")
        expect(.malformedMessage, query.text(2, "5"), "an interval that is text")
        expect(.malformedMessage, query.fixed32(2, 5), "an interval of four bytes")
        expect(.malformedMessage, query.text(3, "1"), "the mark for sections as text")
        let limit = ProtoBytes().number(4, UInt64(bitPattern: -1))
        expect(.malformedMessage, ProtoBytes().message(1, limit), "the limit -1")
        let cut = ProtoBytes().bytes(1, [0x12, 9, 1])
        expect(.malformedMessage, cut, "a query cut short")
    }

    @Test("a live reply without a position, or with malformed fields, is rejected")
    func replies() {
        func expect(_ code: ErrorCode?, _ body: ProtoBytes, _ what: String) {
            self.expect(code, Self.observed, body, what)
        }
        expect(nil, Self.reply, "a change of nothing")
        expect(nil, Self.reply.number(11, 1), "an unknown field")
        expect(.malformedMessage, ProtoBytes(), "no position")
        expect(.malformedMessage, ProtoBytes().number(1, 1).number(2, 1), "a whole result, too")
        expect(.malformedMessage, ProtoBytes().number(8, 1), "a position that is a number")
        expect(.malformedToken, ProtoBytes().message(8, ProtoBytes()), "no store")
        for field: UInt64 in [1, 2, 9] {
            expect(.malformedMessage, Self.reply.text(field, "1"), "field \(field) as text")
        }
        expect(.malformedMessage, Self.reply.number(3, 1), "rows that are a number")
        expect(.malformedMessage, Self.reply.bytes(3, [0x12, 9]), "rows cut short")
        let noIdentity = ProtoBytes().number(1, 2)
        expect(.malformedMessage, Self.reply.message(3, noIdentity), "rows without content")
        for field: UInt64 in 4...7 {
            expect(.malformedMessage, Self.reply.fixed32(field, 1), "field \(field) as four bytes")
            expect(.malformedMessage, Self.reply.bytes(field, [1, 0x80]), "field \(field) cut")
        }
    }

    @Test("the lists of a live change have one entry for each row, or it is rejected")
    func lengths() {
        func expect(_ code: ErrorCode?, _ body: ProtoBytes, _ what: String) {
            self.expect(code, Self.observed, body, what)
        }
        expect(nil, Self.change(rows: 2, new: [0, 1], old: [0, 2], moved: [0, 1]), "two rows")
        expect(nil, Self.change(rows: 0, new: [], old: [], moved: []), "no rows")
        expect(nil, Self.reply.message(3, Self.rows(2)), "rows of a whole result")
        expect(nil, Self.reply.bytes(7, [0, 4, 9]), "deleted rows only")
        let cases: [(ProtoBytes, String)] = [
            (Self.change(rows: 2, new: [0], old: [0, 2], moved: [0, 1]), "a new index too few"),
            (Self.change(rows: 2, new: [0, 1], old: [0], moved: [0, 1]), "an old index too few"),
            (Self.change(rows: 2, new: [0, 1], old: [0, 2], moved: [0]), "a move too few"),
            (Self.change(rows: 2, new: [], old: [0, 2], moved: [0, 0]), "no new indexes"),
            (Self.change(rows: 1, new: [0, 1], old: [0, 2], moved: [0, 1]), "a row too few"),
            (Self.change(rows: 3, new: [0, 1], old: [0, 2], moved: [0, 1]), "a row too many"),
            (Self.change(rows: nil, new: [0], old: [1], moved: [1]), "no rows"),
            (Self.change(rows: 2, new: [], old: [], moved: [0, 0]), "moves only"),
        ]
        for (body, what) in cases { expect(.malformedMessage, body, what) }
    }

    /// A batch of columns of integers.
    private static func columns(_ columnCount: Int, rows rowCount: Int) -> ProtoBytes {
        let ones = (0..<rowCount).flatMap { _ in ProtoBytes().fixed64(1, 1).bytes.dropFirst() }
        let column = ProtoBytes().text(1, "section").number(2, 4).bytes(4, Array(ones))
        return (0..<columnCount).reduce(ProtoBytes().number(1, UInt64(rowCount))) { batch, _ in
            batch.message(3, column)
        }
    }

    @Test("the sections of a live reply are one column with a value for each row")
    func sections() {
        func expect(_ code: ErrorCode?, _ body: ProtoBytes, _ what: String) {
            self.expect(code, Self.observed, body, what)
        }
        let two = Self.reply.message(3, Self.rows(2))
        expect(nil, two.message(10, Self.columns(1, rows: 2)), "two sections")
        expect(nil, two, "a fetch without sections")
        let none = Self.reply.message(3, Self.rows(0))
        expect(nil, none.message(10, Self.columns(1, rows: 0)), "no rows")
        let cases: [(ProtoBytes, String)] = [
            (two.message(10, Self.columns(1, rows: 1)), "a section too few"),
            (two.message(10, Self.columns(1, rows: 3)), "a section too many"),
            (two.message(10, Self.columns(2, rows: 2)), "two columns"),
            (two.message(10, Self.rows(2)), "identities instead of a column"),
            (two.message(10, ProtoBytes().number(1, 2)), "no column"),
            (two.number(10, 2), "sections that are a number"),
            (two.bytes(10, [0x12, 9]), "sections cut short"),
            (Self.reply.message(10, Self.columns(1, rows: 2)), "sections without rows"),
        ]
        for (body, what) in cases { expect(.malformedMessage, body, what) }
    }

    @Test("the numbers of a live change may be packed or not, in several fields of one list")
    func packed() throws {
        let body = Self.reply.message(3, Self.rows(3)).number(4, 0).bytes(4, [1, 0x80, 2])
            .bytes(5, [0, 3]).number(5, 1).bytes(6, [0, 1, 0])
        let reply = try WireTesting.reply(content: ProtoBytes.envelope(Self.observed, body)).reply
        guard case .observed(let observed, more: false) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(observed.newIndexes == [0, 1, 256] && observed.oldIndexes == [0, 3, 1])
        #expect(observed.moved == [false, true, false])
        #expect(observed.rows?.identity?.keys == [1, 1, 1])
    }

    @Test("a live reply that is encoded once has the bytes of one per observer")
    func encodedOnce() throws {
        let codec = WireCodec()
        for case (let name, .observed(let reply, more: true)) in Samples.liveReplies {
            let once = try codec.encoded(reply)
            for id: UInt64 in [1, 300] {
                let plain = ReplyEnvelope(id: id, reply: .observed(reply, more: true))
                #expect(
                    try WireTesting.frame(ReplyEnvelope(id: id, reply: once))
                        == (try WireTesting.frame(plain)), "\(name)")
            }
        }
    }
}
