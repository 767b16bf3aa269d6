import CoreData
import Foundation
import SwiftData
import Testing

/// Foundation has classes with the names of those of Core Data, which this file imports as well.
@Suite("Names of Foundation")
struct SameNameTests {
    private func parts(
        _ predicate: NSPredicate, _ order: [NSSortDescriptor]
    ) -> (NSCompoundPredicate, NSExpression) {
        let both: NSCompoundPredicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: [predicate, NSPredicate(value: true)])
        return (both, NSExpression(forKeyPath: order.first?.key ?? ""))
    }

    @Test("a file that imports Foundation and SwiftData as well means the classes of Core Data")
    func names() throws {
        let predicate: NSPredicate = NSPredicate(format: "words > %d", 5)
        let (both, words) = parts(predicate, [NSSortDescriptor(key: "words", ascending: true)])
        #expect(both.predicateFormat == "words > 5 AND TRUEPREDICATE")
        let comparison: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: words, rightExpression: NSExpression(forConstantValue: 5),
            modifier: .direct, type: .greaterThan)
        #expect(comparison == predicate)
        let isLong = #Predicate<Book> { $0.pages > 5 }
        #expect(try isLong.evaluate(Book(title: "x", pages: 6)))
    }
}
