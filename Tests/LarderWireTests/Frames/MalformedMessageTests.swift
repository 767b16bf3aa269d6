import LarderModel
import LarderWire
import Testing

@Suite("A malformed message is reported under its id, and the connection stays open")
struct MalformedMessageTests {
    // Numbers of Proto/larder.proto.
    private static let hello: UInt64 = 10
    private static let get: UInt64 = 11
    private static let query: UInt64 = 12
    private static let save: UInt64 = 14
    private static let ping: UInt64 = 17

    private static let store = Samples.store.bytes
    private static let identifier = ProtoBytes().bytes(1, store).text(2, "Student").number(3, 1)

    private func expect(
        _ code: ErrorCode, _ field: UInt64, _ body: ProtoBytes, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let rejected = WireTesting.rejection(content: ProtoBytes.envelope(field, body))
        #expect(rejected?.error.code == code, "\(what)", sourceLocation: sourceLocation)
        #expect(rejected?.requestID == 9, "\(what)", sourceLocation: sourceLocation)
        #expect(rejected?.isFatal == false, "\(what)", sourceLocation: sourceLocation)
    }

    private func expect(
        value: ProtoBytes, _ code: ErrorCode, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(
            code, Self.query, ProtoBytes().message(2, ProtoBytes().message(1, value)), what,
            sourceLocation: sourceLocation)
    }

    @Test("an unknown message is reported under its id")
    func unknownMessage() {
        for field: UInt64 in [47, 99, 536_870_911] {
            expect(.unknownMessage, field, ProtoBytes(), "field \(field)")
        }
        expect(.unknownMessage, 36, ProtoBytes(), "a reply sent to the server")
        let toClient = WireTesting.rejectionOfReply(content: ProtoBytes.envelope(17, ProtoBytes()))
        #expect(toClient?.error.code == .unknownMessage)
        #expect(toClient?.requestID == 9)
    }

    @Test("a negative length or transaction of a backup is malformed")
    func backup() {
        for field: UInt64 in [2, 3] {
            let body = ProtoBytes().number(field, .max)
            let rejected = WireTesting.rejectionOfReply(content: ProtoBytes.envelope(45, body))
            #expect(rejected?.error.code == .malformedMessage)
            #expect(rejected?.isFatal == false)
        }
    }

