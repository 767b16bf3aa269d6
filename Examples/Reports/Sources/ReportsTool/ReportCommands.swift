import ArgumentParser
import Foundation
import LarderData
import Library

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Adds the articles of a JSON file, or replaces those of the same titles.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "A JSON file, such as Sample/articles.json.") var file: String

    func run() throws {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ValidationError("\(file) cannot be read")
        }
        let records = try ArticleRecord.read(data)
        try store.context().importArticles(records)
        print("imported \(records.count) articles")
    }
}

struct ByCategory: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The number of articles of each category.")

    @OptionGroup var store: StoreOptions
    @Option(help: "Leave out categories with fewer articles.") var atLeast = 1

    func run() throws {
        for row in try store.context().articlesByCategory(atLeast: atLeast) {
            let average = row.averageWords.map { "\(Int($0.rounded()))" } ?? ""
            print(row.category ?? "(none)", row.articles, average, separator: "\t")
        }
    }
}

struct ByYear: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The number of articles of each year.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        for row in try store.context().articlesByYear() {
            print(row.year, row.articles, separator: "\t")
        }
    }
}

struct TopAuthors: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The authors who have written the most words.")

    @OptionGroup var store: StoreOptions
    @Option(help: "The number of authors.") var limit = 10

    func validate() throws {
        guard limit > 0 else { throw ValidationError("the limit must be at least 1") }
    }

    func run() throws {
        for row in try store.context().topAuthors(limit: limit) {
            print(row.author, row.articles, row.categories, row.words, separator: "\t")
        }
    }
}

struct Regulars: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The authors with several long articles since a day.")

    @OptionGroup var store: StoreOptions
    @Option(help: "The number of such articles.") var atLeast = 2
    @Option(help: "The number of words that each has.") var words = 0
    @Option(help: "The first day, such as 2026-03-01.") var since: Day?

    func run() throws {
        let authors = try store.context().authors(
            withAtLeast: atLeast, ofAtLeast: words, since: since?.date ?? .distantPast)
        for author in authors { print(author.name) }
    }
}

struct Lists: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The reading lists that have an article of a category.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The name of the category.") var category: String

    func run() throws {
        let context = try store.context()
        guard let category = try context.category(named: category) else {
            throw LibraryError.notFound("category \"\(category)\"")
        }
        let lists = try context.lists(with: category)
        print(lists.count, lists.count == 1 ? "list" : "lists")
        for id in lists {
            guard let list: ReadingList = try context.existingModel(for: id) else { continue }
            print(list.name, id.uriRepresentation, separator: "\t")
        }
    }
}
