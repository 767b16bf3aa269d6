import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a regular expression")
struct RegularExpressionTests {
    @Test("a regular expression has to match the whole text")
    func whole() throws {
        let expression = try RegularExpression("[a-z]+|ü")
        #expect(try expression.matchesWhole("abc"))
        #expect(try expression.matchesWhole("ü"))
        #expect(try !expression.matchesWhole("abc1"))
        #expect(try !expression.matchesWhole("abc\n"))
        #expect(try !expression.matchesWhole(""))
    }

    @Test("a regular expression may be empty, and matches the empty text")
    func empty() throws {
        #expect(try RegularExpression("").matchesWhole(""))
        #expect(try !RegularExpression("").matchesWhole("a"))
    }

    @Test("a regular expression ignores case on request, in Unicode")
    func caseInsensitive() throws {
        #expect(try RegularExpression("Ä+", caseInsensitive: true).matchesWhole("äÄ"))
    }

    @Test(
        "a malformed regular expression is an error with its message and offset",
        arguments: ["a(b", "[", "\\C", "*"])
    func malformed(pattern: String) {
        let fault = #expect(throws: RegularExpression.Problem.self) {
            try RegularExpression(pattern)
        }
        #expect(fault?.offset != nil)
        #expect(fault?.message.isEmpty == false)
    }

    @Test("a regular expression that would backtrack without end is stopped")
    func backtracking() throws {
        let expression = try RegularExpression("(a+)+[0-9]")
        #expect(throws: RegularExpression.Problem.self) {
            try expression.matchesWhole(String(repeating: "a", count: 64))
        }
    }

    @Test(
        "a regular expression that skips the rest of a long text in each step is stopped",
        arguments: ["", "é"])
    func passing(start: String) throws {
        let expression = try RegularExpression("[aé]*?[aé]*+x|y")
        let text = start + String(repeating: "a", count: 400_000) + "x"
        #expect(throws: RegularExpression.Problem.self) { try expression.matchesWhole(text + "b") }
        #expect(try RegularExpression(".*[0-9].*").matchesWhole(text + "1" + text))
    }

    @Test("a regular expression is interrupted within a match of a long text")
    func interrupted() throws {
        let expression = try RegularExpression("[ab]*?[ac]*+x|y")
        let text = String(repeating: "a", count: 100_000)
        var questions = 0
        #expect(throws: RegularExpression.Problem.self) {
            try expression.matchesWhole(
                text,
                Interruption {
                    questions += 1
                    return true
                })
        }
        #expect(questions == 1)
        #expect(try !expression.matchesWhole("aaaa"))
    }

    @Test("a regular expression one byte longer than the maximum is refused")
    func tooLong() throws {
        _ = try RegularExpression(String(repeating: "a", count: 16 << 10))
        #expect(throws: RegularExpression.Problem.self) {
            try RegularExpression(String(repeating: "a", count: (16 << 10) + 1))
        }
    }

    @Test("a regular expression keeps no memory of a match that needed much, and matches as before")
    func memory() throws {
        let expression = try RegularExpression("(?:(a)|(b))*c")
        let text = String(repeating: "ab", count: 50_000)
        for _ in 0..<3 {
            _ = try? expression.matchesWhole(text)
            #expect(expression.keptBytes <= RegularExpression.keptBytesMax)
            #expect(try expression.matchesWhole("abc"))
            #expect(try !expression.matchesWhole("abab"))
        }
    }
}
