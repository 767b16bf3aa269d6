import SwiftData

@Model final class Genre {
    #Unique<Genre>([\.name])
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.genre) var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model final class Book {
    var title: String
    var pages: Int
    var rating: Double?
    var details: Details
    var genre: Genre?

    init(title: String, pages: Int = 0, genre: Genre? = nil) {
        self.title = title
        self.pages = pages
        self.genre = genre
        details = Details(language: "en")
    }
}

struct Details: Codable, Hashable {
    var language: String
}

/// Genres with books, of which each context reads the same store.
struct Shelf {
    let container: ModelContainer

    init(_ configuration: ModelConfiguration = ModelConfiguration(isStoredInMemoryOnly: true))
        throws
    {
        container = try ModelContainer(for: Genre.self, configurations: configuration)
        let context = ModelContext(container)
        for (name, count) in [("novel", 3), ("poem", 2), ("play", 1)] {
            let genre = Genre(name: name)
            context.insert(genre)
            for number in 1...count {
                context.insert(Book(title: "\(name) \(number)", pages: number * 100, genre: genre))
            }
        }
        try context.save()
    }
}

extension ModelContext {
    func book(_ title: String) throws -> Book? {
        try fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })).first
    }
}
