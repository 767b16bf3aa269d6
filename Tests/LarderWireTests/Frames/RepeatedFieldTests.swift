import LarderModel
import Testing

@Suite("A field that holds one message is rejected if it occurs twice")
struct RepeatedFieldTests {
    private static let identifier = ProtoBytes().bytes(1, Samples.store.bytes).text(2, "Student")
        .number(3, 1)
    private static let value = ProtoBytes().number(3, 2)

    private func expectMalformed(
        _ field: UInt64, _ body: ProtoBytes, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let content = ProtoBytes.envelope(field, body)
        let rejected =
            field < 30
            ? WireTesting.rejection(content: content)
            : WireTesting.rejectionOfReply(content: content)
        #expect(rejected?.error.code == .malformedMessage, sourceLocation: sourceLocation)
    }

    private func change(_ fields: ProtoBytes) -> ProtoBytes { ProtoBytes().message(1, fields) }

    @Test("a field of a change that holds one message is rejected if it occurs twice")
    func changes() {
        let update = ProtoBytes().number(1, 2).message(2, Self.identifier)
        expectMalformed(14, change(update.message(2, Self.identifier)))
        let property = ProtoBytes().text(1, "name").message(2, Self.value)
        expectMalformed(14, change(update.message(4, property.message(2, Self.value))))
        let object = ProtoBytes().message(13, Self.identifier)
        let twice = ProtoBytes().text(1, "tutor").message(2, object.message(13, Self.identifier))
        expectMalformed(14, change(update.message(4, twice)))
        let edit = ProtoBytes().text(1, "courses").number(2, 1).message(5, Self.identifier)
        expectMalformed(14, change(update.message(6, edit.message(5, Self.identifier))))
        let term = ProtoBytes().text(1, "TRUEPREDICATE")
        let objects = ProtoBytes().text(1, "Student").message(2, term)
        let delete = ProtoBytes().number(1, 5)
        expectMalformed(14, change(delete.message(7, objects.message(2, term))))
        expectMalformed(14, change(delete.message(7, objects).message(7, objects)))
        let condition = ProtoBytes().message(1, objects).message(1, objects)
        expectMalformed(14, ProtoBytes().message(6, condition))
    }

    @Test("a field of a query that holds one message is rejected if it occurs twice")
    func queries() {
        let argument = ProtoBytes().message(1, Self.value)
        expectMalformed(12, ProtoBytes().message(2, argument.message(1, Self.value)))
        let variable = ProtoBytes().text(1, "n").message(2, argument)
        expectMalformed(12, ProtoBytes().message(7, variable.message(2, argument)))
    }

    @Test("a field of rows or a reply that holds one message is rejected if it occurs twice")
    func replies() {
        let batch = ProtoBytes()
        expectMalformed(22, ProtoBytes().message(2, batch).message(2, batch))
        let statistic = ProtoBytes().text(1, "n").message(2, Self.value)
        expectMalformed(35, ProtoBytes().message(1, statistic.message(2, Self.value)))
        let property = ProtoBytes().text(1, "name").message(3, Self.value)
        let conflict = ProtoBytes().message(3, property.message(3, Self.value))
        expectMalformed(37, ProtoBytes().message(7, ProtoBytes().message(9, conflict)))
        let empty = ProtoBytes().message(9, ProtoBytes())
        expectMalformed(37, ProtoBytes().message(7, empty.message(9, ProtoBytes())))
    }

    @Test("a field of a snapshot or live query with one message is rejected if it occurs twice")
    func live() {
        let token = ProtoBytes().bytes(1, Samples.store.bytes)
        expectMalformed(43, ProtoBytes().message(1, token).message(1, token))
        expectMalformed(27, ProtoBytes().message(1, ProtoBytes()).message(1, ProtoBytes()))
        let reply = ProtoBytes().message(8, token)
        expectMalformed(44, reply.message(8, token))
        expectMalformed(44, reply.message(3, ProtoBytes()).message(3, ProtoBytes()))
        let rows = reply.message(3, ProtoBytes())
        expectMalformed(44, rows.message(10, ProtoBytes()).message(10, ProtoBytes()))
    }

    @Test("a field of the history that holds one message is rejected if it occurs twice")
    func history() {
        let token = ProtoBytes().bytes(1, Samples.store.bytes)
        for field: UInt64 in [1, 16] {
            expectMalformed(23, ProtoBytes().message(field, token).message(field, token))
        }
        expectMalformed(24, ProtoBytes().message(1, token).message(1, token))
        expectMalformed(24, ProtoBytes().number(3, 1).message(1, token))
        expectMalformed(40, ProtoBytes().message(2, token).message(2, token))
        let value = ProtoBytes().text(1, "n").message(2, Self.value).message(2, Self.value)
        let tombstone = ProtoBytes().text(1, "Student").number(2, 1).message(3, value)
        let transaction = ProtoBytes().number(1, 1).message(8, tombstone)
        expectMalformed(40, ProtoBytes().message(1, transaction).message(2, token))
    }
}
