import Foundation
import SwiftData
import Testing

@MainActor @Suite("A results observer is made by each of its initializers")
struct ResultsObserverInitializerTests {
    private let container: ModelContainer
    private var context: ModelContext { container.mainContext }
    private let sorted = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])
    private let long = #Predicate<Article> { $0.words > 1 }
    private let byTitle = [SortDescriptor(\Article.title)]

    init() async throws {
        container = try makeContainer()
        container.mainContext.autosaveEnabled = false
        for (title, words) in [("c", 3), ("a", 1), ("b", 2)] {
            context.insert(Article(title: title, words: words))
        }
        try context.save()
    }

    @Test("a results observer without sections is made from a descriptor or a predicate")
    func plain() async throws {
        let observers = [
            try ResultsObserver<Article, Never>(fetchDescriptor: sorted, modelContext: context),
            try ResultsObserver<Article, Never>(
                fetchDescriptor: sorted, modelContainer: container),
            try ResultsObserver<Article, Never>(sortBy: byTitle, modelContext: context),
            try ResultsObserver<Article, Never>(sortBy: byTitle, modelContainer: container),
        ]
        for observer in observers {
            #expect(observer.results.map(\.title) == ["a", "b", "c"])
            #expect(observer.sections == nil)
            #expect(observer.modelContext === context)
        }
        let filtered = [
            try ResultsObserver<Article, Never>(
                filterBy: long, sortBy: byTitle, modelContext: context),
            try ResultsObserver<Article, Never>(
                filterBy: long, sortBy: byTitle, modelContainer: container),
        ]
        for observer in filtered { #expect(observer.results.map(\.title) == ["b", "c"]) }
    }

    @Test("a results observer with sections is made from a descriptor or a predicate")
    func sections() async throws {
        let observers = [
            try ResultsObserver<Article, String>(
                fetchDescriptor: sorted, sectionBy: \.size, modelContext: context),
            try ResultsObserver<Article, String>(
                fetchDescriptor: sorted, sectionBy: \.size, modelContainer: container),
            try ResultsObserver<Article, String>(
                filterBy: nil, sortBy: byTitle, sectionBy: \.size, modelContext: context),
            try ResultsObserver<Article, String>(
                filterBy: nil, sortBy: byTitle, sectionBy: \.size, modelContainer: container),
        ]
        for observer in observers {
            let sections: ResultsSectionCollection<Article, String> = try #require(
                observer.sections)
            #expect(sections.sectionNames == ["short", "long"])
            let section: ResultsSection<Article, String> = sections[1]
            #expect(section.id == "long")
            #expect(section.map(\.title) == ["b", "c"])
            #expect(observer.sectionBy == \Article.size)
        }
    }

    @Test("a results observer may have sections by an optional property, of which nil is \"\"")
    func optionalSections() async throws {
        let observers = [
            try ResultsObserver<Article, String>(
                fetchDescriptor: sorted, sectionBy: \.source?.site, modelContext: context),
            try ResultsObserver<Article, String>(
                fetchDescriptor: sorted, sectionBy: \.source?.site, modelContainer: container),
            try ResultsObserver<Article, String>(
                filterBy: long, sortBy: byTitle, sectionBy: \.source?.site,
                modelContext: context),
            try ResultsObserver<Article, String>(
                filterBy: long, sortBy: byTitle, sectionBy: \.source?.site,
                modelContainer: container),
        ]
        for observer in observers { #expect(observer.sections?.sectionNames == [""]) }
        #expect(observers.map(\.results.count) == [3, 3, 2, 2])
    }

    @Test("a results observer without an order has the order of insertion")
    func defaults() async throws {
        let observer = try ResultsObserver<Article, Never>(
            filterBy: nil, sortBy: nil, modelContext: context)
        #expect(observer.results.map(\.title) == ["c", "a", "b"])
        #expect(observer.fetchDescriptor == FetchDescriptor())
    }
}

extension Article {
    fileprivate var size: String { words > 1 ? "long" : "short" }
}