    @Test("a negative number of the server's load, or of the objects of a save, is malformed")
    func negativeNumbers() {
        let activity: UInt64 = 42
        let saved: UInt64 = 32
        func rejects(_ field: UInt64, _ body: ProtoBytes) -> Bool {
            let content = ProtoBytes.envelope(field, body)
            return WireTesting.rejectionOfReply(content: content)?.error.code == .malformedMessage
        }
        for number: UInt64 in 3...10 {
            #expect(rejects(activity, ProtoBytes().message(1, ProtoBytes().number(number, .max))))
        }
        for number: UInt64 in 4...8 {
            let connection = ProtoBytes().message(2, ProtoBytes()).number(number, .max)
            #expect(
                rejects(
                    activity, ProtoBytes().message(1, ProtoBytes()).message(2, connection)))
        }
        #expect(rejects(saved, ProtoBytes().number(3, .max)))
        #expect(rejects(saved, ProtoBytes().message(6, ProtoBytes().number(1, 1 << 63))))
    }

    @Test("bytes that are not an envelope end the connection")
    func garbage() {
        let cases: [(String, [UInt8])] = [
            ("nothing", []),
            ("text", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
            ("a tag cut short", [0x80]),
            ("a number of eleven bytes", [8] + Array(repeating: 0x80, count: 10) + [1]),
            ("a field 0", [0, 1]),
            ("a group", [0x53, 0x54]),
            ("a length beyond the end", [8, 1, 0x8a, 1, 1]),
            ("a length beyond any end", [8, 1, 0x8a, 1] + ProtoBytes.varint(.max)),
            ("a fixed number cut short", [0x3d, 1, 2, 3]),
            ("an id that is text", [0x0a, 1, 1]),
            ("a snapshot that is text", [8, 1, 0x1a, 1, 1, 0x8a, 1, 0]),
            ("a body that is a number", [0x88, 1, 1]),
        ]
        for (what, content) in cases {
            let rejected = WireTesting.rejection(content: content)
            #expect(rejected?.error.code == .malformedFrame, "\(what)")
            #expect(rejected?.isFatal == true, "\(what)")
        }
    }

    @Test("an envelope without a body, with two bodies, or without an id is rejected")
    func bodies() {
        let none = WireTesting.rejection(content: ProtoBytes().number(1, 9).bytes)
        #expect(none?.error.code == .malformedMessage)
        #expect(none?.requestID == 9)
        let two = ProtoBytes().number(1, 9).bytes(17, []).bytes(15, [])
        #expect(WireTesting.rejection(content: two.bytes)?.error.code == .malformedMessage)
        let anonymous = ProtoBytes().bytes(17, [])
        #expect(WireTesting.rejection(content: anonymous.bytes)?.error.code == .malformedMessage)
        #expect(throws: LarderError.self) {
            try WireTesting.frame(RequestEnvelope(id: 0, request: .ping))
        }
    }

    @Test("the fields of a newer version of the protocol are ignored")
    func unknownFields() throws {
        let body = ProtoBytes().number(7, 1).text(8, "x").fixed64(9, 1).fixed32(10, 1)
        let content = ProtoBytes().number(1, 9).number(5, 1).text(6, "x").fixed64(7, 1)
            .fixed32(8, 1).message(17, body)
        #expect(
            try WireTesting.request(content: content.bytes)
                == RequestEnvelope(id: 9, request: .ping))
    }

    @Test("a truncated body of a message is reported under its id")
    func cutBody() {
        expect(.malformedMessage, Self.hello, ProtoBytes().raw([0x12, 9, 1]), "a hello cut short")
        expect(.malformedMessage, Self.ping, ProtoBytes().raw([0xff]), "a tag cut short")
    }

    @Test("malformed values in a message are rejected")
    func values() {
        let nan64: UInt64 = 0x7ff8_0000_0000_0001
        let nan32: UInt32 = 0x7fc0_0001
        expect(value: ProtoBytes(), .malformedMessage, "no kind")
        expect(value: ProtoBytes().number(15, 1), .malformedMessage, "an unknown kind")
        expect(value: ProtoBytes().fixed32(4, nan32), .malformedValue, "a float that is NaN")
        expect(value: ProtoBytes().fixed64(5, nan64), .malformedValue, "a double that is NaN")
        expect(value: ProtoBytes().fixed64(8, nan64), .malformedValue, "a date that is NaN")
        let infinity = (Double.infinity).bitPattern
        expect(value: ProtoBytes().fixed64(8, infinity), .malformedValue, "an infinite date")
        for text in ["", "x", "1x", "NaN", "1e999", String(repeating: "9", count: 60)] {
            expect(value: ProtoBytes().text(6, text), .malformedValue, "the decimal \(text)")
        }
        expect(value: ProtoBytes().bytes(7, [0xc3]), .malformedMessage, "text cut in a character")
        expect(value: ProtoBytes().bytes(7, [0xed, 0xa0, 0x80]), .malformedMessage, "a surrogate")
        for count in [0, 15, 17] {
            let bytes = [UInt8](repeating: 1, count: count)
            expect(value: ProtoBytes().bytes(9, bytes), .malformedMessage, "\(count) bytes of UUID")
        }
        expect(value: ProtoBytes().text(10, "a b"), .malformedValue, "a URL with a space")
        expect(value: ProtoBytes().text(12, "{"), .malformedValue, "half a JSON document")
        let deep = String(repeating: "[", count: 100_000)
        expect(value: ProtoBytes().text(12, deep), .malformedValue, "a JSON document too deep")
    }

    @Test("malformed arguments and variables, and too many of them, are rejected")
    func arguments() {
        func expect(_ code: ErrorCode?, argument: ProtoBytes, _ what: String) {
            let body = ProtoBytes().message(2, argument)
            let rejected = WireTesting.rejection(content: ProtoBytes.envelope(Self.query, body))
            #expect(rejected?.error.code == code, "\(what)")
        }
        func list(_ count: Int) -> ProtoBytes {
            let item = ProtoBytes().message(1, ProtoBytes().number(1, 1)).bytes
            let items = [[UInt8]](repeating: item, count: count).flatMap { $0 }
            return ProtoBytes().bytes(2, items)
        }
        expect(.malformedMessage, argument: ProtoBytes(), "an argument of no kind")
        expect(nil, argument: list(0), "an empty list")
        expect(nil, argument: list(Limits.listElementsMax), "the longest list")
        expect(.resourceExhausted, argument: list(Limits.listElementsMax + 1), "a longer one")
        let value = ProtoBytes().message(1, ProtoBytes().number(1, 1))
        func named(_ name: String) -> ProtoBytes { ProtoBytes().text(1, name).message(2, value) }
        func expect(_ code: ErrorCode, variables: [ProtoBytes], _ what: String) {
            let body = variables.reduce(ProtoBytes()) { $0.message(7, $1) }
            self.expect(code, Self.query, body, what)
        }
        expect(.malformedMessage, variables: [named("")], "a variable without name")
        expect(.malformedMessage, variables: [ProtoBytes().text(1, "a")], "one without value")
        expect(.malformedMessage, variables: [named("a"), named("a")], "the same one twice")
        let long = String(repeating: "n", count: Limits.nameBytesMax + 1)
        expect(.resourceExhausted, variables: [named(long)], "a long name")
        let many = (0...Limits.variablesMax).map { named("v\($0)") }
        expect(.resourceExhausted, variables: many, "one more than allowed")
    }

    @Test("malformed identifiers in a message are rejected")
    func identifiers() {
        func expect(_ identifier: ProtoBytes, _ code: ErrorCode, _ what: String) {
            self.expect(code, Self.get, ProtoBytes().message(1, identifier), what)
        }
        let named = ProtoBytes().bytes(1, Self.store).text(2, "Student")
        expect(named, .malformedIdentifier, "no key")
        expect(named.number(3, 0), .malformedIdentifier, "the key 0")
        expect(named.number(3, .max), .malformedIdentifier, "a key below 0")
        expect(named.text(4, "t:a"), .malformedIdentifier, "a temporary one with a store")
        expect(ProtoBytes().text(2, "Student").number(3, 1), .malformedMessage, "no store")
        expect(
            ProtoBytes().text(2, "Student").text(4, ""), .malformedMessage, "an empty name")
        expect(ProtoBytes().bytes(1, Self.store).number(3, 1), .malformedMessage, "no entity")
        let long = String(repeating: "n", count: Limits.nameBytesMax + 1)
        expect(
            ProtoBytes().bytes(1, Self.store).text(2, long).number(3, 1), .resourceExhausted,
            "a long entity")
    }

    @Test("unknown policies, and base values outside an update, are rejected")
    func policies() {
        expect(.malformedMessage, Self.save, ProtoBytes().number(2, 2), "a conflict policy")
        expect(.malformedMessage, Self.save, ProtoBytes().number(3, 5), "a merge policy")
        let base = ProtoBytes().text(1, "name").message(2, ProtoBytes().number(1, 1))
        for kind: UInt64 in [1, 3] {
            let change = ProtoBytes().number(1, kind).message(2, Self.identifier).message(5, base)
            expect(.malformedMessage, Self.save, ProtoBytes().message(1, change), "a base")
        }
    }

    @Test("conditions without objects, with more than objects, and too many, are rejected")
    func conditions() {
        let objects = ProtoBytes().text(1, "Student")
        func expect(_ code: ErrorCode, _ condition: ProtoBytes, _ what: String) {
            self.expect(code, Self.save, ProtoBytes().message(6, condition), what)
        }
        expect(.malformedMessage, ProtoBytes().number(2, 1), "no objects")
        expect(.malformedMessage, ProtoBytes().message(1, ProtoBytes()), "no entity")
        expect(.malformedMessage, ProtoBytes().message(1, objects.number(7, 1)), "identifiers")
        let term = ProtoBytes().text(1, "1")
        let assignment = ProtoBytes().text(1, "name").message(2, term)
        expect(.malformedMessage, ProtoBytes().message(1, objects.message(3, assignment)), "values")
        let condition = ProtoBytes().message(6, ProtoBytes().message(1, objects))
        let many = ProtoBytes().raw(
            Array(repeating: condition.bytes, count: Limits.conditionsMax + 1).flatMap { $0 })
        self.expect(.resourceExhausted, Self.save, many, "too many")
    }

    @Test("incomplete changes, and those that set a property twice, are rejected")
    func changes() {
        func expect(_ change: ProtoBytes, _ what: String) {
            self.expect(.malformedMessage, Self.save, ProtoBytes().message(1, change), what)
        }
        let property = ProtoBytes().text(1, "name").message(2, ProtoBytes().number(3, 2))
        let update = ProtoBytes().number(1, 2).message(2, Self.identifier)
        expect(ProtoBytes().number(1, 2), "no object")
        expect(ProtoBytes().message(2, Self.identifier), "no kind")
        expect(ProtoBytes().number(1, 6).message(2, Self.identifier), "an unknown kind")
        expect(update.message(4, ProtoBytes().text(1, "name")), "a property without value")
        expect(
            update.message(4, ProtoBytes().message(2, ProtoBytes().number(3, 2))),
            "a property without name")
        expect(update.message(4, property).message(4, property), "the same property twice")
        let delete = ProtoBytes().number(1, 3).message(2, Self.identifier)
        expect(delete.message(4, property), "a delete that sets")
        let insert = ProtoBytes().number(1, 1).message(2, Self.identifier)
        expect(insert.number(3, 1), "an insert that expects a version")
        let edit = ProtoBytes().text(1, "courses")
        expect(delete.message(6, edit.number(2, 1)), "a delete that edits")
        expect(update.message(6, edit), "an edit without kind")
        expect(update.message(6, edit.number(2, 4)), "an edit of an unknown kind")
        expect(update.message(6, ProtoBytes().number(2, 1)), "an edit of nothing")
        expect(update.message(6, edit.number(2, 2).number(4, 1)), "a remove with a position")
        expect(update.message(6, edit.number(2, 1).number(4, 3)), "an unknown end")
        expect(update.message(6, edit.number(2, 3).number(4, 0)), "no end")
    }

    @Test(
        "changes by predicate that are incomplete, or have fields of another kind, are rejected"
    )
    func changesByPredicate() {
        func expect(_ change: ProtoBytes, _ what: String, _ code: ErrorCode = .malformedMessage) {
            self.expect(code, Self.save, ProtoBytes().message(1, change), what)
        }
        let objects = ProtoBytes().text(1, "Student")
        let value = ProtoBytes().text(1, "name").message(2, ProtoBytes().number(3, 2))
        let term = ProtoBytes().text(1, "1")
        let assignment = ProtoBytes().text(1, "name").message(2, term)
        for kind: UInt64 in [4, 5] {
            let change = ProtoBytes().number(1, kind)
            expect(change, "of no objects")
            expect(change.message(7, ProtoBytes()), "of no entity")
            expect(change.message(7, objects.message(2, ProtoBytes())), "a predicate of no form")
            expect(change.message(2, Self.identifier).message(7, objects), "with an object")
            expect(change.message(4, value).message(7, objects), "with values")
            expect(change.number(3, 1).message(7, objects), "with a version")
        }
        for kind: UInt64 in [1, 2, 3] {
            let change = ProtoBytes().number(1, kind).message(2, Self.identifier)
            expect(change.message(7, objects), "of one object and of others")
        }
        expect(ProtoBytes().number(1, 5).message(7, objects.message(3, assignment)), "a delete")
        let update = ProtoBytes().number(1, 4)
        expect(
            update.message(7, objects.message(3, ProtoBytes().message(2, term))), "no property")
        expect(update.message(7, objects.message(3, ProtoBytes().text(1, "name"))), "no term")
        let many = (0...Limits.queryColumnsMax).reduce(objects) { body, _ in
            body.message(3, assignment)
        }
        expect(update.message(7, many), "too many assignments", .resourceExhausted)
    }

    @Test("a negative limit or offset of a query is rejected")
    func negativeLimits() {
        expect(.malformedMessage, Self.query, ProtoBytes().number(4, .max), "the limit")
        expect(.malformedMessage, Self.query, ProtoBytes().number(5, .max), "the offset")
    }

    @Test("lists in a message that are one longer than their limits are rejected")
    func listLimits() {
        let null = ProtoBytes().message(1, ProtoBytes().number(1, 1))
        let values = (0...Limits.argumentsMax).reduce(ProtoBytes()) { body, _ in
            body.message(2, null)
        }
        expect(.resourceExhausted, Self.query, values, "arguments")
        let name = ProtoBytes().text(1, "n")
        let names = ProtoBytes().raw(
            Array(repeating: name.bytes, count: Limits.propertiesMax + 1).flatMap { $0 })
        expect(.resourceExhausted, Self.get, ProtoBytes().message(2, names), "properties")
        let one = ProtoBytes().message(1, Self.identifier).bytes
        let identifiers = ProtoBytes().raw(
            Array(repeating: one, count: Limits.identifiersMax + 1).flatMap { $0 })
        expect(.resourceExhausted, Self.get, identifiers, "identifiers")
        let objects = ProtoBytes().message(14, identifiers)
        expect(value: objects, .resourceExhausted, "objects of a value")
        let property = ProtoBytes().message(
            4, ProtoBytes().text(1, "n").message(2, ProtoBytes().number(1, 1)))
        let properties = ProtoBytes().raw(
            Array(repeating: property.bytes, count: Limits.propertiesMax + 1).flatMap { $0 })
        let change = ProtoBytes().number(1, 2).message(2, Self.identifier).raw(properties.bytes)
        expect(.resourceExhausted, Self.save, ProtoBytes().message(1, change), "values")
        editLimits()
    }

    private func editLimits() {
        let update = ProtoBytes().number(1, 2).message(2, Self.identifier)
        let edit = ProtoBytes().message(6, ProtoBytes().text(1, "n").number(2, 1))
        let edits = update.raw(
            Array(repeating: edit.bytes, count: Limits.editsMax + 1).flatMap { $0 })
        expect(.resourceExhausted, Self.save, ProtoBytes().message(1, edits), "edits")
        let object = ProtoBytes().message(3, Self.identifier)
        let objects = ProtoBytes().text(1, "n").number(2, 1).raw(
            Array(repeating: object.bytes, count: Limits.editedObjectsMax + 1).flatMap { $0 })
        let change = update.message(6, objects)
        expect(.resourceExhausted, Self.save, ProtoBytes().message(1, change), "edited objects")
    }

    @Test("an unknown error number of a newer server means what its hundred means")
    func unknownErrorCodes() throws {
        let cases: [(UInt64, ErrorCode)] = [
            (0, .malformedMessage), (199, .malformedMessage), (299, .objectNotFound),
            (399, .unsupported), (499, .versionConflict), (599, .resourceExhausted),
            (699, .unavailable), (899, .storageFailed), (4_000_000_000, .malformedMessage),
        ]
        for (number, code) in cases {
            let body = ProtoBytes().number(1, number).text(2, "so it is")
            let reply = try WireTesting.reply(content: ProtoBytes.envelope(37, body))
            #expect(reply.reply == .failed(LarderError(code, "so it is")))
        }
    }

    @Test("a message longer than a frame may be is not encoded, and the sink is unchanged")
    func tooLong() {
        let schema = String(repeating: "x", count: Limits.frameBytesMax)
        var sink: [UInt8] = [1]
        do throws(LarderError) {
            try WireCodec().encode(ReplyEnvelope(id: 1, reply: .schema(schema)), into: &sink)
            Issue.record("it was sent")
        } catch {
            #expect(error.code == .frameTooLong)
        }
        #expect(sink == [1])
    }

    @Test("a NaN in a message is not encoded")
    func sentNaN() {
        for value: Value in [.double(.nan), .float(.nan), .decimal(.nan)] {
            let reply = Reply.statistics([Statistic("x", value)])
            #expect(throws: LarderError.self) {
                try WireTesting.frame(ReplyEnvelope(id: 1, reply: reply))
            }
        }
    }
}
