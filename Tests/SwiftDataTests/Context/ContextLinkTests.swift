import Foundation
import SwiftData
import Testing

@Suite("A relationship may be set to a model of another context")
struct ContextLinkTests {
    private let container: ModelContainer
    private let one: ModelContext
    private let two: ModelContext

    init() throws {
        container = try makeContainer()
        one = ModelContext(container)
        two = ModelContext(container)
    }

    private func count(_ predicate: Predicate<Article>) throws -> Int {
        try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
    }

    @Test("a saved model of another context is taken by its identifier")
    func saved() throws {
        let category = Category(name: "c")
        one.insert(category)
        try one.save()
        let article = Article(title: "a")
        two.insert(article)
        article.category = category
        #expect(article.category?.name == "c")
        #expect(article.category !== category)
        #expect(article.category?.modelContext === two)
        #expect(article.category?.articles.map(\.title) == ["a"])
        try two.save()
        #expect(try count(#Predicate { $0.category?.name == "c" }) == 1)
        #expect(!one.hasChanges)
    }

    @Test("a list takes saved models of another context, whole or one by one")
    func lists() throws {
        let tags = ["x", "y", "z"].map { Tag(name: $0) }
        for tag in tags { one.insert(tag) }
        try one.save()
        let article = Article(title: "a")
        two.insert(article)
        article.tags = [tags[0], tags[1]]
        article.tags.append(tags[2])
        #expect(article.tags.map(\.name) == ["x", "y", "z"])
        #expect(article.tags.allSatisfy { $0.modelContext === two })
        try two.save()
        #expect(try count(#Predicate { $0.tags.count == 3 }) == 1)
        #expect(!one.hasChanges)
    }

    @Test("a new model that was made with a model of another context can be inserted")
    func initializer() throws {
        let article = Article(title: "a")
        one.insert(article)
        try one.save()
        let tag = Tag(name: "t", articles: [article])
        two.insert(tag)
        #expect(tag.articles.map(\.title) == ["a"])
        #expect(tag.articles.allSatisfy { $0.modelContext === two })
        try two.save()
        #expect(try count(#Predicate { $0.tags.count == 1 }) == 1)
        #expect(!one.hasChanges)
    }

    @Test("a model of another context that is not saved is an error of the save")
    func unsaved() throws {
        let category = Category(name: "c")
        one.insert(category)
        let article = Article(title: "a")
        two.insert(article)
        article.category = category
        #expect {
            try two.save()
        } throws: { error in
            error as? SwiftDataError == .modelValidationFailure
                && "\(error)".contains("Article.category")
                && "\(error)".contains("belongs to another context and is not saved")
        }
        // The context keeps its changes, and the property can be set again.
        try one.save()
        article.category = category
        try two.save()
        #expect(try count(#Predicate { $0.category?.name == "c" }) == 1)
    }

    @Test("an unsaved model of another context in a list is an error of the save")
    func unsavedInList() throws {
        let (tag, other) = (Tag(name: "t"), Tag(name: "u"))
        one.insert(tag)
        let article = Article(title: "a")
        two.insert(article)
        try two.save()
        article.tags = [other, tag]
        #expect(two.hasChanges)
        #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() }
        two.rollback()
        #expect(!two.hasChanges)
        try two.save()
        article.tags = [tag]
        #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() }
        article.tags = []
        try two.save()
        #expect(try count(#Predicate { $0.tags.isEmpty }) == 1)
    }

    @Test("a new model that was made with an unsaved model of another context is an error")
    func unsavedInInitializer() throws {
        let article = Article(title: "a")
        one.insert(article)
        let tag = Tag(name: "t", articles: [article])
        two.insert(tag)
        #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() }
        tag.articles = []
        try two.save()
        try one.save()
        #expect(try count(#Predicate { $0.tags.isEmpty }) == 1)
    }

    @Test("an insert of an unsaved model of another context is an error of the next save")
    func foreignInsert() throws {
        let category = Category(name: "c")
        one.insert(category)
        // A model that is related to one in a context is in that context.
        let article = Article(title: "a", category: category)
        #expect(article.modelContext === one)
        two.insert(article)
        #expect {
            try two.save()
        } throws: { error in
            error as? SwiftDataError == .modelValidationFailure
                && "\(error)".contains("Article: it was inserted, and belongs to another context")
        }
        try two.save()
        try one.save()
        // It is saved, so that the other context has it as well.
        two.insert(article)
        try two.save()
        #expect(try count(#Predicate { $0.category?.name == "c" }) == 1)
    }

    @Test("a value that cannot be encoded is an error of the save")
    func unencodable() throws {
        let container = try ModelContainer(
            for: Sampled.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let sampled = Sampled()
        context.insert(sampled)
        sampled.sample = Sampled.Sample(fails: true)
        #expect {
            try context.save()
        } throws: { error in
            error as? SwiftDataError == .modelValidationFailure
                && "\(error)".contains("Sampled.sample")
        }
        sampled.sample = Sampled.Sample(fails: false)
        try context.save()
        sampled.sample = Sampled.Sample(fails: true)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        #expect(sampled.sample?.fails == false)
        try context.save()
    }

    @Test(
        "a number that is none is stored, or an error that names the property",
        arguments: [Double.nan, .infinity, -.infinity])
    func numbers(_ number: Double) throws {
        let container = try ModelContainer(
            for: Sampled.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        for property in 0..<4 {
            let context = ModelContext(container)
            let sampled = Sampled()
            switch property {
            case 0: sampled.double = number
            case 1: sampled.float = Float(number)
            case 2: sampled.optional = number
            default: sampled.list = [number]
            }
            context.insert(sampled)
            do {
                try context.save()
                let id = sampled.persistentModelID
                let read = ModelContext(container).model(for: id) as? Sampled
                let values = [read?.double, read?.float.map(Double.init), read?.optional]
                let value = property < 3 ? values[property] : read?.list.first
                #expect(value == number || value?.isNaN == true && number.isNaN)
            } catch {
                let name = ["double", "float", "optional", "list"][property]
                #expect(error as? SwiftDataError == .modelValidationFailure)
                #expect("\(error)".contains("Sampled.\(name)"), "\(error)")
            }
        }
    }
}

@Model final class Sampled {
    struct Sample: Codable {
        var fails: Bool

        init(fails: Bool) { self.fails = fails }

        private enum CodingKeys: String, CodingKey { case fails }

        init(from decoder: any Decoder) throws {
            fails = try decoder.container(keyedBy: CodingKeys.self)
                .decode(Bool.self, forKey: .fails)
        }

        func encode(to encoder: any Encoder) throws {
            guard !fails else {
                throw EncodingError.invalidValue(
                    self, .init(codingPath: [], debugDescription: "the sample is broken"))
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(fails, forKey: .fails)
        }
    }

    var sample: Sample?
    var double = 1.0
    var float: Float? = 1
    var optional: Double?
    var list: [Double] = []

    init() {}
}
