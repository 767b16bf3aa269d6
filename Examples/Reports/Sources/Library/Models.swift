public import Foundation
public import LarderData

@Model public final class Category {
    @Attribute(.unique) public var name: String
    @Relationship(inverse: \Article.category) public var articles: [Article] = []

    public init(name: String) { self.name = name }
}

@Model public final class Author {
    @Attribute(.unique) public var name: String
    @Relationship(deleteRule: .cascade, inverse: \Article.author)
    public var articles: [Article] = []

    public init(name: String) { self.name = name }
}

/// Articles that somebody wants to read; an article may be in several lists.
@Model public final class ReadingList {
    @Attribute(.unique) public var name: String
    @Relationship(inverse: \Article.lists) public var articles: [Article] = []

    public init(name: String) { self.name = name }
}

@Model public final class Article {
    #Index<Article>([\.published])

    @Attribute(.unique) public var title: String
    public private(set) var published = Date.distantPast
    public private(set) var year = 1
    public var words = 0
    public var author: Author?
    public var category: Category?
    public var lists: [ReadingList] = []

    public init(title: String) { self.title = title }

    public func publish(on date: Date) {
        published = date
        year = Article.calendar.component(.year, from: date)
    }

    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

/// The library of a program.
public enum Library {
    public static let models: [any PersistentModel.Type] = [
        Article.self, Author.self, Category.self, ReadingList.self,
    ]

    /// Opens the library in a file, or one in memory that nobody else has.
    public static func container(at url: URL?) throws -> ModelContainer {
        let schema = Schema(models)
        let configuration =
            url.map { ModelConfiguration(schema: schema, url: $0) }
            ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        return try ModelContainer(for: schema, configurations: [configuration])
    }
}
