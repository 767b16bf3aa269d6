import CoreData
import TestSupport
import Testing

@Suite("Formats of random parts")
struct FormatFuzzTests {
    private static let parts = [
        "title", "words", "category", "tags", "category.name", "tags.name", "nothing", "SELF",
        "#any", "$x", "$x.name", "%@", "%K", "%d", "%f", "%", "%%", "==", "!=", "<", ">=", "=<",
        "IN", "BETWEEN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH[cd]", "[c]", "[x]",
        "AND", "OR", "NOT", "!", "&&", "||", "ANY", "ALL", "NONE", "SOME", "(", ")", "{", "}", ",",
        ".", "@count", "@sum", "@", "#", "1", "-1", "1.5", "99999999999999999999", "0x", "1e999",
        "'a'", "\"b\"", "'", "\"", "\\", "NULL", "YES", "TRUEPREDICATE", "SUBQUERY(", "TERNARY(",
        "length(", "sum(", "CAST(", "FUNCTION(", "now()", "+", "-", "*", "/", "**", "é", "\u{0}",
        "\u{301}", "👩‍👩‍👧", "[0]", "[FIRST]", "UNION", "IS", "Article", "?", ":=", "=",
    ]

    /// A value of any kind, of which a store does not have many.
    private static func value(_ depth: Int, _ random: inout SeededGenerator) -> Any {
        switch Int.random(in: 0..<18, using: &random) {
        case 0: 1
        case 1: "Ann"
        case 2: Double.nan
        case 3: Date.distantFuture
        case 4: NSNull()
        case 5: UUID()
        case 6: Library.model()
        case 7: NSExpression(format: "words + 1")
        case 8: NSExpression(format: "1 +")
        case 9: NSPredicate(value: true)
        case 10: UInt64.max
        case 11: Data([1, 2])
        case 12: ["a": 1]
        case 13: Set([1, 2])
        case 14: NSObject()
        case 15: String(repeating: "(", count: 2_000)
        default:
            depth > 0
                ? (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) }
                : true
        }
    }

    /// A comparison that is often well-formed.
    private static func comparison(_ random: inout SeededGenerator) -> String {
        let name = ["title", "words", "category", "tags.name", "$x"].randomElement(using: &random)
        let order = ["==", "<", "IN", "CONTAINS[c]", "LIKE"].randomElement(using: &random)
        let value = ["'a'", "1", "NULL", "{1, 2}", "words", "%@"].randomElement(using: &random)
        let quantifier = ["", "", "ANY ", "NOT "].randomElement(using: &random)
        return [quantifier, name, " ", order, " ", value].compactMap { $0 }.joined()
    }

    @Test("a format of random parts with random values is an error with a text, or a predicate")
    func parts() throws {
        var random = SeededGenerator.fromEnvironment("formats of random parts")
        let context = try Library.filled()
        let ann = try context.article("Ann")
        var parsed = 0
        for _ in 0..<RandomTesting.iterations(500) {
            let count = Int.random(in: 1...14, using: &random)
            var text = (0..<count).map { _ in
                Self.parts.randomElement(using: &random) ?? ""
            }.joined(separator: Bool.random(using: &random) ? " " : "")
            if Bool.random(using: &random) { text = Self.comparison(&random) }
            let arguments = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Self.value(2, &random)
            }
            let predicate = NSPredicate(format: text, argumentArray: arguments)
            for body in [
                { _ = try context.titles(predicate) }, { _ = try predicate.holds(for: ann) },
                { _ = try predicate.holds(for: ["title": "a", "words": 1]) },
                { _ = try predicate.holds(for: 5) },
                { _ = try NSExpression(format: text, argumentArray: arguments).value(for: ann) },
            ] {
                do {
                    try body()
                    parsed += 1
                } catch let error as NSError {
                    #expect(error.domain == NSCocoaErrorDomain, "\(text)")
                    #expect(!error.localizedDescription.isEmpty, "\(text)")
                }
            }
            #expect(!predicate.predicateFormat.isEmpty || text.isEmpty)
            _ = predicate.hash
            _ = NSCompoundPredicate(notPredicateWithSubpredicate: predicate).evaluate(with: ann)
        }
        #expect(parsed > 0)
    }

    @Test("a chain of random expressions is an error with a text, or has a value")
    func expressions() throws {
        var random = SeededGenerator.fromEnvironment("random expressions")
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let names = [
            "add:to:", "sum:", "count:", "length:", "abs:", "divide:by:", "raise:toPower:", "foo:",
            "", "now", "min:", "leftshift:by:", "canonical:", "average:", "modulus:by:",
        ]
        func expression(_ depth: Int) -> NSExpression {
            switch Int.random(in: 0..<9, using: &random) {
            case 0: NSExpression(forConstantValue: Self.value(1, &random))
            case 1: NSExpression(forKeyPath: Self.parts.randomElement(using: &random) ?? "")
            case 2: NSExpression(forVariable: Self.parts.randomElement(using: &random) ?? "")
            case 3: NSExpression.expressionForEvaluatedObject()
            case 4 where depth > 0:
                NSExpression(forAggregate: [expression(depth - 1), Self.value(1, &random)])
            case 5 where depth > 0:
                NSExpression(
                    forSubquery: expression(depth - 1), usingIteratorVariable: "$x",
                    predicate: NSPredicate(format: "$x.name == %@", expression(depth - 1)))
            case 6 where depth > 0:
                NSExpression(
                    forConditional: NSPredicate(format: "%@ == 1", expression(depth - 1)),
                    trueExpression: expression(depth - 1), falseExpression: expression(depth - 1))
            default:
                NSExpression(
                    forFunction: names.randomElement(using: &random) ?? "",
                    arguments: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        depth > 0 ? expression(depth - 1) : NSExpression(forKeyPath: "words")
                    })
            }
        }
        for _ in 0..<RandomTesting.iterations(300) {
            let made = expression(3)
            let comparison = NSComparisonPredicate(
                leftExpression: made, rightExpression: expression(2), modifier: .direct,
                type: Bool.random(using: &random) ? .equalTo : .in)
            for body in [
                { _ = try made.value(for: ann) }, { _ = try made.value(for: nil) },
                { _ = try context.titles(comparison) }, { _ = try comparison.holds(for: ann) },
            ] {
                do {
                    try body()
                } catch let error as NSError {
                    #expect(!error.localizedDescription.isEmpty, "\(made)")
                }
            }
            #expect(!made.description.isEmpty)
        }
    }
}
