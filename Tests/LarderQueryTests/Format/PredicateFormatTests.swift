import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("Predicate format strings")
struct PredicateFormatTests {
    /// The arguments for `%@` and `%K` in scripts.
    static let arguments: [QueryArgument] = [
        "category.name", 7, "articles.@count", "not a path", "a",
    ]

    /// Each block is a format string. The output is its tree, and its formatted text if that
    /// differs. A leading escape `\x` is not part of the text.
    @Test("format strings become predicate trees, or are rejected at a column")
    func scripts() throws {
        try runScripts(in: "format") { text in
            let parsed = try PredicateFormat.parse(text, arguments: Self.arguments)
            let (tree, used) = (parsed.expression, parsed.argumentsUsed)
            let usesKeyPaths = parsed.usesKeyPathArguments
            var lines = [tree.outline]
            if used > 0 { lines.append("arguments \(used)\(usesKeyPaths ? ", key paths" : "")") }
            if tree.format != text { lines.append("format \(tree.format)") }
            return lines.joined(separator: "\n")
        }
    }

    @Test("a format string may be a single value where no predicate is required")
    func values() throws {
        try runScripts(in: "format-values") { text in
            let parsed = try PredicateFormat.parseExpression(
                text, arguments: Self.arguments, name: "sort key")
            return parsed.expression.outline
                + (parsed.argumentsUsed > 0 ? "\narguments \(parsed.argumentsUsed)" : "")
        }
    }

    func parse(_ text: String) throws -> QueryExpression {
        try PredicateFormat.parse(text, arguments: Self.arguments).expression
    }

