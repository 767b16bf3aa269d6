import LarderModel
import TestSupport
import Testing

@Suite("Predicate format strings at random")
struct PredicateFormatFuzzTests {
    static let samples = [
        #"birthOfYear >= 1990 AND name CONTAINS[cd] "bob""#,
        #"ANY articles.category.name == "tech" OR NOT isDraft"#,
        #"SUBQUERY(a, $x, $x.b.name == "te\u00e9ch\n" AND $x.wordCount > 100).@count > 0"#,
        "a BETWEEN {-1.5e3, 0x1F} && !(b IN ('x', %@, NULL) || #in == SELF) AND %K != %@",
        "NONE a.b LIKE '*?' AND ALL a.c MATCHES \"[a-z]+\" OR TRUEPREDICATE",
    ]

    @Test("a damaged format string is refused, or its tree prints and reads back as the same tree")
    func mutations() throws {
        var generator = SeededGenerator.fromEnvironment("predicate formats")
        for sample in Self.samples {
            for _ in 0..<RandomTesting.iterations() {
                check(Fuzzing.mutated(sample, alphabet: Fuzzing.alphabet, using: &generator))
            }
        }
    }

    @Test("words of the grammar in any order are refused, or read back")
    func words() throws {
        var generator = SeededGenerator.fromEnvironment("predicate words")
        let words = """
            AND OR NOT ! ( ) { } [ ] [c] [cd] , . == != < IN BETWEEN LIKE ANY ALL NONE SUBQUERY( \
            $x $x.a a a.b #in SELF SELF.a 1 -1 0.5 'x' TRUE NULL TRUEPREDICATE %@ %K .@count + @sum
            """.split(separator: " ")
        for _ in 0..<(RandomTesting.iterations() * 4) {
            let count = Int.random(in: 1...12, using: &generator)
            check(
                (0..<count).compactMap { _ in words.randomElement(using: &generator) }
                    .joined(separator: " "))
        }
    }

    @Test("a random tree prints, and reads back as the same tree")
    func trees() throws {
        var generator = SeededGenerator.fromEnvironment("predicate trees")
        for _ in 0..<RandomTesting.iterations() {
            var trees = RandomTrees(generator: generator)
            let tree = trees.predicate(levels: 4)
            generator = trees.generator
            let text = tree.format
            #expect(try PredicateFormat.parse(text).expression == tree, "\(text)")
        }
    }

    private func check(_ text: String) {
        let arguments: [QueryArgument] = ["a.b", "c", "d", "e", "f", "g"]
        do throws(LarderError) {
            let parsed = try PredicateFormat.parse(text, arguments: arguments)
            let (tree, used) = (parsed.expression, parsed.argumentsUsed)
            // Key paths are printed as such, so only `%@` in order can be read again.
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

/// Makes trees of the forms that a format string can say.
struct RandomTrees {
    var generator: SeededGenerator
    private var variables: [String] = []

    init(generator: SeededGenerator) { self.generator = generator }

    private mutating func number(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &generator)
    }

    mutating func predicate(levels: Int) -> QueryExpression {
        switch number(levels > 0 ? 7 : 3) {
        case 0: return .constant(.bool(number(2) == 0))
        case 1: return keyPath()
        case 3: return .and([predicate(levels: levels - 1), predicate(levels: levels - 1)])
        case 4:
            return .or((0...(1 + number(2))).map { _ in predicate(levels: levels - 1) })
        case 5: return .not(predicate(levels: levels - 1))
        default: return .comparison(comparison(levels: levels))
        }
    }

    private mutating func comparison(levels: Int) -> Comparison {
        let comparisonOperator = Comparison.Operator.allCases.randomElement(using: &generator)
        let right: QueryExpression =
            switch comparisonOperator {
            case .between: .list([constant(), constant()])
            case .in: .list((0..<number(4)).map { _ in constant() })
            default: operand(levels: levels)
            }
        return Comparison(
            operand(levels: levels), comparisonOperator ?? .equal, right,
            options: Comparison.Options(rawValue: UInt32(number(4))),
            modifier: Comparison.Modifier.allCases.randomElement(using: &generator) ?? .direct)
    }

    private mutating func operand(levels: Int) -> QueryExpression {
        switch number(levels > 0 ? 6 : 4) {
        case 0: return keyPath()
        case 1: return constant()
        case 2: return .collection(.count, keyPath())
        case 3: return variables.last.map { .variable($0) } ?? .object
        default:
            let collection = keyPath()
            let variable = ["x", "y", "and"][number(3)]
            variables.append(variable)
            let condition = predicate(levels: levels - 1)
            variables.removeLast()
            let subquery = QueryExpression.subquery(
                collection, variable: variable, predicate: condition)
            return number(2) == 0 ? subquery : .collection(.count, subquery)
        }
    }

    private mutating func keyPath() -> QueryExpression {
        let names = ["a", "name", "in", "self", "SUBQUERY", "sum:b", "x_1", "True", "and", "count"]
        let steps = (0...number(3)).compactMap { _ in names.randomElement(using: &generator) }
        guard let variable = variables.last, number(2) == 0 else { return .keyPath(.object, steps) }
        return .keyPath(.variable(variable), steps)
    }

    private mutating func constant() -> QueryExpression {
        let bits = generator.next()
        switch number(6) {
        case 0: return .constant(.null)
        case 1: return .constant(.bool(bits.isMultiple(of: 2)))
        case 2: return .constant(.int([Int64(bitPattern: bits), .min, .max, 0, -1][number(5)]))
        case 3:
            let double = Double(bitPattern: bits)
            return .constant(.double(double.isFinite ? double : 0.5))
        default:
            var text = String.UnicodeScalarView()
            for _ in 0..<number(8) {
                text.append(Fuzzing.alphabet.randomElement(using: &generator) ?? "x")
            }
            return .constant(.string(String(text)))
        }
    }
}
