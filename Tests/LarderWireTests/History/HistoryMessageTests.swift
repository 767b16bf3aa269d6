import LarderModel
import LarderWire
import Testing

@Suite("The messages of the history")
struct HistoryMessageTests {
    // Numbers of Proto/larder.proto.
    private static let history: UInt64 = 23
    private static let deleteHistory: UInt64 = 24
    private static let transactions: UInt64 = 40

    private static let nan: UInt64 = 0x7ff8_0000_0000_0001
    private static let token = ProtoBytes().bytes(1, Samples.store.bytes).number(3, 5)
    private static let run = ProtoBytes().number(1, 1).text(2, "Student").number(3, 1).number(4, 2)

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

    private func request(_ body: ProtoBytes) throws -> HistoryRequest? {
        let content = ProtoBytes.envelope(Self.history, body)
        guard case .history(let request) = try WireTesting.request(content: content).request
        else { return nil }
        return request
    }

    /// Expects this of the token of each message that has one.
    private func expect(
        _ code: ErrorCode?, token: ProtoBytes, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (field, member) in [
            (Self.history, 1), (Self.history, 16), (Self.deleteHistory, 1), (Self.transactions, 2),
        ] as [(UInt64, UInt64)] {
            expect(
                code, field, ProtoBytes().message(member, token), what,
                sourceLocation: sourceLocation)
        }
    }

    // MARK: Requests

    @Test("malformed tokens in a request for the history are rejected")
    func tokens() {
        expect(nil, token: Self.token, "a token")
        for count in [0, 15, 17] {
            let store = [UInt8](repeating: 1, count: count)
            expect(.malformedToken, token: ProtoBytes().bytes(1, store), "\(count) bytes of UUID")
        }
        expect(.malformedToken, token: ProtoBytes().number(3, 1), "no store")
        let negative = UInt64(bitPattern: -1)
        expect(.malformedToken, token: Self.token.number(3, negative), "a negative number")
        expect(.malformedMessage, token: Self.token.number(2, 1), "an epoch that is a varint")
        expect(.malformedMessage, token: Self.token.fixed32(2, 1), "an epoch of four bytes")
        expect(.malformedMessage, token: Self.token.text(3, "5"), "a number that is text")
    }

    @Test("malformed fields of a request for the history are rejected")
    func fields() {
        let cases: [(ErrorCode, ProtoBytes, String)] = [
            (.malformedMessage, ProtoBytes().number(1, 1), "a token that is a number"),
            (.malformedMessage, ProtoBytes().number(2, 2), "an unknown start"),
            (.malformedMessage, ProtoBytes().number(3, 1), "an author that is a number"),
            (.malformedMessage, ProtoBytes().bytes(3, [0xc3]), "text cut in a character"),
            (.malformedMessage, ProtoBytes().fixed64(7, 1), "a kind of eight bytes"),
            (.malformedMessage, ProtoBytes().number(7, 0), "no kind"),
            (.malformedMessage, ProtoBytes().number(7, 4), "an unknown kind"),
            (.malformedMessage, ProtoBytes().bytes(7, [1, 4]), "an unknown kind of several"),
            (.malformedMessage, ProtoBytes().bytes(7, [1, 0x80]), "a kind cut short"),
            (.malformedValue, ProtoBytes().fixed64(9, Self.nan), "a beginning that is NaN"),
            (.malformedValue, ProtoBytes().fixed64(10, Self.nan), "an end that is NaN"),
            (
                .malformedValue, ProtoBytes().fixed64(10, Double.infinity.bitPattern),
                "an end that is infinite"
            ),
            (.malformedMessage, ProtoBytes().fixed32(9, 1), "a time of four bytes"),
            (.malformedMessage, ProtoBytes().number(13, UInt64(bitPattern: -1)), "the limit -1"),
            (.malformedMessage, ProtoBytes().text(14, "2"), "a credit that is text"),
        ]
        for (code, body, what) in cases { expect(code, Self.history, body, what) }
    }

