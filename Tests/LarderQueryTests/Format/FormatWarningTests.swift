import LarderModel
import LarderQuery
import Testing

@Suite("Warnings about format strings")
struct FormatWarningTests {
    private func columns(_ text: String, _ arguments: [QueryArgument] = []) -> [Int?]? {
        PredicateFormat.warnings(of: text, arguments: arguments)?.warnings.map(\.column)
    }

    @Test("a warning finds a pattern of LIKE with wildcards of SQL, also among the arguments")
    func patterns() {
        for pattern in ["%x%", "x_y", "%", "what?%"] {
            #expect(columns("a == 1 AND b LIKE \"\(pattern)\"") == [19], "\(pattern)")
            #expect(columns("b LIKE[c] %@", [.value(.string(pattern))]) == [11], "\(pattern)")
        }
        for pattern in ["*50%*", "x*_", "a?_b", "x", ""] {
            #expect(columns("b LIKE \"\(pattern)\"") == [], "\(pattern)")
        }
        #expect(columns("b CONTAINS \"%\" OR b == \"_\"") == [])
    }

    @Test("a warning finds a placeholder in quotation marks wherever text may be")
    func placeholders() {
        #expect(columns("a == \"%@\" AND b IN {\"x\", '%K'}") == [6, 26])
        #expect(columns("a CONTAINS \"*%@*\" OR ANY c.d == \"%d\"") == [12, 33])
        #expect(columns("uppercase(\"%@\")") == [11])
        #expect(columns("'%@'") == [1])
        #expect(columns("a == '%@' OR b == '%@' OR c LIKE '%' OR d LIKE '%'") == [6, 19, 34, 48])
        #expect(columns("a == \"100%\" AND b == %@ AND %K == 1") == [])
    }

    @Test("warnings about a format string ignore the arguments of later ones")
    func arguments() throws {
        let found = try #require(
            PredicateFormat.warnings(of: "a == %@ AND %K LIKE %@", arguments: [1, "b.c", "%"]))
        #expect(found.argumentsUsed == 3 && found.warnings.map(\.column) == [21])
        #expect(PredicateFormat.warnings(of: "a ==") == nil)
    }

    @Test("a warning names its format string and does not show the text")
    func message() throws {
        let found = PredicateFormat.warnings(of: "a LIKE 'secret%'", name: "having")
        let warning = try #require(found?.warnings.first)
        #expect(warning.message == "having, column 8: `%` and `_` are no wildcards of LIKE")
        #expect(!warning.hint.contains("secret"))
    }
}
