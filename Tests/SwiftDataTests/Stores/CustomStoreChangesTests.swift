import Foundation
import SwiftData
import Synchronization
import Testing

@Suite("Saves in a store that a program writes itself, in other contexts")
struct CustomStoreChangesTests {
    private let configuration = DictionaryConfiguration()

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Studio.self, Film.self]), configurations: [configuration])
    }

    private func film(_ title: String, in container: ModelContainer) throws -> Film {
        let context = ModelContext(container)
        let found = try context.fetch(
            FetchDescriptor<Film>(predicate: #Predicate { $0.title == title }))
        return try #require(found.first)
    }

    @Test("refresh the models of a context that follows changes, and Observation reports them")
    func following() throws {
        let container = try container()
        let context = ModelContext(container)
        context.followsChanges = true
        let film = Film(title: "a", minutes: 1)
        context.insert(film)
        try context.save()
        let other = try self.film("a", in: container)
        other.minutes = 2
        try other.modelContext?.save()
        let isReported = Mutex(false)
        withObservationTracking {
            _ = film.minutes
        } onChange: {
            isReported.withLock { $0 = true }
        }
        context.processPendingChanges()
        #expect(isReported.withLock { $0 })
        #expect(film.minutes == 2)
        #expect(!context.hasChanges)
    }

    @Test("refresh lists that a context holds")
    func lists() throws {
        let container = try container()
        let context = ModelContext(container)
        context.followsChanges = true
        let studio = Studio(name: "S")
        context.insert(studio)
        context.insert(Film(title: "a"))
        try context.save()
        #expect(studio.films.isEmpty)
        let other = try film("a", in: container)
        let same = try other.modelContext?.fetch(FetchDescriptor<Studio>()).first
        other.studio = same
        try other.modelContext?.save()
        context.processPendingChanges()
        #expect(studio.films.map(\.title) == ["a"])
    }

    @Test("delete the models that a context holds")
    func deletions() throws {
        let container = try container()
        let context = ModelContext(container)
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        let other = try self.film("a", in: container)
        other.modelContext?.delete(other)
        try other.modelContext?.save()
        context.processPendingChanges()
        #expect(film.isDeleted)
        #expect(film.title == "a")
    }

    @Test("by delete(model:where:) delete the models that a context holds")
    func batchDeletions() throws {
        let container = try container()
        let context = ModelContext(container)
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        let other = ModelContext(container)
        try other.delete(model: Film.self)
        try other.save()
        #expect(configuration.shelf.calls.contains("delete Film"))
        context.processPendingChanges()
        #expect(film.isDeleted)
    }

    @Test("change the results of a ResultsObserver", .timeLimit(.minutes(1)))
    @MainActor func results() async throws {
        let container = try container()
        let observer = try ResultsObserver<Film, Never>(
            sortBy: [SortDescriptor(\.title)], modelContext: container.mainContext)
        #expect(observer.results.isEmpty)
        let context = ModelContext(container)
        context.insert(Film(title: "b"))
        context.insert(Film(title: "a"))
        try context.save()
        while observer.results.isEmpty { await Task.yield() }
        #expect(observer.results.map(\.title) == ["a", "b"])
    }

    @Test("are counted by a HistoryObserver")
    func counting() throws {
        let container = try container()
        let context = ModelContext(container)
        context.insert(Studio(name: "S"))
        try context.save()
        let observer = try HistoryObserver(
            observedModels: [Film.self], modelContainer: container, isolation: nil)
        context.insert(Studio(name: "T"))
        try context.save()
        #expect(observer.eventCounter == 0)
        context.insert(Film(title: "a"))
        try context.save()
        #expect(observer.eventCounter == 1)
    }

    @Test("post remoteChange with the store's identifier", .timeLimit(.minutes(1)))
    func remoteChanges() async throws {
        let container = try container()
        let (identifiers, continuation) = AsyncStream<String>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: container, queue: nil
        ) { notification in
            let identifier = notification.userInfo?[ModelContainer.storeIdentifierKey]
            continuation.yield(identifier as? String ?? "none")
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let context = ModelContext(container)
        context.insert(Film(title: "a"))
        try context.save()
        #expect(await identifiers.first { _ in true } == "films.dictionary")
    }

    @Test("of several threads are all seen", .timeLimit(.minutes(1)))
    func threads() async throws {
        let container = try container()
        let context = ModelContext(container)
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        let observer = try HistoryObserver(modelContainer: container, isolation: nil)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let context = ModelContext(container)
                    for index in 0..<25 {
                        context.insert(Film(title: "\(worker).\(index)"))
                        do { try context.save() } catch { Issue.record(error) }
                    }
                }
            }
        }
        #expect(observer.eventCounter == 100)
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 101)
    }
}
