import Foundation
import Magazine
import SwiftData
import SwiftDataKit
import Testing

@Suite("A program with SwiftData and Core Data", .serialized)
struct MagazineTests {
    @Test(
        "the store counts 10,000 readers by year as the program does, and reads none of them",
        arguments: Place.allCases)
    func groupedCounts(_ place: Place) async throws {
        let store = try TestStore(place)
        let librarian = Librarian(modelContainer: store.container)
        try await librarian.addReaders(10_000)
        let grouped = try ModelContext(store.container).readersByYear()
        #expect(grouped.count == 64)
        #expect(grouped.map(\.year) == Array(1_940..<2_004))
        #expect(grouped.reduce(0) { $0 + $1.readers } == 10_000)
        #expect(try ModelContext(store.container).fetchedReadersByYear() == grouped)
        // From an actor with a context of its own.
        #expect(try await librarian.readersByYear() == grouped)
        #expect(try await librarian.fetchedReadersByYear() == grouped)
        let other = Librarian(modelContainer: store.container)
        let objects = try await other.objectCounts()
        #expect(objects.grouped == 0 && objects.fetched == 10_000)
    }

    @Test("a reader who is not saved does not count in the store, but in the program")
    func pendingChanges() throws {
        let store = try TestStore(.memory)
        let context = ModelContext(store.container)
        context.insert(Reader(name: "Ann", birthOfYear: 1_990))
        #expect(try context.readersByYear() == [])
        #expect(try context.fetchedReadersByYear() == [YearCount(year: 1_990, readers: 1)])
        try context.save()
        #expect(try context.readersByYear() == [YearCount(year: 1_990, readers: 1)])
    }

    private func fill(_ context: ModelContext) throws -> (Magazine.Category, Magazine.Category) {
        let (news, art) = (Category(name: "news"), Category(name: "art"))
        let contents = [
            ("week 1", [news, art]), ("empty", []), ("week 3", [art]), ("week 2", [news, news]),
        ]
        for (name, categories) in contents {
            let collection = ArticleCollection(name: name)
            context.insert(collection)
            for category in categories {
                collection.articles.append(
                    Article(title: "\(name) \(category.name)", category: category))
            }
        }
        try context.save()
        return (news, art)
    }

    @Test(
        "a subquery with a category as its argument finds the collections of its articles",
        arguments: Place.allCases)
    func subqueries(_ place: Place) async throws {
        let store = try TestStore(place)
        let context = ModelContext(store.container)
        let (news, art) = try fill(context)
        #expect(try context.collectionCount(with: news) == 2)
        #expect(try context.collections(with: news).map(\.name) == ["week 1", "week 2"])
        #expect(try context.collections(with: art).map(\.name) == ["week 1", "week 3"])
        let librarian = Librarian(modelContainer: store.container)
        let uri = try #require(art.uri)
        #expect(try await librarian.collectionNames(withCategoryAt: uri) == ["week 1", "week 3"])
        // A category that is in no context is that of no article.
        let free = Magazine.Category(name: "free")
        #expect(try context.collectionCount(with: free) == 0)
        #expect(try context.collections(with: free).isEmpty)
    }

    @Test("a change that is not saved counts in a subquery of its context")
    func pendingSubquery() throws {
        let store = try TestStore(.memory)
        let context = ModelContext(store.container)
        let (news, art) = try fill(context)
        for article in art.articles { article.category = news }
        #expect(try context.collectionCount(with: news) == 3)
        #expect(try context.collectionCount(with: art) == 0)
    }

    @Test(
        "a URI leads to the same category in each context, and in Core Data alone",
        arguments: Place.allCases)
    func identifiers(_ place: Place) throws {
        let store = try TestStore(place)
        let context = ModelContext(store.container)
        let (news, _) = try fill(context)
        let uri = try #require(news.uri)
        #expect(uri == news.objectID?.uriRepresentation())
        #expect(uri.persistentIdentifier == news.persistentModelID)
        let other = ModelContext(store.container)
        #expect(try other.category(at: uri)?.name == "news")
        #expect(other[news.persistentModelID, as: Magazine.Category.self]?.name == "news")
        #expect(other[news.persistentModelID, as: Reader.self] == nil)
        #expect(try other.nameInCoreData(ofCategoryAt: uri) == "news")
        for text in ["https://example.org/", "x-coredata://a/b/c"] {
            let unknown = try #require(URL(string: text))
            #expect(try other.category(at: unknown) == nil)
            #expect(try other.nameInCoreData(ofCategoryAt: unknown) == nil)
        }
    }

    @Test("the URI of a category that was deleted leads to none")
    func deletedCategory() throws {
        let store = try TestStore(.memory)
        let context = ModelContext(store.container)
        let (news, art) = try fill(context)
        let uri = try #require(news.uri)
        context.delete(news)
        try context.save()
        #expect(try context.category(at: uri) == nil)
        #expect(throws: (any Error).self) { try context.nameInCoreData(ofCategoryAt: uri) }
        #expect(news.managedObject == nil && news.name == "news")
        #expect(try context.collectionCount(with: news) == 0)
        #expect(try context.collections(with: art).map(\.name) == ["week 1", "week 3"])
    }

    @Test("a program with SwiftDataKit has both modules linked")
    func symbols() throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "magazine")
        let contents = try Data(contentsOf: program)
        for module in ["9SwiftData", "8CoreData", "18CoreDataPredicates"] {
            #expect(contents.range(of: Data("$s\(module)".utf8)) != nil)
        }
    }

    @Test("the program magazine compares the two ways to count, in memory and in a file")
    func bench() throws {
        let output = try Program("magazine", ["bench"]).output()
        #expect(output.hasPrefix("10000 readers of 64 years, in memory\n"))
        #expect(output.split(separator: "\n").last?.hasPrefix("ratio ") == true)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "magazine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "magazine.store").path
        for _ in 0..<2 {
            let output = try Program("magazine", ["bench", file, "100"]).output()
            #expect(output.hasPrefix("100 readers of 64 years, in \(file)\n"))
        }
        #expect(throws: Program.Failed.self) { try Program("magazine", ["count"]).output() }
    }
}
