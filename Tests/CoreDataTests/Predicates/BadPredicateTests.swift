import CoreData
import Testing

/// Predicates with mistakes: an error that names the column or the property, and never a trap.
@Suite("Predicates with mistakes")
struct BadPredicateTests {
    @Test(
        "a format that is broken is an error with its column when it is used",
        arguments: [
            ("", 1), ("title ==", 9), ("== 1", 1), ("title == 'a", 10), ("(title == 1", 12),
            ("title == 1)", 11), ("title == %", 10), ("title == {1, 2", 15), ("NOT", 4),
            ("title LIKE[x] 'a'", 12), ("FUNCTION(title, 'x') == 1", 1), ("foo(title) == 1", 1),
            ("SUBQUERY(tags, t, 1 == 1).@count > 0", 16), ("title == @count", 10),
            ("title BETWEEN 1", 15), ("a.@foo == 1", 3), ("title == 'a' title", 14),
            ("cast(title, 'NSNumber') == 1", 1), ("\u{0}", 1),
            ("title == 99999999999999999999", 10),
        ])
    func broken(_ format: String, _ column: Int) throws {
        let context = try Library.filled()
        let predicate = NSPredicate(format: format)
        let error = #expect(throws: NSError.self) { try context.titles(predicate) }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("column \(column):"), "\(format): \(text)")
        #expect(!predicate.evaluate(with: try context.article("Ann")))
        #expect(throws: NSError.self) { try NSPredicate(parsing: format) }
        #expect(throws: NSError.self) { try NSExpression(parsing: format + " + ") }
    }

    @Test("too few, too many and wrong arguments are errors")
    func arguments() throws {
        let context = try Library.filled()
        let predicates = [
            NSPredicate(format: "title == %@"), NSPredicate(format: "title == 'a'", 1),
            NSPredicate(format: "%K == 1", 7), NSPredicate(format: "%K == 1", "a b"),
            NSPredicate(format: "title == %@", Library.model()),
            NSPredicate(format: "title == %@", [Library.model()]),
            NSPredicate(format: "price == %f", Double.nan),
            NSPredicate(format: "words BETWEEN %@", [1, 2, 3]),
            NSPredicate(format: "words BETWEEN %@", 3), NSPredicate(format: "words IN %@", 3),
            NSPredicate(format: "words == %@", "many"), NSPredicate(format: "title == %d", 4),
            NSPredicate(format: "published > %@", 4), NSPredicate(format: "category == %@", 4),
            NSPredicate(format: "title CONTAINS 5"), NSPredicate(format: "title + 1 == 2"),
            NSPredicate(format: "tags == %@", "x"), NSPredicate(format: "category > nil AND words"),
        ]
        for predicate in predicates {
            #expect(throws: NSError.self, "\(predicate)") { try context.titles(predicate) }
            #expect(throws: NSError.self, "\(predicate)") {
                try predicate.holds(for: try context.article("Ann"))
            }
        }
    }

    @Test("a property that does not exist is an error with its name")
    func names() throws {
        let context = try Library.filled()
        for format in ["titel == 'a'", "category.titel == 'a'", "ANY tags.titel == 'a'"] {
            let error = #expect(throws: NSError.self) {
                try context.titles(NSPredicate(format: format))
            }
            #expect(error?.localizedDescription.contains("titel") == true)
            #expect(error?.domain == NSCocoaErrorDomain)
            #expect(error?.code == NSCoreDataError)
        }
    }

    @Test("predicates and expressions that are nested without end are errors")
    func deep() throws {
        let context = try Library.filled()
        var predicate = NSPredicate(value: true)
        var expression = NSExpression(forConstantValue: 1)
        for _ in 0..<2_000 {
            predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
            expression = NSExpression(forFunction: "abs:", arguments: [expression])
        }
        #expect(throws: NSError.self) { try context.titles(predicate) }
        #expect(!predicate.evaluate(with: nil))
        #expect(expression.expressionValue(with: nil, context: nil) == nil)
        #expect(predicate.predicateFormat.contains("nested"))
    }

    @Test("a negation of several predicates is an error")
    func not() throws {
        let two = [NSPredicate(value: true), NSPredicate(value: false)]
        let not = NSCompoundPredicate(type: .not, subpredicates: two)
        #expect(throws: NSError.self) { try not.holds(for: nil) }
        let blocks = NSCompoundPredicate(
            type: .not, subpredicates: [NSPredicate { _, _ in true }, NSPredicate(value: true)])
        #expect(throws: NSError.self) { try blocks.holds(for: nil) }
    }
}
