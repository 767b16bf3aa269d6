import Foundation
import SwiftData

/// The models of the tests: categories, articles, tags and notes.
@Model final class Category {
    @Attribute(.unique) var name: String
    var articles: [Article] = []

    init(name: String) { self.name = name }
}

enum Genre: String, Codable, CaseIterable { case news, essay }

struct Source: Codable, Hashable {
    var site: String
    var rank: Int
}

@Model final class Article {
    var title: String
    var words: Int = 0
    var published: Date?
    var genre: Genre = Genre.news
    var source: Source?
    var keywords: [String] = []
    @Relationship(inverse: \Category.articles) var category: Category?
    @Relationship(inverse: \Tag.articles) var tags: [Tag] = []
    @Relationship(deleteRule: .cascade, inverse: \Note.article) var notes: [Note] = []
    @Transient var isShown = false

    init(title: String, words: Int = 0, category: Category? = nil) {
        self.title = title
        self.words = words
        self.category = category
    }
}

@Model final class Tag {
    var name: String
    var articles: [Article]

    init(name: String, articles: [Article] = []) {
        self.name = name
        self.articles = articles
    }
}

@Model final class Note {
    var text: String
    var article: Article?

    init(text: String) { self.text = text }
}

let librarySchema = Schema([Category.self, Article.self, Tag.self, Note.self])

/// A container in memory, apart from all others.
func makeContainer() throws -> ModelContainer {
    try ModelContainer(
        for: Category.self, Article.self, Tag.self, Note.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}
