import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite struct StringFunctionsTests {
    @Test(
        "the end of a prefix is the next value after all strings with it",
        arguments: [
            ("a", "b"), ("az", "a{"), ("\u{D7FF}", "\u{E000}"), ("a\u{10FFFF}", "b"), ("é", "ê"),
        ])
    func endOfPrefix(prefix: String, end: String) {
        #expect(StringFunctions.endOfPrefix(prefix) == .text(end))
    }

    @Test("a prefix that no text follows ends with a blob", arguments: ["", "\u{10FFFF}"])
    func endlessPrefix(prefix: String) {
        #expect(StringFunctions.endOfPrefix(prefix) == .blob([]))
    }

    @Test("a pattern that does not compile is rejected with its position")
    func malformedPattern() {
        let error = #expect(throws: LarderError.self) { try PatternCache.check("a(b") }
        #expect(error?.code == .malformedPredicate)
        #expect(error?.message.contains("at byte 3") == true)
    }

    @Test("a regular expression that backtracks without end is stopped")
    func catastrophicPattern() {
        let text = String(repeating: "a", count: 40) + "b"
        let error = #expect(throws: LarderError.self) {
            try PatternCache().matches(text, "(a|aa)+", [])
        }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("a match of LIKE has a limited number of steps, which long texts do not reach")
    func longLike() throws {
        func isLike(_ text: String, _ pattern: String) throws -> Bool {
            try StringOperator(.like, pattern, [], likeStepsMax: 100_000).holds(text)
        }
        let many = String(repeating: "a", count: 1_000)
        for text in [
            String(repeating: "a", count: 10_000), String(repeating: "👩🏽", count: 10) + many,
        ] {
            #expect(try isLike(text, "*a*"))
            #expect(try !isLike(text, "*aaab"))
            let error = #expect(throws: LarderError.self) {
                try isLike(text + text + "b", "*\(many)?b*b")
            }
            #expect(error?.code == .resourceExhausted)
        }
    }

    @Test(
        "a match with the maximum number of steps succeeds, and one with one more is unknown",
        arguments: [
            ("aaa", "*"), ("abc", "a?c"), ("aab", "*ab"),
        ])
    func likeSteps(text: String, pattern: String) throws {
        let pattern = LikePattern(pattern)
        let needed = try #require((0...100).first { pattern.matches(text, stepsMax: $0) != nil })
        #expect(pattern.matches(text, stepsMax: needed) == true)
        #expect(pattern.matches(text, stepsMax: needed - 1) == nil)
    }

    @Test("more patterns than the cache holds are matched correctly")
    func manyPatterns() throws {
        let cache = PatternCache()
        for number in 0..<200 {
            #expect(try cache.matches("x\(number)", "x\(number)", []))
        }
    }

    @Test("string functions in SQL accept bytes that are not UTF-8, and every type")
    func damagedText() throws {
        let database = try FunctionDatabase()
        let connection = database.connection
        let values: [SQL] = ["CAST(X'ff80c0' AS TEXT)", "X'ff'", "NULL", "5", "1.5", "''", "'x'"]
        let names = [
            "larder_contains", "larder_begins_with", "larder_ends_with", "larder_like",
            "larder_matches",
        ]
        for left in values {
            for right in values {
                for name in names {
                    for options in ["0", "3", "-1", "'x'"] as [SQL] {
                        let answer = try connection.integer(
                            "SELECT \(function: name)(\(left), \(right), \(options))")
                        #expect((answer == nil) == (left == "NULL" || right == "NULL"))
                    }
                }
            }
            let aggregates = [
                "median", "stddev", "decimal_sum", "decimal_average", "decimal_median",
                "decimal_stddev", "real_sum", "real_average",
            ]
            for name in aggregates {
                _ = try connection.integer("SELECT larder_\(function: name)(\(left))")
            }
        }
    }
}
