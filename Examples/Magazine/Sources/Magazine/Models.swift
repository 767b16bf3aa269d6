public import Foundation
public import SwiftData

@Model public final class Reader {
    public var name: String
    public var birthOfYear: Int

    public init(name: String, birthOfYear: Int) {
        self.name = name
        self.birthOfYear = birthOfYear
    }
}

@Model public final class Category {
    @Attribute(.unique) public var name: String
    @Relationship(inverse: \Article.category) public var articles: [Article] = []

    public init(name: String) { self.name = name }
}

@Model public final class Article {
    public var title: String
    public var category: Category?
    @Relationship(inverse: \ArticleCollection.articles)
    public var collections: [ArticleCollection] = []

    public init(title: String, category: Category? = nil) {
        self.title = title
        self.category = category
    }
}

@Model public final class ArticleCollection {
    public var name: String
    public var articles: [Article] = []

    public init(name: String) { self.name = name }
}

/// Opens the store in a file, the one that a `larderd` serves at a socket, or a new one in memory.
public func magazineContainer(at url: URL?) throws -> ModelContainer {
    let schema = Schema([Reader.self, Category.self, Article.self, ArticleCollection.self])
    let configuration =
        url.map { ModelConfiguration(schema: schema, url: $0) }
        ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    return try ModelContainer(for: schema, configurations: [configuration])
}
