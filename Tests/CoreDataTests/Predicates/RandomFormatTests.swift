import CoreData
import LarderModel
import QueryFuzzing
import TestSupport
import Testing

/// Predicates with everything that formats can have, about random objects: operators, functions,
/// aggregates, SUBQUERY, quantifiers, arguments of all kinds, and mistakes.
@Suite("Random formats")
struct RandomFormatTests {
    /// The outcome of one way to use a predicate.
    private enum Outcome: Equatable {
        case objects(Set<Int>)
        case refused(ErrorCode?)

        init(_ context: FuzzedContext, _ body: () throws -> [NSManagedObject]) {
            do {
                self = .objects(Set(try body().compactMap(context.index)))
            } catch {
                let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? LarderError
                self = .refused(underlying?.code)
            }
        }

        /// Whether an error depends on which objects are read first.
        var isUndecided: Bool {
            self == .refused(.arithmeticOverflow) || self == .refused(.resourceExhausted)
        }

        var isRefused: Bool { if case .refused = self { true } else { false } }
    }

    private static func fetched(
        _ predicate: NSPredicate, _ random: FormatCases.Case, _ context: FuzzedContext
    ) -> Outcome {
        Outcome(context) {
            let request = NSFetchRequest<NSManagedObject>(entityName: random.entityName)
            request.predicate = predicate
            request.includesSubentities = random.includesSubentities
            return try context.context.fetch(request)
        }
    }

    private static func held(
        _ predicate: NSPredicate, _ random: FormatCases.Case, _ context: FuzzedContext
    ) -> Outcome {
        Outcome(context) {
            let asked = context.objects.filter { object in
                object.entity.name == random.entityName
                    || random.includesSubentities && object.isKind(of: random.entityName)
            }
            let found = try asked.filter { try predicate.holds(for: $0) }
            if let first = asked.first {
                #expect(predicate.evaluate(with: first) == (found.first === first))
            }
            return found
        }
    }

    /// Statistics of the cases, which show that they are not vacuous.
    private struct Account {
        /// Cases that select some objects.
        var selective = 0
        /// Cases that are errors everywhere.
        var refused = 0
        /// Cases with a wrong value that one side does not need.
        var unread = 0
        /// Cases that were compared with a predicate made of its parts.
        var made = 0
        var differences: [String] = []
    }

    @Test("a random format selects the objects of Larder's query, in a store and in memory")
    func formats() throws {
        var random = SeededGenerator.fromEnvironment("random formats")
        var cases = try FormatCases(SeededGenerator(seed: random.next()))
        var storeCount = 0
        var context: FuzzedContext?
        var current = cases.store
        var account = Account()
        let count = RandomTesting.iterations(200)
        for _ in 0..<count {
            let next = try cases.next()
            if context == nil || current !== cases.store {
                current = cases.store
                storeCount += 1
                context = try FuzzedContext(current, isInFile: storeCount % 2 == 0, &random)
            }
            guard let context else { continue }
            if let difference = Self.difference(next, context, &account, &random) {
                account.differences.append(
                    "\(next.entityName): \(next.format) \(next.arguments): \(difference)")
                if account.differences.count == 5 { break }
            }
        }
        #expect(account.differences.isEmpty)
        #expect(account.selective > count / 8, "\(account)")
        #expect(account.refused < count / 4, "\(account)")
        #expect(account.unread <= count / 50 + 3, "\(account)")
        #expect(account.made > count / 3, "\(account)")
        if count > 10_000 { #expect(cases.missing.isEmpty, "\(cases.missing)") }
        print("random formats: \(count) cases, \(account)")
    }

    /// The difference from the expected outcome; nil if there is none.
    private static func difference(
        _ next: FormatCases.Case, _ context: FuzzedContext, _ account: inout Account,
        _ random: inout SeededGenerator
    ) -> String? {
        let arguments = next.arguments.map { context.any($0, &random) }
        let predicate = NSPredicate(format: next.format, argumentArray: arguments)
        let stored = fetched(predicate, next, context)
        if stored.isUndecided || next.expected == .undecided { return nil }
        let evaluated = held(predicate, next, context)
        switch (next.expected, stored) {
        case (.objects(let found), .objects(let other)):
            if found != other { return "fetched \(other), expected \(found)" }
            if !found.isEmpty { account.selective += 1 }
        case (.refused, .refused):
            account.refused += 1
            // Without objects, no predicate is evaluated.
            return evaluated.isRefused || evaluated == .objects([]) ? nil : "held \(evaluated)"
        case (.refused(let code), _):
            // A value is not read where the result does not need it.
            account.unread += 1
            return code == .malformedValue || code == .wrongType ? nil : "expected \(code)"
        default: return "fetched \(stored), expected \(next.expected)"
        }
        if evaluated == .refused(.wrongType), next.arguments.contains(where: \.isInfinite) {
            account.unread += 1
            return nil
        }
        if evaluated != stored, !evaluated.isUndecided {
            return "fetched \(stored), held \(evaluated)"
        }
        if let difference = textDifference(predicate, stored, next, context) { return difference }
        var tree = PredicateTree(context, random)
        let made = fetched(tree.predicate(next.predicate), next, context)
        random = tree.random
        if made.isUndecided || made.isRefused { return nil }
        account.made += 1
        return made == stored ? nil : "made of parts fetched \(made), the format \(stored)"
    }

    /// The difference that parsing the text of the predicate makes; nil if there is none.
    private static func textDifference(
        _ predicate: NSPredicate, _ stored: Outcome, _ next: FormatCases.Case,
        _ context: FuzzedContext
    ) -> String? {
        let text = predicate.predicateFormat
        let again = NSPredicate(format: text)
        // An infinity has no literal.
        if next.arguments.contains(where: \.isInfinite) { return nil }
        if again != predicate { return "\(text) is parsed as \(again.predicateFormat)" }
        // A date, as text, is one again if it is compared with an attribute of that type.
        if next.predicate.comparesConstants || text.contains("json0") { return nil }
        let parsed = fetched(again, next, context)
        if parsed == stored || parsed.isUndecided { return nil }
        return "\(text) fetched \(parsed), the format \(stored)"
    }
}

extension NSManagedObject {
    fileprivate func isKind(of name: String) -> Bool {
        var current: NSEntityDescription? = entity
        while let entity = current {
            if entity.name == name { return true }
            current = entity.superentity
        }
        return false
    }
}

extension QueryExpression {
    /// Whether constants are compared with constants alone, or are operands of a function.
    fileprivate var comparesConstants: Bool {
        switch self {
        case .comparison(let comparison):
            comparison.left.isConstant && comparison.right.isConstant
                || comparison.left.comparesConstants || comparison.right.comparesConstants
        case .function(_, let operands): operands.contains(where: \.hasConstant)
        default: children.contains(where: \.comparesConstants)
        }
    }

    private var isConstant: Bool {
        switch self {
        case .constant: true
        case .list(let elements): elements.allSatisfy(\.isConstant)
        default: false
        }
    }

    private var hasConstant: Bool { isConstant || children.contains(where: \.hasConstant) }
}

extension QueryArgument {
    fileprivate var isInfinite: Bool {
        switch self {
        case .value(let value): value.isInfinite
        case .list(let values): values.contains(where: \.isInfinite)
        }
    }
}

extension Value {
    fileprivate var isInfinite: Bool {
        switch self {
        case .float(let float): float.isInfinite
        case .double(let double): double.isInfinite
        default: false
        }
    }
}
