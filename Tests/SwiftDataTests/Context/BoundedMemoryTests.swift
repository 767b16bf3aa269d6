import Foundation
import LarderModel
import SwiftData
import Testing

@testable import LarderObjects

@Suite("How many objects a context has while it reads many")
struct BoundedMemoryTests {
    private static let count = 20_000

    /// The tests share a container, and each has a context of its own.
    private static let container = Result { try filled() }

    /// A container with articles of which each has a category and a note of its own.
    private static func filled() throws -> ModelContainer {
        let store = try EngineStore(librarySchema.larderSchema())
        for start in stride(from: 0, to: count, by: 2_000) {
            var changes: [Change] = []
            for number in start..<start + 2_000 {
                func name(_ entityName: String) -> LarderModel.PersistentIdentifier {
                    PersistentIdentifier(
                        temporary: "\(entityName)\(number)", entityName: entityName)
                }
                changes.append(
                    .insert(name("Category"), values: ["name": .string("\(number)")]))
                changes.append(
                    .insert(
                        name("Article"),
                        values: [
                            "title": .string("\(number)"),
                            "category": .object(name("Category")),
                        ]))
                changes.append(
                    .insert(
                        name("Note"),
                        values: [
                            "text": .string("\(number)"), "article": .object(name("Article")),
                        ]))
            }
            _ = try store.save(ChangeSet(changes))
        }
        return try ModelContainer(librarySchema, store)
    }

    private var descriptor: FetchDescriptor<Article> {
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])
        descriptor.relationshipKeyPathsForPrefetching = [\.category, \.notes]
        return descriptor
    }

    /// Reads what was to be prefetched.
    private func isWhole(_ article: Article) -> Bool {
        article.category?.name == article.title
            && article.notes.map(\.text) == [article.title]
    }

    @Test("a context that enumerates many objects holds a few batches of them")
    func enumerate() throws {
        let context = ModelContext(try Self.container.get())
        var (count, countMax, wholeCount) = (0, 0, 0)
        try context.enumerate(descriptor, batchSize: 500) { article in
            if isWhole(article) { wholeCount += 1 }
            count += 1
            if count % 100 == 0 { countMax = max(countMax, context.objects.registeredCount) }
        }
        #expect(count == Self.count && wholeCount == count)
        #expect(countMax <= Self.count / 2)
    }

    @Test("a context that reads a fetch in batches holds a few batches of the objects")
    func batches() throws {
        let context = ModelContext(try Self.container.get())
        let articles = try context.fetch(descriptor, batchSize: 500)
        var (countMax, wholeCount) = (0, 0)
        for (index, article) in articles.enumerated() {
            if isWhole(article) { wholeCount += 1 }
            if index % 100 == 0 { countMax = max(countMax, context.objects.registeredCount) }
        }
        #expect(articles.count == Self.count && wholeCount == articles.count)
        #expect(countMax <= Self.count / 2)
    }

    @Test("a context holds the whole result of a fetch until it is read, and later releases it")
    func fetch() throws {
        let context = ModelContext(try Self.container.get())
        func read(_ descriptor: FetchDescriptor<Article>) throws -> Bool {
            try context.fetch(descriptor).allSatisfy(isWhole)
        }
        #expect(try read(descriptor))
        #expect(context.objects.registeredCount >= 3 * Self.count)
        var part = descriptor
        part.fetchLimit = Self.count / 4
        // Memory is released when as many objects were read again.
        for _ in 0..<6 { #expect(try read(part)) }
        #expect(context.objects.registeredCount <= Self.count)
    }
}
