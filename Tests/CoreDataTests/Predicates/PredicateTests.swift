import CoreData
import Testing

/// The documented forms of predicates, each with its result in the store and in memory.
@Suite("Predicates")
struct PredicateTests {
    struct Example: CustomTestStringConvertible {
        let format: String
        let arguments: [Any]
        let titles: [String]

        init(_ format: String, _ arguments: [Any] = [], _ titles: [String]) {
            self.format = format
            self.arguments = arguments
            self.titles = titles
        }

        var testDescription: String { format }
    }

    // Sendable unchecked: constants.
    struct Examples: @unchecked Sendable { let all: [Example] }

    static let examples = Examples(all: [
        Example("title == 'Ann'", [], ["Ann"]),
        Example("title = %@", ["bob"], ["bob"]),
        Example("title ==[c] %@", ["BOB"], ["bob"]),
        Example("title ==[cd] 'elan'", [], ["Élan"]),
        Example("title != %@ AND words < 300", ["Ann"], ["bob", "Élan"]),
        Example("title <> 'Ann' && words <= 200", [], ["bob", "Élan"]),
        Example("words >= %d", [400], ["Emil", "fox"]),
        Example("words => %ld", [400], ["Emil", "fox"]),
        Example("price > %f", [4.0], ["Emil", "fox"]),
        Example("words BETWEEN %@", [[100, 300]], ["bob", "Élan", "dora"]),
        Example("words BETWEEN {100, 300}", [], ["bob", "Élan", "dora"]),
        Example("words IN %@", [[0, 500, 7]], ["Ann", "fox"]),
        Example("title IN {'Ann', 'fox'}", [], ["Ann", "fox"]),
        Example("NOT (title IN %@)", [["Ann", "bob", "dora"]], ["Élan", "Emil", "fox"]),
        Example("title BEGINSWITH 'E'", [], ["Emil"]),
        Example("title BEGINSWITH[cd] 'e'", [], ["Élan", "Emil"]),
        Example("title CONTAINS 'o'", [], ["bob", "dora", "fox"]),
        Example("title ENDSWITH %@", ["n"], ["Ann", "Élan"]),
        Example("title LIKE '?o*'", [], ["bob", "dora", "fox"]),
        Example("title LIKE[c] 'a*'", [], ["Ann"]),
        Example("title MATCHES '[a-z]+'", [], ["bob", "dora", "fox"]),
        Example("%K == %@", ["title", "Emil"], ["Emil"]),
        Example("%K.name == %@", ["category", "sport"], ["dora", "Emil"]),
        Example("category.name == 'news' OR category == nil", [], ["Ann", "bob", "Élan", "fox"]),
        Example("category = NULL", [], ["fox"]),
        Example("category != nil AND isDraft == NO", [], ["Ann", "bob", "Élan", "dora", "Emil"]),
        Example("isDraft == %@", [NSNumber(value: true)], ["fox"]),
        Example("isDraft == YES", [], ["fox"]),
        Example("published > %@", [Date(timeIntervalSinceReferenceDate: 3)], ["Emil", "fox"]),
        Example("ANY tags.name == 'short'", [], ["Ann", "bob"]),
        Example("SOME tags.name == 'short'", [], ["Ann", "bob"]),
        Example("NONE tags.name == 'short'", [], ["Élan", "dora", "Emil", "fox"]),
        Example("ALL tags.name == 'short'", [], ["Ann", "bob", "Élan", "dora", "Emil", "fox"]),
        Example("tags.@count == 1", [], ["Ann", "bob"]),
        Example("SUBQUERY(tags, $t, $t.name == %@).@count > 0", ["short"], ["Ann", "bob"]),
        Example("category.articles.@count == 2", [], ["dora", "Emil"]),
        Example("category.articles.@avg.words == 100", [], ["Ann", "bob", "Élan"]),
        Example("words + 100 == %i", [300], ["Élan"]),
        Example("words * 1.5 == 150", [], ["bob"]),
        Example("words / %@ == 0.5", [NSNumber(value: 200.0)], ["bob"]),
        Example("words / 200.0 > 1.4 AND words / 200.0 < 2", [], ["dora"]),
        Example("words / 200 == 1", [], ["Élan", "dora"]),
        Example("TERNARY(words > 250, 1, 2) == 1", [], ["dora", "Emil", "fox"]),
        Example(
            "TERNARY(words > 250, %@, %@) == %@", ["many", "few", "few"],
            ["Ann", "bob", "Élan"]),
        Example("TERNARY(words > 250, 1.5, 2) BETWEEN {1, 1.6}", [], ["dora", "Emil", "fox"]),
        Example(
            "TERNARY(words > %d, 1, 2) IN {2, 3}", [450], ["Ann", "bob", "Élan", "dora", "Emil"]),
        Example("%d + %d == %d AND words == 0", [1, 2, 3], ["Ann"]),
        Example("length(title) == 4", [], ["Élan", "dora", "Emil"]),
        Example("uppercase:(title) == 'FOX'", [], ["fox"]),
        Example("TRUEPREDICATE", [], ["Ann", "bob", "Élan", "dora", "Emil", "fox"]),
        Example("FALSEPREDICATE", [], []),
    ])

