import Testing

@testable import LarderStore

@Suite("a regular expression")
struct RegularExpressionTests {
    @Test("has to match the whole text")
    func whole() throws {
        let expression = try RegularExpression("[a-z]+|ü")
        #expect(try expression.matchesWhole("abc"))
        #expect(try expression.matchesWhole("ü"))
        #expect(try !expression.matchesWhole("abc1"))
        #expect(try !expression.matchesWhole("abc\n"))
        #expect(try !expression.matchesWhole(""))
    }

    @Test("may be empty, and matches the empty text")
    func empty() throws {
        #expect(try RegularExpression("").matchesWhole(""))
        #expect(try !RegularExpression("").matchesWhole("a"))
    }

    @Test("ignores case where it is told to, in Unicode")
    func caseInsensitive() throws {
        #expect(try RegularExpression("Ä+", caseInsensitive: true).matchesWhole("äÄ"))
    }

    @Test("names the fault and its place", arguments: ["a(b", "[", "\\C", "*"])
    func malformed(pattern: String) {
        let fault = #expect(throws: RegularExpression.Fault.self) { try RegularExpression(pattern) }
        #expect(fault?.offset != nil)
        #expect(fault?.message.isEmpty == false)
    }

    @Test("gives up on a text that it would backtrack over without end")
    func backtracking() throws {
        let expression = try RegularExpression("(a+)+[0-9]")
        #expect(throws: RegularExpression.Fault.self) {
            try expression.matchesWhole(String(repeating: "a", count: 64))
        }
    }

    @Test("is refused one byte past the longest")
    func tooLong() throws {
        _ = try RegularExpression(String(repeating: "a", count: 16 << 10))
        #expect(throws: RegularExpression.Fault.self) {
            try RegularExpression(String(repeating: "a", count: (16 << 10) + 1))
        }
    }
}
