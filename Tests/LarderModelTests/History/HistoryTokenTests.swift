import FoundationEssentials
import LarderModel
import Testing

@Suite("a history token")
struct HistoryTokenTests {
    private let store = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF") ?? UUID()

    @Test("has a text form that is parsed back")
    func text() throws {
        let token = HistoryToken(store: store, epoch: 812_345_678_901_234, number: 42)
        #expect(
            token.description == "6F9619FF-8B86-D011-B42D-00CF4FC964FF-e812345678901234-n42")
        #expect(try HistoryToken(token.description) == token)
        let encoded = try JSONEncoder().encode([token])
        #expect(try JSONDecoder().decode([HistoryToken].self, from: encoded) == [token])
    }

    @Test(
        "is malformed in any other form",
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

    @Test("is ordered by its position")
    func order() {
        func token(_ epoch: Int64, _ number: Int64) -> HistoryToken {
            HistoryToken(store: store, epoch: epoch, number: number)
        }
        #expect(token(1, 2) < token(1, 10))
        #expect(token(1, 10) < token(2, 1))
        #expect([token(2, 1), token(1, 3)].max() == token(2, 1))
    }

    @Test("fails in four ways, each with its own code")
    func check() {
        func code(
            _ token: HistoryToken, deleted: Int64 = 5, last: Int64 = 9
        ) -> ErrorCode? {
            do throws(LarderError) {
                try token.check(store: store, epoch: 7, deleted: deleted, last: last)
                return nil
            } catch {
                return error.code
            }
        }
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
}
