import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@Suite("a history token")
struct HistoryTokenTests {
    private let store = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF") ?? UUID()

    @Test("a history token has a text form that is parsed back")
    func text() throws {
        let token = HistoryToken(store: store, epoch: 812_345_678_901_234, number: 42)
        #expect(
            token.description == "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e812345678901234-n42")
        #expect(try HistoryToken(token.description) == token)
        let encoded = try JSONEncoder().encode([token])
        #expect(try JSONDecoder().decode([HistoryToken].self, from: encoded) == [token])
    }

    @Test(
        "malformed text of a history token is rejected",
        arguments: [
            "", "42", "n42", "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1-n-2",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1-n",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1-n+2",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1-n99999999999999999999",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FG-e1-n2",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-n2-e1",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e1-n2-", "é-e1-n2",
        ])
    func malformed(text: String) {
        #expect(throws: LarderError.self) { try HistoryToken(text) }
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(
                [HistoryToken].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test("history tokens are ordered by their position")
    func order() {
        func token(_ epoch: Int64, _ number: Int64) -> HistoryToken {
            HistoryToken(store: store, epoch: epoch, number: number)
        }
        #expect(token(1, 2) < token(1, 10))
        #expect(token(1, 10) < token(2, 1))
        #expect([token(2, 1), token(1, 3)].max() == token(2, 1))
    }

    @Test("a history token of another store, epoch or range fails with a code of its own")
    func check() {
        func code(_ token: HistoryToken) -> ErrorCode? { self.code(token, earlier: []) }
        func token(_ number: Int64, epoch: Int64 = 7) -> HistoryToken {
            HistoryToken(store: store, epoch: epoch, number: number)
        }
        #expect(code(token(5)) == nil)
        #expect(code(token(9)) == nil)
        #expect(code(token(4)) == .tokenExpired)
        #expect(code(token(10)) == .futureToken)
        #expect(code(token(5, epoch: 6)) == .tokenExpired)
        #expect(code(token(5, epoch: 8)) == .futureToken)
        #expect(code(HistoryToken(store: UUID(), epoch: 7, number: 5)) == .foreignToken)
    }

    @Test("a history token of an earlier epoch is valid up to the end of the backup")
    func earlierEpochs() {
        let earlier = [EarlierEpoch(epoch: 3, last: 8), EarlierEpoch(epoch: 5, last: 6)]
        func code(_ epoch: Int64, _ number: Int64) -> ErrorCode? {
            self.code(HistoryToken(store: store, epoch: epoch, number: number), earlier: earlier)
        }
        #expect([5, 8].map { code(3, $0) } == [nil, nil])
        #expect([5, 6].map { code(5, $0) } == [nil, nil])
        #expect(code(3, 9) == .tokenExpired)
        #expect(code(5, 7) == .tokenExpired)
        // Its transaction is in the backup, but has been deleted from the history since.
        #expect(code(3, 4) == .tokenExpired)
        // No backup was made in this epoch.
        #expect(code(4, 6) == .tokenExpired)
        #expect(code(8, 6) == .futureToken)
    }

    /// The error of a store in epoch 7 that has deleted transactions up to 5, and has 9.
    private func code(_ token: HistoryToken, earlier: [EarlierEpoch]) -> ErrorCode? {
        do {
            let schema = try Schema(entities: [Entity(name: "Item", attributes: [])])
            let description = StoreDescription(
                identifier: store, schema: schema, fingerprint: schema.fingerprint,
                isReadOnly: false, historyEpoch: 7, earlierEpochs: earlier)
            try token.check(in: description, deleted: 5, last: 9)
            return nil
        } catch {
            return (error as? LarderError)?.code ?? .malformedSchema
        }
    }
}