    @Test("the arguments of a format string are counted from the given first one")
    func firstArgument() throws {
        let arguments: [QueryArgument] = [1, 2, "name", 4]
        let parsed = try PredicateFormat.parse(
            "%K == %@", arguments: arguments, firstArgument: 2)
        let comparison = Comparison(.keyPath("name"), .equal, .argument(3))
        #expect(parsed.expression == .comparison(comparison))
        #expect(parsed.argumentsUsed == 2 && parsed.usesKeyPathArguments)
        #expect(throws: LarderError.self) {
            try PredicateFormat.parse("a == %@", arguments: arguments, firstArgument: 4)
        }
        #expect(throws: LarderError.self) {
            try PredicateFormat.parse("%K == 1", arguments: arguments, firstArgument: 3)
        }
    }

    @Test("a format string may have 64 levels of nesting, and 65 or many more are rejected")
    func nesting() throws {
        func parentheses(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
        }
        func negations(_ count: Int) -> String {
            String(repeating: "NOT ", count: count) + "a == 1"
        }
        func exclamations(_ count: Int) -> String { String(repeating: "!", count: count) + "a" }
        func lists(_ count: Int) -> String {
            "a IN " + String(repeating: "{", count: count) + String(repeating: "}", count: count)
        }
        func calls(_ count: Int) -> String {
            String(repeating: "abs(", count: count) + "1" + String(repeating: ")", count: count)
                + " == a"
        }
        func signs(_ count: Int) -> String { String(repeating: "-", count: count) + "a == 1" }
        func sums(_ count: Int) -> String { "a" + String(repeating: "+a", count: count) + " == 1" }
        func products(_ count: Int) -> String {
            "a" + String(repeating: "*a", count: count) + " == 1"
        }
        func powers(_ count: Int) -> String {
            "a" + String(repeating: "**a", count: count) + " == 1"
        }
        func values(_ count: Int) -> String {
            "a == " + String(repeating: "(", count: count) + "1"
                + String(repeating: ")", count: count)
        }
        func subqueries(_ count: Int) -> String {
            (0..<count).reduce("$x.a == 1") { inner, level in
                let base = level == count - 1 ? "a" : "$x.a"
                return "SUBQUERY(\(base), $x, \(inner)).@count > 0"
            }
        }
        // The innermost part has levels of its own: three for `a == 1`, two for `a`.
        let depthMax = Limits.expressionDepthMax
        for (nested, most) in [
            (parentheses, depthMax), (values, depthMax), (negations, depthMax - 3),
            (exclamations, depthMax - 2), (lists, depthMax - 1),
            (subqueries, Limits.nestedCollectionsMax), (calls, depthMax - 2), (signs, depthMax - 3),
            (sums, depthMax - 3), (products, depthMax - 3), (powers, depthMax - 3),
        ] {
            _ = try PredicateFormat.parse(nested(most))
            let error = #expect(throws: LarderError.self) {
                try PredicateFormat.parse(nested(most + 1))
            }
            #expect(error?.code == .resourceExhausted)
        }
        for nested in [
            parentheses, values, negations, exclamations, lists, subqueries, calls, signs, sums,
            products, powers,
        ] {
            let error = #expect(throws: LarderError.self) {
                try PredicateFormat.parse(nested(depthMax + 1))
            }
            #expect(error?.column != nil)
        }
        for nested in [parentheses, exclamations, lists, values, signs, sums, products, powers] {
            #expect(throws: LarderError.self) { try PredicateFormat.parse(nested(80_000)) }
        }
        // Levels of brackets and levels of sums are counted together.
        let alternating =
            String(repeating: "(" + String(repeating: "a + ", count: 60), count: 60) + "a"
            + String(repeating: ")", count: 60) + " == 1"
        #expect(throws: LarderError.self) { try PredicateFormat.parse(alternating) }
        let error = #expect(throws: LarderError.self) {
            try PredicateFormat.parse(parentheses(depthMax + 1))
        }
        #expect(error?.column == depthMax + 1)
    }

    @Test("a format string one byte too long, and a tree one node too large, are rejected")
    func size() throws {
        let padding = String(repeating: " ", count: Limits.predicateBytesMax - 6)
        _ = try PredicateFormat.parse("a == 1" + padding)
        #expect(throws: LarderError.self) { try PredicateFormat.parse("a == 1 " + padding) }

        // The comparison, the list, and two for the key path.
        func list(_ nodes: Int) -> String {
            "a IN {\([String](repeating: "1", count: nodes - 4).joined(separator: ","))}"
        }
        _ = try PredicateFormat.parse(list(Limits.expressionNodesMax))
        let error = #expect(throws: LarderError.self) {
            try PredicateFormat.parse(list(Limits.expressionNodesMax + 1))
        }
        #expect(error?.code == .resourceExhausted)
        let many = #expect(throws: LarderError.self) { try PredicateFormat.parse(list(10_000)) }
        #expect(many?.code == .resourceExhausted)
        #expect(many?.column != nil)
        #expect(many?.hint == "pass many values as one list argument: name IN %@")
    }

    @Test("a literal of a hundred thousand characters with wildcards is accepted")
    func longLiterals() throws {
        let wildcards = String(repeating: "*?", count: 50_000)
        let tree = try PredicateFormat.parse("a LIKE '\(wildcards)'").expression
        #expect(
            tree
                == .comparison(
                    Comparison(.keyPath("a"), .like, .constant(.string(wildcards)))))
        #expect(try PredicateFormat.parse(tree.format).expression == tree)
        let name = String(repeating: "n", count: 100_000)
        let error = #expect(throws: LarderError.self) {
            try PredicateFormat.parse("\(name)(a) == 1")
        }
        #expect(error?.code == .malformedPredicate)
        #expect((error?.message.utf8.count ?? 0) < 300)
        for end in ["'", "{", "(", "length(", "a.", "#", "$", "%", "\\"] {
            #expect(throws: LarderError.self) {
                try PredicateFormat.parse("a == " + String(repeating: " ", count: 200_000) + end)
            }
        }
    }

    @Test("the column of an error in a format string is counted in characters")
    func columns() throws {
        for (text, column) in [
            ("a == ", 6), ("", 1), ("name == \"é🏳️‍🌈\" x", 14), ("a == 'ab", 6), ("a == 1 AND", 11),
            ("\r\na ==\r\n}", 7), ("\"é🏳️‍🌈\" == lengthy(a)", 9), ("'日本' + * a", 8),
            ("a == '🏳️‍🌈' AND length() == 1", 14),
        ] {
            let error = #expect(throws: LarderError.self) { try PredicateFormat.parse(text) }
            #expect(error?.code == .malformedPredicate)
            #expect(error?.column == column, "\(text)")
        }
    }

    @Test("an error found after parsing names the column of its part of the format string")
    func errorColumns() throws {
        let text = "'日本' == a.b AND length(c) + 1 > $x"
        let sourceMap = try PredicateFormat.parse(text).sourceMap
        let length = QueryExpression.function(.length, [.keyPath("c")])
        let parts: [(QueryExpression, Int?)] = [
            (.keyPath("a.b"), 9), (length, 17), (.function(.add, [length, .constant(1)]), 27),
            (.constant(1), 29), (.variable("x"), 33), (.constant("日本"), 1), (.keyPath("z"), nil),
        ]
        for (part, column) in parts {
            let error = sourceMap.locating(LarderError(.wrongType, "wrong"), at: part)
            #expect(error.column == column)
            #expect(error.message == (column.map { "predicate, column \($0): wrong" } ?? "wrong"))
            // An error that already has a column keeps it.
            let again = sourceMap.locating(error, at: .keyPath("c"))
            #expect(column == nil || again == error)
        }
    }

    @Test("an error in a format string does not show text in quotation marks")
    func privacy() {
        for text in [
            "a == 1 'secret'", "'secret' 'secret'", "a LIKE[x] 'secret'", "{'secret'} 'x'",
        ] {
            let error = #expect(throws: LarderError.self) { try PredicateFormat.parse(text) }
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test("a tree that exceeds the depth or size limit is rejected without recursion")
    func treeLimits() throws {
        var tree = QueryExpression.keyPath("a")
        for _ in 2..<Limits.expressionDepthMax { tree = .not(tree) }
        try tree.checkLimits()
        tree = .not(tree)
        let error = #expect(throws: LarderError.self) { try tree.checkLimits() }
        #expect(error?.code == .resourceExhausted)
        let wide = [QueryExpression](repeating: .object, count: Limits.expressionNodesMax)
        try QueryExpression.or(Array(wide.dropLast())).checkLimits()
        #expect(throws: LarderError.self) { try QueryExpression.or(wide).checkLimits() }
        let steps = [String](repeating: "a", count: Limits.keyPathStepsMax + 1)
        #expect(throws: LarderError.self) {
            try QueryExpression.keyPath(.object, steps).checkLimits()
        }
    }

    @Test("a tree without a format-string form can still be formatted")
    func otherTrees() {
        #expect(QueryExpression.and([]).format == "TRUEPREDICATE")
        #expect(QueryExpression.or([]).format == "FALSEPREDICATE")
        let date = Value.date(Date(timeIntervalSinceReferenceDate: 0))
        let comparison = Comparison(.keyPath("published"), .lessThan, .constant(date))
        #expect(
            QueryExpression.comparison(comparison).format == #"published < "2001-01-01T00:00:00Z""#)
    }
}
