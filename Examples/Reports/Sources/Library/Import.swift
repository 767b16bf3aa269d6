public import Foundation
public import LarderData

/// An article as a file for import describes it.
public struct ArticleRecord: Codable, Sendable {
    public var title: String
    public var published: Date
    public var words: Int
    public var author: String
    public var category: String?
    public var lists: [String]?

    /// The articles of a JSON file, with dates such as `2026-03-01T00:00:00Z`.
    public static func read(_ data: Data) throws -> [ArticleRecord] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode([ArticleRecord].self, from: data)
    }
}

extension ModelContext {
    /// Adds articles in one transaction. An article with the title of one in the library replaces
    /// its values, so an import can be repeated.
    public func importArticles(_ records: [ArticleRecord]) throws {
        try transaction {
            var authors = try named(Author.self, by: \.name)
            var categories = try named(Category.self, by: \.name)
            var lists = try named(ReadingList.self, by: \.name)
            let titles = records.map(\.title)
            var articles = try named(
                Article.self, by: \.title, where: #Predicate { titles.contains($0.title) })
            for record in records {
                let article = find(record.title, in: &articles, Article.init)
                article.publish(on: record.published)
                article.words = record.words
                article.author = find(record.author, in: &authors, Author.init)
                article.category = record.category.map {
                    find($0, in: &categories, Category.init)
                }
                article.lists = (record.lists ?? []).map {
                    find($0, in: &lists, ReadingList.init)
                }
            }
        }
    }

    private func named<Model: PersistentModel>(
        _ type: Model.Type, by name: KeyPath<Model, String>,
        where predicate: Predicate<Model>? = nil
    ) throws -> [String: Model] {
        let models = try fetch(FetchDescriptor<Model>(predicate: predicate))
        return Dictionary(
            models.map { ($0[keyPath: name], $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func find<Model: PersistentModel>(
        _ name: String, in known: inout [String: Model], _ make: (String) -> Model
    ) -> Model {
        if let model = known[name] { return model }
        let model = make(name)
        insert(model)
        known[name] = model
        return model
    }
}
