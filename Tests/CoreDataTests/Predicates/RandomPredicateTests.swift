import CoreData
import TestSupport
import Testing

@Suite("Random predicates")
struct RandomPredicateTests {
    /// A format with its arguments.
    private struct Format {
        var text = ""
        var arguments: [Any] = []

        init(_ text: String, _ arguments: [Any] = []) {
            self.text = text
            self.arguments = arguments
        }
    }

    private static func condition(_ depth: Int, _ random: inout SeededGenerator) -> Format {
        if depth > 0, Bool.random(using: &random) {
            let (first, second) = (condition(depth - 1, &random), condition(depth - 1, &random))
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                return Format(
                    "(\(first.text) AND \(second.text))", first.arguments + second.arguments)
            case 1:
                return Format(
                    "(\(first.text) OR \(second.text))", first.arguments + second.arguments)
            default: return Format("NOT (\(first.text))", first.arguments)
            }
        }
        let order = ["==", "!=", "<", "<=", ">", ">="].randomElement(using: &random) ?? "=="
        let text = ["Ann", "b", "É", "e", "", "dora", "x"].randomElement(using: &random) ?? ""
        let match =
            ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "=="]
            .randomElement(using: &random) ?? "=="
        let options =
            match == "MATCHES"
            ? "" : ["", "[c]", "[d]", "[cd]"].randomElement(using: &random) ?? ""
        let number = Int.random(in: -100...600, using: &random) / 50 * 50
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return Format("words \(order) %d", [number])
        case 1: return Format("%K \(order) %@", ["price", Double(number) / 100])
        case 2: return Format("title \(match)\(options) %@", [text])
        case 3: return Format("category.name \(match)\(options) %@", [text])
        case 4: return Format("words IN %@", [[number, 0, 100]])
        case 5: return Format("words BETWEEN %@", [[number, number + 200]])
        case 6: return Format("tags.@count \(order) %d", [number / 200])
        case 7:
            let quantifier = ["ANY", "ALL", "NONE"].randomElement(using: &random) ?? "ANY"
            return Format("\(quantifier) tags.name \(match)\(options) %@", [text])
        case 8:
            return Format(
                "SUBQUERY(category.articles, $a, $a.words \(order) %d).@count > %d", [number, 1])
        case 9: return Format("(words + %d) * 2 \(order) price", [number])
        default: return Format("category == nil")
        }
    }

    @Test("a random format selects the same objects in the store, in memory and with changes")
    func formats() throws {
        var random = SeededGenerator.fromEnvironment("NSPredicate formats")
        let context = try Library.filled()
        let all = try context.fetch(NSFetchRequest<Article>(entityName: "Article"))
        for round in 0..<RandomTesting.iterations(200) {
            let format = Self.condition(3, &random)
            let predicate = NSPredicate(format: format.text, argumentArray: format.arguments)
            if round % 2 == 1 {
                for article in all where Bool.random(using: &random) {
                    article.words = Int.random(in: 0...10, using: &random) * 50
                }
            } else {
                context.rollback()
            }
            let held = try all.filter { try predicate.holds(for: $0) }.map(\.title).sorted()
            #expect(try context.titles(predicate).sorted() == held, "\(format.text)")
            let again = NSPredicate(format: predicate.predicateFormat)
            #expect(try context.titles(again).sorted() == held, "\(predicate.predicateFormat)")
        }
    }

    @Test("a damaged format is an error or a predicate")
    func damaged() throws {
        var random = SeededGenerator.fromEnvironment("damaged NSPredicate formats")
        let context = try Library.filled()
        let donor = Array("SUBQUERY(tags, $t, $t.name == %@).@count > 0".utf8)
        for _ in 0..<RandomTesting.iterations(200) {
            let format = Self.condition(3, &random)
            let bytes = Fuzzing.mutated(Array(format.text.utf8), donor: donor, using: &random)
            let predicate = NSPredicate(
                format: String(decoding: bytes, as: UTF8.self), argumentArray: format.arguments)
            let found = try? context.titles(predicate)
            #expect(found.map { $0.count <= 6 } ?? true)
            _ = predicate.predicateFormat
        }
    }
}