    @Test("every kind in a list of the history's kinds counts, however long the list is")
    func kinds() throws {
        let packed = [UInt8](repeating: 1, count: 100) + [2]
        #expect(
            try request(ProtoBytes().bytes(7, packed))?.fetch.filter.kinds == [.inserted, .updated])
        expect(.malformedMessage, Self.history, ProtoBytes().bytes(7, packed + [4]), "unknown")
    }

    @Test("a request that follows the history has no end and begins with the oldest")
    func following() throws {
        let follow = ProtoBytes().number(15, 1)
        #expect(try request(follow)?.follows == true)
        expect(.malformedMessage, Self.history, follow.number(11, 1), "the newest first")
        expect(.malformedMessage, Self.history, follow.number(13, 0), "a limit")
        expect(.malformedMessage, Self.history, follow.message(16, Self.token), "an end")
    }

    @Test("1,000 names of one kind in a history filter are accepted, and no more or longer ones")
    func names() {
        for field: UInt64 in [3, 4, 5, 6, 8] {
            let name = ProtoBytes().text(field, "n").bytes
            let most = ProtoBytes().raw(
                Array(repeating: name, count: Limits.historyFilterNamesMax).flatMap { $0 })
            expect(nil, Self.history, most, "1,000 names of \(field)")
            expect(.resourceExhausted, Self.history, most.raw(name), "1,001 names of \(field)")
            let bytesMax = field < 5 ? Limits.authorBytesMax : Limits.nameBytesMax
            let longest = String(repeating: "n", count: bytesMax)
            expect(nil, Self.history, ProtoBytes().text(field, longest), "the longest name")
            let tooLong = ProtoBytes().text(field, longest + "n")
            expect(.resourceExhausted, Self.history, tooLong, "a name that is too long")
        }
    }

    @Test("a deletion from the history without an end, or with a malformed one, is rejected")
    func deletions() {
        expect(.malformedMessage, Self.deleteHistory, ProtoBytes(), "no end")
        let negative = ProtoBytes().number(3, UInt64(bitPattern: -1))
        expect(.malformedMessage, Self.deleteHistory, negative, "a negative number to keep")
        let time = ProtoBytes().fixed64(2, Self.nan)
        expect(.malformedValue, Self.deleteHistory, time, "a time that is NaN")
        expect(.malformedMessage, Self.deleteHistory, ProtoBytes().number(2, 1), "a short time")
        expect(.malformedMessage, Self.deleteHistory, ProtoBytes().text(3, "1"), "text")
    }

    // MARK: Replies

    /// Expects this of a reply with one transaction.
    private func expect(
        _ code: ErrorCode?, transaction: ProtoBytes, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let reply = ProtoBytes().message(1, transaction).message(2, Self.token)
        expect(code, Self.transactions, reply, what, sourceLocation: sourceLocation)
    }

    @Test("a reply of the history without a position, or with malformed transactions, is rejected")
    func transactions() {
        expect(.malformedMessage, Self.transactions, ProtoBytes(), "no position")
        expect(.malformedMessage, Self.transactions, ProtoBytes().number(2, 1), "a number")
        let transaction = ProtoBytes().number(1, 1)
        expect(nil, transaction: transaction, "the shortest transaction")
        expect(.malformedMessage, transaction: ProtoBytes(), "no number")
        let negative = ProtoBytes().number(1, UInt64(bitPattern: -1))
        expect(.malformedMessage, transaction: negative, "a negative number")
        expect(.malformedValue, transaction: transaction.fixed64(2, Self.nan), "a time, NaN")
        let author = String(repeating: "a", count: Limits.authorBytesMax + 1)
        expect(.resourceExhausted, transaction: transaction.text(3, author), "a long author")
        let client = String(repeating: "a", count: Limits.nameBytesMax + 1)
        expect(.resourceExhausted, transaction: transaction.text(4, client), "a long client")
        expect(.malformedMessage, transaction: transaction.text(5, "1"), "a user that is text")
    }

    @Test("malformed runs in a reply of the history are rejected")
    func runs() {
        func expect(_ code: ErrorCode?, _ run: ProtoBytes, _ what: String) {
            self.expect(code, transaction: ProtoBytes().number(1, 1).message(7, run), what)
        }
        expect(nil, Self.run, "a run")
        expect(nil, Self.run.number(3, 2), "a run of one object")
        expect(.malformedMessage, Self.run.number(3, 3), "the first key after the last")
        expect(.malformedMessage, Self.run.number(3, 0), "the key 0")
        expect(.malformedMessage, Self.run.number(3, UInt64(bitPattern: -1)), "a negative key")
        expect(.malformedMessage, Self.run.number(1, 4), "an unknown kind")
        let entity = ProtoBytes().text(2, "Student").number(3, 1).number(4, 2)
        expect(.malformedMessage, entity, "no kind")
        expect(.malformedMessage, Self.run.text(2, ""), "no entity")
        expect(.malformedMessage, Self.run.text(5, ""), "a property without a name")
        let name = ProtoBytes().text(5, "n").bytes
        let names = Array(repeating: name, count: Limits.propertiesMax + 1).flatMap { $0 }
        expect(.resourceExhausted, Self.run.raw(names), "too many properties")
    }

    @Test("malformed values of deleted objects in a reply of the history are rejected")
    func tombstones() {
        func expect(_ code: ErrorCode?, _ tombstone: ProtoBytes, _ what: String) {
            let transaction = ProtoBytes().number(1, 1).message(8, tombstone)
            self.expect(code, transaction: transaction, what)
        }
        let object = ProtoBytes().text(1, "Student").number(2, 1)
        let value = ProtoBytes().text(1, "n").message(2, ProtoBytes().number(3, 2))
        expect(nil, object.message(3, value), "a value")
        expect(.malformedMessage, ProtoBytes().number(2, 1), "no entity")
        expect(.malformedMessage, ProtoBytes().text(1, "Student"), "no key")
        expect(.malformedMessage, object.message(3, ProtoBytes().text(1, "n")), "no value")
        let nameless = ProtoBytes().message(2, ProtoBytes().number(3, 2))
        expect(.malformedMessage, object.message(3, nameless), "no name")
        let many = (0...Limits.propertiesMax).reduce(object) { object, number in
            let name = ProtoBytes().text(1, "n\(number)")
            return object.message(3, name.message(2, ProtoBytes().number(3, 2)))
        }
        expect(.resourceExhausted, many, "too many values")
    }

    @Test("a reply of the history that is encoded once has the bytes of one per stream")
    func encodedOnce() throws {
        let codec = WireCodec()
        for case (let name, .history(let history, let more)) in Samples.historyReplies where more {
            let once = try codec.encoded(history)
            for id: UInt64 in [1, 300] {
                let plain = ReplyEnvelope(id: id, reply: .history(history, more: true))
                #expect(
                    try WireTesting.frame(ReplyEnvelope(id: id, reply: once))
                        == (try WireTesting.frame(plain)), "\(name)")
            }
        }
    }
}
