import FoundationEssentials
import LarderClient
import LarderModel

// The entities of a magazine as Swift types, as an application declares them.

struct Article: QueryableEntity, Equatable {
    enum Kind: String, Codable { case essay, review }

    var persistentModelID: PersistentIdentifier
    var title: String
    var subtitle: String?
    var wordCount: Int
    var serial: UInt64
    var pageCount: Int?
    var rating: Double
    var isPublished: Bool
    var isFeatured: Bool?
    var date: Date
    var kind: Kind
    var keywords: [String]
    var notDeclared: String
    var category: Category?
    var author: Author
    var comments: [Comment]
    var reviews: [Comment]?

    static let entityName = "Article"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Article.persistentModelID: .identifier
        case \Article.title: "title"
        case \Article.subtitle: "subtitle"
        case \Article.wordCount: "wordCount"
        case \Article.serial: "serial"
        case \Article.pageCount: "pageCount"
        case \Article.rating: "rating"
        case \Article.isPublished: "isPublished"
        case \Article.isFeatured: "isFeatured"
        case \Article.date: "date"
        case \Article.kind: "kind"
        case \Article.keywords: "keywords"
        case \Article.category: "category"
        case \Article.author: "author"
        case \Article.comments: "comments"
        case \Article.reviews: "reviews"
        default: nil
        }
    }
}

final class Category: QueryableEntity, Equatable {
    let persistentModelID: PersistentIdentifier
    let name: String
    let articles: [Article]

    init(_ persistentModelID: PersistentIdentifier, name: String, articles: [Article]) {
        self.persistentModelID = persistentModelID
        self.name = name
        self.articles = articles
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

class Author: QueryableEntity, Equatable {
    let persistentModelID: PersistentIdentifier
    let name: String
    let articles: Set<PersistentIdentifier>

    init(_ persistentModelID: PersistentIdentifier, name: String) {
        self.persistentModelID = persistentModelID
        self.name = name
        articles = []
    }

    static func == (left: Author, right: Author) -> Bool {
        left.persistentModelID == right.persistentModelID
    }

    class var entityName: String { "Author" }

    class func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Author.persistentModelID: .identifier
        case \Author.name: "name"
        default: nil
        }
    }
}

/// A subentity of Author. It declares key paths for its inherited properties.
final class Critic: Author {
    let strictness = 1

    override class var entityName: String { "Critic" }

    override class func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Critic.persistentModelID: .identifier
        case \Critic.name: "name"
        case \Critic.strictness: "strictness"
        default: nil
        }
    }
}

struct Comment: QueryableEntity, Codable, Equatable {
    var persistentModelID: PersistentIdentifier
    var text: String
    var stars: Int
    var replies: [Comment]

    static let entityName = "Comment"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Comment.persistentModelID: .identifier
        case \Comment.text: "text"
        case \Comment.stars: "stars"
        case \Comment.replies: "replies"
        default: nil
        }
    }
}

/// The translation of a predicate as text.
func translated(_ predicate: Predicate<Article>) throws -> String {
    text(try BoundExpression(predicate))
}

func translated<Output>(_ expression: Expression<Article, Output>) throws -> String {
    text(try BoundExpression(expression))
}

private func text(_ bound: BoundExpression) -> String {
    bound.arguments.isEmpty
        ? bound.expression.format
        : bound.expression.format + " <- " + bound.arguments.map(text).joined(separator: ", ")
}

private func text(_ argument: QueryArgument) -> String {
    switch argument {
    case .value(.object(let object)): object.description
    case .value(let value): value.jsonValue.text
    case .list(let values): "{\(values.map { text(.value($0)) }.joined(separator: ", "))}"
    }
}
