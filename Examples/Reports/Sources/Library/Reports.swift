public import Foundation
public import LarderData

/// The articles of a category.
public struct CategoryCount: Equatable, Sendable {
    /// Nil for the articles without a category.
    public var category: String?
    public var articles: Int
    public var averageWords: Double?
}

/// The total of an author's articles.
public struct AuthorTotal: Equatable, Sendable {
    public var author: String
    public var articles: Int
    public var categories: Int
    public var words: Int
}

/// Questions that the store answers. It groups and counts; no article is read for them.
extension ModelContext {
    /// The categories with at least so many articles, those with the most articles first.
    public func articlesByCategory(atLeast minimum: Int = 1) throws -> [CategoryCount] {
        let category = #Expression<Article, String?> { $0.category?.name }
        return try aggregate(
            Article.self, .group(by: category), .count, .average(\.words),
            having: #Predicate { _, articles, _ in articles >= minimum },
            sort: [.descending(.count), .ascending(.group(by: category))]
        ).map { CategoryCount(category: $0.0, articles: $0.1, averageWords: $0.2) }
    }

    /// The number of articles of each year, in the order of the years.
    public func articlesByYear() throws -> [(year: Int, articles: Int)] {
        try aggregate(
            Article.self, .group(\.year), .count, sort: [.ascending(.group(\.year))]
        ).map { (year: $0.0, articles: $0.1) }
    }

    /// The authors who have written the most words.
    public func topAuthors(limit: Int) throws -> [AuthorTotal] {
        let author = #Expression<Article, String?> { $0.author?.name }
        return try aggregate(
            Article.self, .group(by: author), .count, .countDistinct(\.category), .sum(\.words),
            where: #Predicate { $0.author != nil },
            sort: [.descending(.sum(\.words)), .ascending(.group(by: author))], limit: limit
        ).map {
            AuthorTotal(author: $0.0 ?? "", articles: $0.1, categories: $0.2, words: $0.3)
        }
    }

    /// The authors with at least so many articles of so many words since a date, by name.
    public func authors(
        withAtLeast articles: Int, ofAtLeast words: Int, since date: Date
    ) throws -> [Author] {
        try fetch(
            FetchDescriptor<Author>(
                predicate: #Predicate { author in
                    author.articles.filter { $0.published >= date && $0.words >= words }.count
                        >= articles
                }, sortBy: [SortDescriptor(\.name)]))
    }

    /// The reading lists that have an article of a category: how many, and which, by name. The
    /// lists are identifiers, which another context or process can use.
    public func lists(with category: Category) throws -> [PersistentIdentifier] {
        let id = category.persistentModelID
        return try fetchIdentifiers(
            FetchDescriptor<ReadingList>(
                predicate: #Predicate { list in
                    list.articles.filter { $0.category?.persistentModelID == id }.count > 0
                }, sortBy: [SortDescriptor(\.name)]))
    }

    /// The category with a name; nil if there is none.
    public func category(named name: String) throws -> Category? {
        try fetch(FetchDescriptor<Category>(predicate: #Predicate { $0.name == name })).first
    }

    /// The article with a title; nil if there is none.
    public func article(titled title: String) throws -> Article? {
        try fetch(FetchDescriptor<Article>(predicate: #Predicate { $0.title == title })).first
    }
}
