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

    @Test("saves in a custom store refresh the models of a following context")
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

    @Test("saves in a custom store refresh the lists that a context holds")
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

    @Test("deletions in a custom store delete the models that a context holds")
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

    @Test("delete(model:where:) in a custom store deletes the models that a context holds")
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

    @Test(
        "saves in a custom store change the results of a ResultsObserver", .timeLimit(.minutes(10)))
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

    @Test("a HistoryObserver counts the saves in a custom store")
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

    private func save(
        _ title: String, by author: String? = nil, in container: ModelContainer
    ) throws {
        let context = ModelContext(container)
        context.author = author
        context.insert(Film(title: title))
        try context.save()
    }

    private func observer(
        after token: some HistoryToken, of models: [any PersistentModel.Type] = [],
        authors: Set<String> = [], _ container: ModelContainer
    ) throws -> HistoryObserver {
        try HistoryObserver(
            historyTokens: [configuration.name: token], observedModels: models, authors: authors,
            modelContainer: container, isolation: nil)
    }

    @Test("a HistoryObserver counts the saves after a token of a custom store")
    func countingAfterTokens() throws {
        let container = try container()
        for author in ["ada", "bob", nil] { try save("a", by: author, in: container) }
        let context = ModelContext(container)
        context.insert(Studio(name: "S"))
        try context.save()
        let first = DictionaryToken(tokenValue: 1)
        let all = try observer(after: first, container)
        #expect(all.eventCounter == 3)
        #expect(try observer(after: first, of: [Film.self], container).eventCounter == 2)
        #expect(try observer(after: first, of: [Studio.self], container).eventCounter == 1)
        #expect(try observer(after: first, authors: ["bob", "ada"], container).eventCounter == 1)
        #expect(try observer(after: DictionaryToken(tokenValue: 4), container).eventCounter == 0)
        try save("b", in: container)
        #expect(all.eventCounter == 4)
    }

    @Test("a HistoryObserver counts the saves of a custom store that cannot select transactions")
    func countingWithoutPredicates() throws {
        let container = try container()
        for title in ["a", "b", "c"] { try save(title, in: container) }
        let refusals: [any Error] = [
            DataStoreError.preferInMemoryFilter, DataStoreError.invalidPredicate,
            SwiftDataError.unsupportedPredicate,
        ]
        for refusal in refusals {
            configuration.shelf.historyFailure = refusal
            let observer = try observer(after: DictionaryToken(tokenValue: 1), container)
            #expect(observer.eventCounter == 2)
        }
        configuration.shelf.historyFailure = SwiftDataError.historyTokenExpired
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try observer(after: DictionaryToken(tokenValue: 1), container)
        }
    }

    @Test("a HistoryObserver counts the saves after a token of a wrapped default store")
    func countingInDefaultStore() throws {
        let schema = Schema([Studio.self, Film.self])
        let store = try makeDefaultStore(schema)
        let container = try ModelContainer(
            for: schema, configurations: [PassingConfiguration(store)])
        for title in ["a", "b", "c"] { try save(title, in: container) }
        let transactions = try ModelContext(container).fetchHistory(Transactions())
        #expect(transactions.count == 3)
        let token: DefaultStore.TokenType = transactions[0].token
        func observe() throws -> HistoryObserver {
            try HistoryObserver(
                historyTokens: [store.identifier: token], modelContainer: container,
                isolation: nil)
        }
        let observer = try observe()
        #expect(observer.eventCounter == 2)
        try save("d", in: container)
        #expect(observer.eventCounter == 3)
        try ModelContext(container).deleteHistory(Transactions())
        #expect(try ModelContext(container).fetchHistory(Transactions()).isEmpty)
        #expect(throws: SwiftDataError.historyTokenExpired) { try observe() }
    }

    @Test("a HistoryObserver refuses a token that a custom store does not have")
    func foreignTokens() throws {
        let container = try container()
        try save("a", in: container)
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try observer(after: try #require(try token()), container)
        }
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try HistoryObserver(
                historyTokens: ["another": DictionaryToken(tokenValue: 1)],
                modelContainer: container, isolation: nil)
        }
        let file = FileManager.default.temporaryDirectory.appending(
            path: "larder-\(UUID().uuidString)")
        let minimal = try ModelContainer(
            for: Trip.self, configurations: MinimalStore.Configuration(fileURL: file))
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try HistoryObserver(
                historyTokens: [file.lastPathComponent: DictionaryToken(tokenValue: 1)],
                modelContainer: minimal, isolation: nil)
        }
    }

    /// A token of Larder's.
    private func token() throws -> DefaultHistoryToken? {
        let context = ModelContext(try makeArchive())
        context.insert(Parcel(code: "a"))
        try context.save()
        return try context.fetchHistory(Transactions()).last?.token
    }

    @Test(
        "a save in a custom store posts remoteChange with the store's identifier",
        .timeLimit(.minutes(10)))
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

    @Test("saves of several threads in a custom store are all seen", .timeLimit(.minutes(10)))
    func threads() async throws {
        let container = try container()
        let context = ModelContext(container)
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        let observer = try HistoryObserver(modelContainer: container, isolation: nil)
        let tokens = [configuration.name: DictionaryToken(tokenValue: 1)]
        // Observers that are made while others save.
        let later = await withTaskGroup(of: [HistoryObserver].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let context = ModelContext(container)
                    var observers: [HistoryObserver] = []
                    for index in 0..<25 {
                        context.insert(Film(title: "\(worker).\(index)"))
                        do {
                            try context.save()
                            observers.append(
                                try HistoryObserver(
                                    historyTokens: tokens, modelContainer: container,
                                    isolation: nil))
                        } catch { Issue.record(error) }
                    }
                    return observers
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(observer.eventCounter == 100)
        #expect(later.map(\.eventCounter) == Array(repeating: 100, count: 100))
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 101)
    }
}
