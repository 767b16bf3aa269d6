import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("Fetches of a custom store that Larder cannot translate")
struct UntranslatedFetchTests {
    private let configuration = DictionaryConfiguration()
    private var shelf: Cupboard { configuration.shelf }
    private let container: ModelContainer
    private let context: ModelContext

    /// Films of 10, 20, 30 and 40 minutes in a store that evaluates predicates and sorts itself.
    init() throws {
        container = try ModelContainer(
            for: Schema([Studio.self, Film.self]), configurations: [configuration])
        context = ModelContext(container)
        for (title, minutes) in [("anna", 10), ("Bob", 20), ("hannah", 30), ("Otto", 40)] {
            context.insert(Film(title: title, minutes: minutes))
        }
        try context.save()
        shelf.leavesPredicates = false
        shelf.sorts = true
        shelf.calls = []
    }

    /// A predicate in a form that a query cannot have.
    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Matches the films `anna`, `hannah` and `Otto`.
        let predicate: Predicate<Film>
    }

    static let forms = [
        Form(
            testDescription: "an expression of the program",
            predicate: Predicate {
                Palindrome(text: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.title))
            }),
        Form(
            testDescription: "a computed property",
            predicate: #Predicate { $0.isPalindrome }),
        Form(
            testDescription: "an expression of the program in a part",
            predicate: Predicate {
                PredicateExpressions.build_Conjunction(
                    lhs: PredicateExpressions.build_Comparison(
                        lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.minutes),
                        rhs: PredicateExpressions.build_Arg(5), op: .greaterThan),
                    rhs: Palindrome(
                        text: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.title)))
            }),
    ]

    @Test("a custom store gets a predicate that cannot be translated", arguments: forms)
    func reads(_ form: Form) throws {
        var descriptor = FetchDescriptor(
            predicate: form.predicate, sortBy: [SortDescriptor(\Film.minutes)])
        #expect(try context.fetch(descriptor).map(\.title) == ["anna", "hannah", "Otto"])
        #expect(try context.fetchCount(descriptor) == 3)
        #expect(try context.fetchIdentifiers(descriptor).count == 3)
        #expect(
            try context.fetch(descriptor, batchSize: 2).map(\.title)
                == ["anna", "hannah", "Otto"])
        var titles: [String] = []
        try context.enumerate(descriptor) { titles.append($0.title) }
        #expect(titles == ["anna", "hannah", "Otto"])
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["hannah"])
        #expect(shelf.predicates.allSatisfy { ($0 as? Predicate<Film>) != nil })
    }

    @Test("models with changes match a predicate that cannot be translated", arguments: forms)
    func pendingChanges(_ form: Form) throws {
        let films = try context.fetch(FetchDescriptor<Film>(sortBy: [SortDescriptor(\.minutes)]))
        films[0].title = "Anne"
        films[1].title = "Bobob"
        context.delete(films[2])
        context.insert(Film(title: "level", minutes: 25))
        let descriptor = FetchDescriptor(
            predicate: form.predicate, sortBy: [SortDescriptor(\Film.minutes)])
        #expect(try context.fetch(descriptor).map(\.title) == ["Bobob", "level", "Otto"])
        #expect(try context.fetchCount(descriptor) == 3)
        let unsorted = FetchDescriptor(predicate: form.predicate)
        #expect(try context.fetchIdentifiers(unsorted).count == 3)
        try context.save()
        #expect(
            try ModelContext(container).fetch(descriptor).map(\.title)
                == ["Bobob", "level", "Otto"])
    }

    @Test("models are deleted by a predicate that cannot be translated", arguments: forms)
    func deletion(_ form: Form) throws {
        try context.delete(model: Film.self, where: form.predicate)
        #expect(context.deletedModelsArray.count == 3)
        try context.save()
        #expect(shelf.calls.contains("delete Film"))
        #expect(shelf.rows.values.map(\.title) == ["Bob"])
    }

    @Test("a custom store gets an order that cannot be translated")
    func order() throws {
        let byLength = FetchDescriptor<Film>(
            sortBy: [SortDescriptor(\.length), SortDescriptor(\.title)])
        #expect(try context.fetch(byLength).map(\.title) == ["Bob", "Otto", "anna", "hannah"])
        context.insert(Film(title: "Al"))
        #expect(
            try context.fetch(byLength).map(\.title) == ["Al", "Bob", "Otto", "anna", "hannah"])
        let identifiers = try ModelContext(container).fetchIdentifiers(byLength)
        #expect(identifiers.map { shelf.rows[$0]?.title } == ["Bob", "Otto", "anna", "hannah"])
    }

    @Test("a results observer has what a predicate finds that cannot be translated")
    func observer() throws {
        let observer = try ResultsObserver(
            filterBy: Self.forms[0].predicate, sortBy: [SortDescriptor(\Film.minutes)],
            modelContext: context, isolation: nil)
        #expect(observer.results.map(\.title) == ["anna", "hannah", "Otto"])
        context.insert(Film(title: "level", minutes: 25))
        #expect(observer.results.map(\.title) == ["anna", "level", "hannah", "Otto"])
    }

    @Test(
        "a store that leaves an untranslated predicate to the context is an error", arguments: forms
    )
    func leftPredicate(_ form: Form) throws {
        shelf.leavesPredicates = true
        let descriptor = FetchDescriptor(predicate: form.predicate)
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetchCount(descriptor) }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.delete(model: Film.self, where: form.predicate)
        }
    }

    @Test("a store that leaves an untranslated order to the context is an error")
    func leftOrder() throws {
        shelf.sorts = false
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try context.fetch(FetchDescriptor<Film>(sortBy: [SortDescriptor(\.length)]))
        }
        // The context sorts what the store has selected.
        let sorted = FetchDescriptor(
            predicate: Self.forms[0].predicate, sortBy: [SortDescriptor(\Film.minutes)])
        #expect(try context.fetch(sorted).map(\.title) == ["anna", "hannah", "Otto"])
    }

    @Test("Larder's own stores refuse what cannot be translated, as before", arguments: forms)
    func ownStore(_ form: Form) throws {
        let context = ModelContext(
            try ModelContainer(
                for: Film.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let descriptor = FetchDescriptor(predicate: form.predicate)
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetchCount(descriptor) }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.fetchIdentifiers(descriptor)
        }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.enumerate(descriptor) { _ in }
        }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.delete(model: Film.self, where: form.predicate)
        }
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try context.fetch(FetchDescriptor<Film>(sortBy: [SortDescriptor(\.length)]))
        }
    }
}

extension Film {
    fileprivate var isPalindrome: Bool {
        let letters = title.lowercased()
        return letters == String(letters.reversed()) && letters != "bob"
    }
    fileprivate var length: Int { title.count }
}

/// An expression that a program writes.
private struct Palindrome<Text: StandardPredicateExpression<String>>: StandardPredicateExpression {
    let text: Text

    func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        let letters = try text.evaluate(bindings).lowercased()
        return letters == String(letters.reversed()) && letters != "bob"
    }
}
