import FoundationEssentials
import LarderClient
import Testing

struct Article: QueryableEntity {
    var persistentModelID: PersistentIdentifier
    var number: Int
    var title: String
    var subtitle: String?
    var words: Int
    var pages: Int?
    var rating: Double
    var isPublished: Bool
    var isFeatured: Bool?
    var date: Date
    var category: Category?
    var reviews: [Review]

    static let entityName = "Article"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Article.persistentModelID: .identifier
        case \Article.number: "number"
        case \Article.title: "title"
        case \Article.subtitle: "subtitle"
        case \Article.words: "words"
        case \Article.pages: "pages"
        case \Article.rating: "rating"
        case \Article.isPublished: "isPublished"
        case \Article.isFeatured: "isFeatured"
        case \Article.date: "date"
        case \Article.category: "category"
        case \Article.reviews: "reviews"
        default: nil
        }
    }
}

/// A class, because articles refer to their category and the category to its articles.
final class Category: QueryableEntity, Equatable {
    let persistentModelID: PersistentIdentifier
    let name: String
    var articles: [Article] = []

    init(_ persistentModelID: PersistentIdentifier, name: String) {
        self.persistentModelID = persistentModelID
        self.name = name
    }

    static func == (left: Category, right: Category) -> Bool {
        left.persistentModelID == right.persistentModelID
    }

    static let entityName = "Category"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Category.persistentModelID: .identifier
        case \Category.name: "name"
        case \Category.articles: "articles"
        default: nil
        }
    }
}

struct Review: QueryableEntity {
    var persistentModelID: PersistentIdentifier
    var text: String?
    var stars: Int

    static let entityName = "Review"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Review.persistentModelID: .identifier
        case \Review.text: "text"
        case \Review.stars: "stars"
        default: nil
        }
    }
}

/// Articles that are both in a store and in memory.
struct ArticleStore {
    let daemon: TestDaemon
    let client: StoreClient
    let all: [Article]
    let categories: [Category]

    init() throws {
        daemon = try TestDaemon(schema: Self.schema)
        let client = try daemon.connect()
        self.client = client
        categories = try ["News", "Äther", "Unread"].map { name in
            Category(try client.insert("Category", ["name": .string(name)]), name: name)
        }
        var articles: [Article] = []
        for (number, sample) in Self.samples.enumerated() {
            articles.append(try Self.insert(sample, number, categories, client))
        }
        all = articles
        for category in categories {
            category.articles = articles.filter { $0.category === category }
        }
    }

    /// Checks that the store and Swift select the same articles, and that the printed predicate
    /// selects them too.
    func check(
        _ predicate: Predicate<Article>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try all.filter(predicate).map { Value.int(Int64($0.number)) }
        let bound = try BoundExpression(predicate)
        let text = Comment(rawValue: bound.expression.format)
        let found = try client.fetch(where: predicate, sort: [SortKey("number")])
        #expect(found.map { $0["number"] } == expected, text, sourceLocation: sourceLocation)
        let read = try client.fetch(
            "Article", where: bound.expression.format, arguments: bound.arguments,
            sort: [SortKey("number")])
        #expect(read == found, text, sourceLocation: sourceLocation)
    }

    private struct Sample {
        var title: String
        var subtitle: String?
        var words: Int
        var pages: Int?
        var isFeatured: Bool?
        var category: Int?
        var reviews: [(text: String?, stars: Int)]
    }

    private static let samples = [
        Sample(
            title: "école", subtitle: "b", words: 100, pages: 3, isFeatured: true, category: 0,
            reviews: [("b", 5), (nil, 2)]),
        Sample(title: "École", words: 900, isFeatured: false, category: 0, reviews: []),
        Sample(title: "", subtitle: "", words: 0, pages: 0, category: 1, reviews: [(nil, 4)]),
        Sample(title: "über", subtitle: "abc", words: 101, pages: -7, reviews: [("x", 1)]),
        Sample(
            title: "Über allem", subtitle: "B", words: 899, pages: 12, isFeatured: true,
            category: 1,
            reviews: [("B", 5), ("y", 5), ("z", 3)]),
        Sample(title: "straße", words: -5, isFeatured: false, reviews: []),
        Sample(
            title: "STRASSE", subtitle: "c", words: 350, pages: 2, category: 0,
            reviews: [("c", 4)]),
        Sample(title: "👩‍👩‍👧 family", words: 12, pages: 1, category: 0, reviews: [(nil, 3)]),
    ]

    private static func insert(
        _ sample: Sample, _ number: Int, _ categories: [Category], _ client: StoreClient
    ) throws -> Article {
        let category = sample.category.map { categories[$0] }
        let date = Date(timeIntervalSinceReferenceDate: Double(number) * 43_200)
        let (rating, isPublished) = (Double(number) * 0.75, number % 3 == 0)
        let article = try client.insert(
            "Article",
            [
                "number": .int(Int64(number)), "title": .string(sample.title),
                "subtitle": sample.subtitle.map(Value.string) ?? .null,
                "words": .int(Int64(sample.words)),
                "pages": sample.pages.map { .int(Int64($0)) } ?? .null,
                "rating": .double(rating), "isPublished": .bool(isPublished),
                "isFeatured": sample.isFeatured.map(Value.bool) ?? .null, "date": .date(date),
                "category": category.map { .object($0.persistentModelID) } ?? .null,
            ])
        let reviews = try sample.reviews.map { text, stars in
            let review = try client.insert(
                "Review",
                [
                    "text": text.map(Value.string) ?? .null, "stars": .int(Int64(stars)),
                    "article": .object(article),
                ])
            return Review(persistentModelID: review, text: text, stars: stars)
        }
        return Article(
            persistentModelID: article, number: number, title: sample.title,
            subtitle: sample.subtitle,
            words: sample.words, pages: sample.pages, rating: rating, isPublished: isPublished,
            isFeatured: sample.isFeatured, date: date, category: category, reviews: reviews)
    }

    private static let schema = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Article",
              "attributes": [
                { "name": "number", "type": "int64" },
                { "name": "title", "type": "string" },
                { "name": "subtitle", "type": "string", "optional": true },
                { "name": "words", "type": "int64" },
                { "name": "pages", "type": "int64", "optional": true },
                { "name": "rating", "type": "double" },
                { "name": "isPublished", "type": "bool" },
                { "name": "isFeatured", "type": "bool", "optional": true },
                { "name": "date", "type": "date" } ],
              "relationships": [
                { "name": "category", "destination": "Category", "inverse": "articles" },
                { "name": "reviews", "destination": "Review", "toMany": true,
                  "inverse": "article" } ] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string" } ],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,
                  "inverse": "category" } ] },
            { "name": "Review",
              "attributes": [
                { "name": "text", "type": "string", "optional": true },
                { "name": "stars", "type": "int64" } ],
              "relationships": [
                { "name": "article", "destination": "Article", "inverse": "reviews" } ] } ] }
        """
}
