import CoreData
import SwiftData
import SwiftDataKit
import TestSupport
import Testing

/// Conditions as `#Predicate` of a model and as a format for its managed object.
@Suite("Random predicates of models")
struct RandomModelPredicateTests {
    private struct Pair<Model: PersistentModel> {
        let model: Predicate<Model>
        let format: NSPredicate

        init(_ model: Predicate<Model>, _ format: String, _ arguments: Any...) {
            self.init(model, NSPredicate(format: format, argumentArray: arguments))
        }

        init(_ model: Predicate<Model>, _ format: NSPredicate) {
            self.model = model
            self.format = format
        }
    }

    private static let texts = ["novel 1", "o", "", "poem", "NOVEL", "1", "é", "play 1"]

    private static func pages(_ random: inout SeededGenerator) -> Pair<Book> {
        let number = Int.random(in: -1...8, using: &random) * 50
        let (low, high) = (number, number + Int.random(in: 0...2, using: &random) * 100)
        let list = [number, 100, high]
        return switch Int.random(in: 0..<12, using: &random) {
        case 0: Pair(#Predicate { $0.pages < number }, "pages < %d", number)
        case 1: Pair(#Predicate { $0.pages <= number }, "pages <= %@", NSNumber(value: number))
        case 2: Pair(#Predicate { $0.pages > number }, "%K > %d", "pages", number)
        case 3: Pair(#Predicate { $0.pages >= number }, "%d <= pages", number)
        case 4: Pair(#Predicate { $0.pages == number }, "pages = %ld", number)
        case 5: Pair(#Predicate { $0.pages != number }, "pages <> %d", number)
        case 6: Pair(#Predicate { list.contains($0.pages) }, "pages IN %@", list)
        case 7:
            Pair(#Predicate { (low...high).contains($0.pages) }, "pages BETWEEN %@", [low, high])
        case 8: Pair(#Predicate { $0.pages * 2 + number > 300 }, "pages * 2 + %d > 300", number)
        case 9: Pair(#Predicate { $0.pages % 100 == 50 }, "modulus:by:(pages, 100) == 50")
        case 10:
            Pair(
                #Predicate { ($0.pages > number ? $0.pages : 2) == 2 },
                "TERNARY(pages > %d, pages, 2) == 2", number)
        default: Pair(#Predicate { -$0.pages < number }, "-pages < %d", number)
        }
    }

    private static func text(_ random: inout SeededGenerator) -> Pair<Book> {
        let text = texts.randomElement(using: &random) ?? ""
        let count = Int.random(in: 4...8, using: &random)
        return switch Int.random(in: 0..<10, using: &random) {
        case 0: Pair(#Predicate { $0.title == text }, "title == %@", text)
        case 1: Pair(#Predicate { $0.title.contains(text) }, "title CONTAINS %@", text)
        case 2: Pair(#Predicate { $0.title.starts(with: text) }, "title BEGINSWITH %@", text)
        case 3:
            Pair(
                #Predicate { $0.title.localizedStandardContains(text) },
                "title CONTAINS[cd] %@", text)
        case 4: Pair(#Predicate { $0.title.count > count }, "length(title) > %d", count)
        case 5: Pair(#Predicate { $0.genre?.name == text }, "genre.name == %@", text)
        case 6: Pair(#Predicate { $0.details.language == text }, "details.language == %@", text)
        case 7: Pair(#Predicate { texts.contains($0.title) }, "title IN %@", texts)
        case 8: Pair(#Predicate { $0.title < text }, "title < %@", text)
        default: Pair(#Predicate { $0.title.isEmpty }, "length(title) == 0")
        }
    }

    private static func optional(
        _ book: Book, _ random: inout SeededGenerator
    ) -> Pair<Book> {
        let rating = Double(Int.random(in: 0...5, using: &random))
        let identifier = book.persistentModelID
        let object = book.managedObject as Any
        return switch Int.random(in: 0..<7, using: &random) {
        case 0: Pair(#Predicate { $0.rating == nil }, "rating == nil")
        case 1: Pair(#Predicate { $0.rating != nil }, "rating != NULL")
        case 2: Pair(#Predicate { $0.rating == rating }, "rating == %@", rating)
        case 3:
            Pair(#Predicate { $0.rating.flatMap { $0 > rating } == true }, "rating > %f", rating)
        case 4: Pair(#Predicate { $0.genre == nil }, "genre == nil")
        case 5: Pair(#Predicate { $0.persistentModelID == identifier }, "SELF == %@", object)
        default:
            Pair(#Predicate { ($0.rating ?? 2) >= rating }, "coalesce(rating, 2) >= %f", rating)
        }
    }

    private static func genre(_ book: Book, _ random: inout SeededGenerator) -> Pair<Genre> {
        let number = Int.random(in: 0...7, using: &random) * 50
        let count = Int.random(in: 0...3, using: &random)
        let identifier = book.persistentModelID
        let object = book.managedObject as Any
        return switch Int.random(in: 0..<9, using: &random) {
        case 0:
            Pair(
                #Predicate { $0.books.contains { $0.pages > number } }, "ANY books.pages > %d",
                number)
        case 1:
            Pair(
                #Predicate { $0.books.allSatisfy { $0.pages > number } }, "ALL books.pages > %d",
                number)
        case 2:
            Pair(
                #Predicate { !$0.books.contains { $0.pages == number } },
                "NONE books.pages == %d", number)
        case 3:
            Pair(
                #Predicate {
                    $0.books.filter { $0.pages > number && $0.rating == nil }.count > count
                },
                "SUBQUERY(books, $b, $b.pages > %d AND $b.rating == nil).@count > %d", number,
                count)
        case 4: Pair(#Predicate { $0.books.isEmpty }, "books.@count == 0")
        case 5: Pair(#Predicate { $0.books.count == count }, "books.@count == %d", count)
        case 6:
            Pair(
                #Predicate { $0.books.contains { $0.persistentModelID == identifier } },
                "books CONTAINS %@", object)
        case 7: Pair(#Predicate { $0.name.count > 4 }, "length(name) > 4")
        default:
            Pair(
                #Predicate { $0.books.filter { $0.title.contains("1") }.isEmpty },
                "SUBQUERY(books, $b, $b.title CONTAINS '1').@count == 0")
        }
    }

    /// A combination of conditions. Predicates of Foundation on Linux do not combine, so that those
    /// of the models are combined as sets.
    private indirect enum Condition<Model: PersistentModel> {
        case simple(Pair<Model>)
        case and(Condition, Condition)
        case or(Condition, Condition)
        case not(Condition)

        var format: NSPredicate {
            switch self {
            case .simple(let pair): pair.format
            case .and(let one, let other):
                NSCompoundPredicate(andPredicateWithSubpredicates: [one.format, other.format])
            case .or(let one, let other):
                NSCompoundPredicate(orPredicateWithSubpredicates: [one.format, other.format])
            case .not(let one): NSCompoundPredicate(notPredicateWithSubpredicate: one.format)
            }
        }

        /// The models that match by the predicates of models alone.
        func models(
            _ all: Set<Model>, _ match: (Predicate<Model>) throws -> [Model]
        ) throws -> Set<Model> {
            switch self {
            case .simple(let pair): Set(try match(pair.model))
            case .and(let one, let other):
                try one.models(all, match).intersection(try other.models(all, match))
            case .or(let one, let other):
                try one.models(all, match).union(try other.models(all, match))
            case .not(let one): all.subtracting(try one.models(all, match))
            }
        }
    }

    private static func combined<Model>(
        _ depth: Int, _ random: inout SeededGenerator,
        _ simple: (inout SeededGenerator) -> Pair<Model>
    ) -> Condition<Model> {
        guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else {
            return .simple(simple(&random))
        }
        let first = combined(depth - 1, &random, simple)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .and(first, combined(depth - 1, &random, simple))
        case 1: return .or(first, combined(depth - 1, &random, simple))
        default: return .not(first)
        }
    }

    /// The models that match in each way: fetched as models and as managed objects, and tested.
    private func check<Model: PersistentModel>(
        _ condition: Condition<Model>, _ entityName: String, _ context: ModelContext
    ) throws {
        let objects = try #require(context.managedObjectContext)
        let all = Set(try context.fetch(FetchDescriptor<Model>()))
        let expected = try condition.models(all) {
            try context.fetch(FetchDescriptor(predicate: $0))
        }
        let evaluated = try condition.models(all) { predicate in
            try all.filter { try predicate.evaluate($0) }
        }
        #expect(evaluated == expected, "\(condition.format)")
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        for format in [
            condition.format, NSPredicate(format: condition.format.predicateFormat),
        ] {
            request.predicate = format
            let fetched = try objects.fetch(request).compactMap(\.objectID.persistentIdentifier)
            #expect(Set(fetched) == Set(expected.map(\.persistentModelID)), "\(format)")
            let held = try all.filter { model in
                try format.holds(for: model.managedObject)
            }
            #expect(held == expected, "\(format)")
        }
    }

    @Test("a random #Predicate and its format select the same objects, also with pending changes")
    func pairs() throws {
        var random = SeededGenerator.fromEnvironment("predicates of models")
        let context = ModelContext(try Shelf().container)
        context.autosaveEnabled = false
        let books = try context.fetch(FetchDescriptor<Book>())
        for (number, book) in books.enumerated() where number % 2 == 0 {
            book.rating = Double(number)
        }
        context.insert(Genre(name: "empty"))
        try context.save()
        for round in 0..<RandomTesting.iterations(100) {
            if round % 2 == 0 { context.rollback() }
            for book in books where round % 2 == 1 && Bool.random(using: &random) {
                book.pages = Int.random(in: 0...8, using: &random) * 50
                book.rating = Bool.random(using: &random) ? nil : 3
                if Bool.random(using: &random) { book.genre = nil }
            }
            let book = try #require(books.randomElement(using: &random))
            if Bool.random(using: &random) {
                let pair = Self.combined(3, &random) { Self.genre(book, &$0) }
                try check(pair, "Genre", context)
            } else {
                let pair = Self.combined(3, &random) { random in
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: Self.pages(&random)
                    case 1: Self.text(&random)
                    default: Self.optional(book, &random)
                    }
                }
                try check(pair, "Book", context)
            }
        }
    }
}