    @Test("a predicate with arguments of other types has the result of these types")
    func typesOfArguments() throws {
        let context = try Library.filled()
        func titles(_ arguments: Any...) throws -> [String] {
            try context.titles(
                NSPredicate(format: "words / %@ == %@ OR words == 0", argumentArray: arguments))
        }
        for _ in 0..<2 {
            #expect(try titles(200, 1) == ["Ann", "Élan", "dora"])
            #expect(try titles(200.0, 1) == ["Ann", "Élan"])
            #expect(try titles(200.0, 1.5) == ["Ann", "dora"])
            #expect(try titles(Decimal(200), 2.5) == ["Ann", "fox"])
        }
        #expect(throws: NSError.self) { try titles("200", 1) }
    }

    @Test("each form selects the same objects in the store and in memory")
    func forms() throws {
        let context = try Library.filled()
        for example in Self.examples.all {
            let predicate = NSPredicate(format: example.format, argumentArray: example.arguments)
            #expect(try context.titles(predicate) == example.titles, "\(example.format)")
            let all = try context.fetch(NSFetchRequest<Article>(entityName: "Article"))
            let held = try all.filter { try predicate.holds(for: $0) }.sorted {
                $0.words < $1.words
            }
            #expect(held.map(\.title) == example.titles, "\(example.format) in memory")
            #expect(all.filter { predicate.evaluate(with: $0) }.count == example.titles.count)
        }
    }

