import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("Random predicate format strings")
struct PredicateFormatFuzzTests {
    static let samples = [
        #"birthOfYear >= 1990 AND name CONTAINS[cd] "bob""#,
        #"ANY articles.category.name == "tech" OR NOT isDraft"#,
        #"SUBQUERY(a, $x, $x.b.name == "te\u00e9ch\n" AND $x.wordCount > 100).@count > 0"#,
        "a BETWEEN {-1.5e3, 0x1F} && !(b IN ('x', %@, NULL) || #in == SELF) AND %K != %@",
        "NONE a.b LIKE '*?' AND ALL a.c MATCHES \"[a-z]+\" OR TRUEPREDICATE",
        "-a ** 2 + b * (c - 1) / 0.5 > modulus(length(d), 3) OR (a > 1) == TRUE",
        "ternary(a == $x, min(a, b), now()) - add:to:(1, 2) <= a.@sum.b",
        "max(SUBQUERY(a, $x, $x.b).c) + 1 IN {length(#in), -2 ** 3}",
    ]

    @Test("a damaged format string is rejected, or its tree formats and parses to an equal tree")
    func mutations() throws {
        var generator = SeededGenerator.fromEnvironment("predicate formats")
        for sample in Self.samples {
            for _ in 0..<RandomTesting.iterations() {
                check(Fuzzing.mutated(sample, alphabet: Fuzzing.alphabet, using: &generator))
            }
        }
    }

    @Test(
        "random words of the predicate grammar are rejected, or format and parse to an equal tree")
    func words() throws {
        var generator = SeededGenerator.fromEnvironment("predicate words")
        let words = """
            AND OR NOT ! ( ) { } [ ] [c] [cd] , . == != < IN BETWEEN LIKE ANY ALL NONE SUBQUERY( \
            $x $x.a a a.b #in SELF SELF.a 1 -1 0.5 'x' TRUE NULL TRUEPREDICATE %@ %K .@count + \
            @sum - * / ** length( min( ternary( coalesce( now() sum: .@sum. [n] 2 UNION
            """.split(separator: " ")
        for _ in 0..<(RandomTesting.iterations() * 4) {
            let count = Int.random(in: 1...12, using: &generator)
            check(
                (0..<count).compactMap { _ in words.randomElement(using: &generator) }
                    .joined(separator: " "))
        }
    }

    @Test("a random predicate tree formats and parses to an equal tree")
    func trees() throws {
        var generator = SeededGenerator.fromEnvironment("predicate trees")
        for _ in 0..<RandomTesting.iterations() {
            var trees = RandomTrees(generator: generator)
            let tree = trees.predicate(levels: 4)
            let value = trees.value(levels: 4)
            generator = trees.generator
            let arguments = [QueryArgument](repeating: nil, count: Limits.argumentsMax)
            let text = tree.format
            let again = try PredicateFormat.parse(text, arguments: arguments).expression
            #expect(again.withoutPlaces == tree, "\(text)")
            let other = try PredicateFormat.parseExpression(value.format, arguments: arguments)
            #expect(other.expression.withoutPlaces == value, "\(value.format)")
        }
    }

    private func check(_ text: String) {
        let arguments: [QueryArgument] = ["a.b", "c", "d", "e", "f", "g"]
        do throws(LarderError) {
            let parsed = try PredicateFormat.parse(text, arguments: arguments)
            let (tree, used) = (parsed.expression, parsed.argumentsUsed)
            // Key paths are formatted as names, so only `%@` in order can be parsed again.
            guard !text.contains("%K") else { return }
            let again = try PredicateFormat.parse(tree.format, arguments: arguments)
            #expect(again.expression == tree, "\(text)")
            #expect(again.argumentsUsed == used)
        } catch {
            let codes: [ErrorCode] = [.malformedPredicate, .unsupported, .resourceExhausted]
            #expect(codes.contains(error.code), "\(text): \(error)")
        }
    }
}