    @Test("each form selects the same objects if none of them is saved")
    func pending() throws {
        let context = try Library.filled()
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Article")) {
            object.setValue("\(object.value(forKey: "title") as? String ?? "")!", forKey: "title")
        }
        let predicate = NSPredicate(format: "title ENDSWITH '!' AND title MATCHES '[a-z]+!'")
        #expect(try context.titles(predicate) == ["bob!", "dora!", "fox!"])
        #expect(try context.titles(NSPredicate(format: "title == 'bob'")) == [])
    }

    @Test("objects and their identifiers are values, also if they were saved after the predicate")
    func objects() throws {
        let context = try Library.context()
        let category = Category(context: context)
        category.name = "new"
        let article = Article(context: context)
        article.title = "first"
        article.category = category
        let byObject = NSPredicate(format: "category == %@", category)
        let byList = NSPredicate(format: "category IN %@", [category])
        #expect(try context.titles(byObject) == ["first"])
        #expect(category.objectID.isTemporaryID)
        try context.save()
        #expect(!category.objectID.isTemporaryID)
        #expect(try context.titles(byObject) == ["first"])
        #expect(try context.titles(byList) == ["first"])
        #expect(
            try context.titles(NSPredicate(format: "category == %@", category.objectID)) == [
                "first"
            ])
        #expect(try context.titles(NSPredicate(format: "SELF == %@", article)) == ["first"])
        #expect(
            try context.titles(NSPredicate(format: "objectID IN %@", [article.objectID])).count == 1
        )
        #expect(
            try context.titles(NSPredicate(format: "category.objectID == %@", category.objectID))
                .count == 1)
        let words = NSPredicate(
            format: "SUBQUERY(articles, $a, $a == %@ AND $a.words == %d).@count > 0", article, 0)
        let request = NSFetchRequest<Category>(entityName: "Category")
        request.predicate = words
        #expect(try context.fetch(request) == [category])
    }

    @Test("variables are replaced by values")
    func variables() throws {
        let context = try Library.filled()
        let template = NSPredicate(format: "words > $least AND title BEGINSWITH[c] $start")
        let bound = template.withSubstitutionVariables(["least": 100, "start": "e"])
        #expect(try context.titles(bound) == ["Emil"])
        let fox = try context.article("fox")
        #expect(!template.evaluate(with: fox, substitutionVariables: ["least": 100, "start": "e"]))
        #expect(template.evaluate(with: fox, substitutionVariables: ["least": 1, "start": "f"]))
        #expect(throws: NSError.self) { try context.titles(template) }
        let subquery = NSPredicate(format: "SUBQUERY(tags, $x, $x.name == $name).@count == 1")
        #expect(
            try context.titles(
                subquery.withSubstitutionVariables(["name": "short", "x": "no"])) == ["Ann", "bob"])
    }

    @Test("compound and comparison predicates are the same as their formats")
    func parts() throws {
        let context = try Library.filled()
        let words = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "words"),
            rightExpression: NSExpression(forConstantValue: 200), modifier: .direct,
            type: .greaterThanOrEqualTo)
        let title = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "title"),
            rightExpression: NSExpression(forConstantValue: "E"), modifier: .direct,
            type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
        #expect(words.predicateFormat == "words >= 200")
        #expect(title.predicateFormat == "title BEGINSWITH[cd] \"E\"")
        #expect(title.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(title.predicateOperatorType == .beginsWith)
        #expect(title.comparisonPredicateModifier == .direct)
        #expect(title.leftExpression.keyPath == "title")
        #expect(title.rightExpression.constantValue as? String == "E")
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [words, title])
        #expect(both.predicateFormat == "words >= 200 AND title BEGINSWITH[cd] \"E\"")
        #expect(both == NSPredicate(format: both.predicateFormat))
        #expect(both.compoundPredicateType == .and)
        #expect(both.subpredicates.count == 2)
        #expect(try context.titles(both) == ["Élan", "Emil"])
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [words, title])
        #expect(try context.titles(either) == ["Élan", "dora", "Emil", "fox"])
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: either)
        #expect(try context.titles(not) == ["Ann", "bob"])
        let none = NSCompoundPredicate(type: .or, subpredicates: [])
        #expect(try context.titles(none) == [])
        let all = NSCompoundPredicate(type: .and, subpredicates: [])
        #expect(try context.titles(all).count == 6)
        let any = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "tags.name"),
            rightExpression: NSExpression(forConstantValue: "short"), modifier: .any,
            type: .equalTo)
        #expect(try context.titles(any) == ["Ann", "bob"])
        #expect(try context.titles(NSPredicate(value: false)) == [])
    }

    @Test("a closure tests objects in memory, and is an error in a fetch")
    func blocks() throws {
        let context = try Library.filled()
        let block = NSPredicate { object, bindings in
            (object as? Article)?.words == bindings?["words"] as? Int ?? 100
        }
        let bob = try context.article("bob")
        #expect(block.evaluate(with: bob))
        #expect(!block.evaluate(with: bob, substitutionVariables: ["words": 7]))
        let both = NSCompoundPredicate(
            andPredicateWithSubpredicates: [NSPredicate(format: "title == 'bob'"), block])
        #expect(both.evaluate(with: bob))
        #expect(!NSCompoundPredicate(notPredicateWithSubpredicate: both).evaluate(with: bob))
        #expect(both != NSPredicate(value: true))
        #expect(throws: NSError.self) { try context.titles(both) }
    }

    @Test("the text of a predicate has its values")
    func texts() {
        let predicate = NSPredicate(
            format: "%K == %@ AND words IN %@ OR price > %f", "title", "it's", [1, 2], 1.5)
        #expect(
            predicate.predicateFormat
                == "title == \"it's\" AND words IN {1, 2} OR price > 1.5")
        #expect(NSPredicate(value: true).predicateFormat == "TRUEPREDICATE")
        #expect(NSPredicate(format: "a ==").predicateFormat == "a ==")
        #expect("\(NSPredicate(format: "a == nil"))" == "a == NULL")
        #expect(Set([NSPredicate(format: "a==1"), NSPredicate(format: "a == 1")]).count == 1)
    }
}
