import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("A store with snapshots of its own type")
struct DictionaryStoreTests {
    private let configuration = DictionaryConfiguration()
    private var shelf: Cupboard { configuration.shelf }

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Studio.self, Film.self]), configurations: [configuration])
    }

    /// Two films of a studio, and one of none.
    private func fill(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let studio = Studio(name: "S")
        context.insert(studio)
        for (title, minutes) in [("a", 10), ("b", 20), ("c", 30)] {
            let film = Film(title: title, minutes: minutes, studio: minutes > 10 ? studio : nil)
            film.genre = .essay
            film.released = Date(timeIntervalSinceReferenceDate: 7.5)
            film.source = Source(site: "a.org", rank: minutes)
            context.insert(film)
        }
        try context.save()
        shelf.calls = []
        shelf.requests = []
    }

    private let byTitle = FetchDescriptor<Film>(sortBy: [SortDescriptor(\.title)])

    @Test("a context makes a custom store's snapshots from backing data")
    func making() throws {
        let container = try container()
        try fill(container)
        let film = try #require(shelf.rows.values.first { $0.title == "b" })
        #expect(film.minutes == 20)
        #expect(film.genre == "essay")
        #expect(film.released == Date(timeIntervalSinceReferenceDate: 7.5))
        #expect(film.source == Source(site: "a.org", rank: 20))
        let studio = try #require(shelf.rows.values.first { $0.name == "S" })
        #expect(film.studio == studio.persistentIdentifier)
        #expect(studio.films?.count == 2)
        #expect(shelf.rows.keys.allSatisfy { !$0.isTemporary })
    }

    @Test("values are read from the encoded snapshot by the names of the properties")
    func reading() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        let films = try context.fetch(byTitle)
        #expect(films.map(\.title) == ["a", "b", "c"])
        #expect(films.map(\.minutes) == [10, 20, 30])
        #expect(films.allSatisfy { $0.genre == .essay })
        #expect(films[1].released == Date(timeIntervalSinceReferenceDate: 7.5))
        #expect(films[1].source == Source(site: "a.org", rank: 20))
        #expect(films.map { $0.studio?.name } == [nil, "S", "S"])
        #expect(films[1].studio?.films.count == 2)
        films[1].released = nil
        films[1].source = nil
        try context.save()
        let again = try ModelContext(container).fetch(byTitle)
        #expect(again[1].released == nil)
        #expect(again[1].source == nil)
    }

    @Test("a save request has updated objects whole, and deleted ones as the store has them")
    func requests() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        context.author = "ada"
        let films = try context.fetch(byTitle)
        films[0].minutes = 11
        context.delete(films[1])
        try context.save()
        let request = try #require(shelf.requests.last)
        #expect(request.editingState.author == "ada")
        #expect(request.deleted.map(\.title) == ["b"])
        #expect(request.deleted.first?.studio != nil)
        // The studio has lost a film.
        #expect(Set(request.updated.compactMap { $0.title ?? $0.name }) == ["a", "S"])
        let updated = try #require(request.updated.first { $0.title == "a" })
        #expect(updated.minutes == 11)
        #expect(updated.genre == "essay")
        #expect(request.updated.first { $0.name == "S" }?.films?.count == 1)
    }

    @Test("fetchCount and fetchIdentifiers of a custom store are called, and no object is read")
    func counts() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 3)
        #expect(try context.fetchIdentifiers(FetchDescriptor<Film>()).count == 3)
        #expect(shelf.calls == ["fetchCount Film", "fetchIdentifiers Film"])
        shelf.leavesPredicates = false
        let long = FetchDescriptor<Film>(predicate: #Predicate { $0.minutes > 10 })
        #expect(try context.fetchCount(long) == 2)
        #expect(try context.fetchIdentifiers(long).count == 2)
        #expect(shelf.calls.suffix(2) == ["fetchCount Film", "fetchIdentifiers Film"])
        shelf.leavesPredicates = true
        #expect(try context.fetchCount(long) == 2)
        let sorted = try context.fetchIdentifiers(byTitle)
        #expect(sorted == (try context.fetch(byTitle)).map(\.persistentModelID))
    }

    @Test("fetchCount calls fetchIdentifiers if the context has unsaved changes")
    func countsWithChanges() throws {
        let container = try container()
        try fill(container)
        shelf.leavesPredicates = false
        let context = ModelContext(container)
        let films = try context.fetch(byTitle)
        films[0].minutes = 100
        context.delete(films[1])
        context.insert(Film(title: "d", minutes: 40))
        context.insert(Film(title: "e", minutes: 1))
        shelf.calls = []
        var long = FetchDescriptor<Film>(predicate: #Predicate { $0.minutes > 10 })
        #expect(try context.fetchCount(long) == 3)
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 4)
        long.fetchLimit = 1
        #expect(try context.fetchCount(long) == 1)
        long.fetchOffset = 2
        #expect(try context.fetchCount(long) == 1)
        #expect(Set(shelf.calls) == ["fetchIdentifiers Film"])
    }

    @Test("delete(model:where:) is passed to the store at the save, if it is the only change")
    func batchDeletion() throws {
        let container = try container()
        try fill(container)
        shelf.leavesPredicates = false
        let context = ModelContext(container)
        context.author = "ada"
        try context.delete(model: Film.self, where: #Predicate { $0.minutes < 20 })
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 2)
        #expect(shelf.rows.count == 4)
        #expect(!shelf.calls.contains("delete Film"))
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Film>()) == 3)
        try context.delete(model: Film.self, where: #Predicate { $0.minutes < 20 })
        try context.save()
        #expect(shelf.calls.filter { $0 == "delete Film" }.count == 1)
        #expect(shelf.requests.isEmpty)
        #expect(shelf.rows.values.compactMap(\.title).sorted() == ["b", "c"])
        #expect(shelf.transactions.last?.author == "ada")
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Film>()) == 2)
    }

    @Test("delete(model:where:) is part of save if other objects change or match by then")
    func batchDeletionInSave() throws {
        let container = try container()
        try fill(container)
        shelf.leavesPredicates = false
        let context = ModelContext(container)
        // The studio loses a film.
        try context.delete(model: Film.self, where: #Predicate { $0.minutes == 20 })
        try context.save()
        #expect(shelf.requests.last?.deleted.map(\.title) == ["b"])
        #expect(shelf.requests.last?.updated.map(\.name) == ["S"])
        try context.delete(model: Film.self, where: #Predicate { $0.minutes < 20 })
        let other = ModelContext(container)
        other.insert(Film(title: "new", minutes: 1))
        try other.save()
        try context.save()
        #expect(shelf.requests.last?.deleted.map(\.title) == ["a"])
        #expect(!shelf.calls.contains("delete Film"))
        #expect(shelf.rows.values.compactMap(\.title).sorted() == ["c", "new"])
        // The store may refuse a predicate.
        shelf.leavesPredicates = true
        try context.delete(model: Film.self, where: #Predicate { $0.minutes < 20 })
        try context.save()
        #expect(shelf.rows.values.compactMap(\.title).sorted() == ["c"])
    }

    @Test("an identifier of a custom store has the store's own text, also after JSON")
    func storeIdentifier() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        let identifier = try #require(try context.fetch(byTitle).first).persistentModelID
        #expect(identifier.storeIdentifier == "films.dictionary")
        let json = try JSONEncoder().encode(identifier)
        #expect(String(decoding: json, as: UTF8.self).contains("films.dictionary"))
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: json)
        #expect(decoded == identifier)
        #expect((context.model(for: decoded) as? Film)?.title == "a")
    }

    @Test("model(for:) and relationships are read by cachedSnapshots, or by a set of identifiers")
    func faults() throws {
        let container = try container()
        try fill(container)
        let identifier = try #require(
            shelf.rows.values.first { $0.title == "b" }?.persistentIdentifier)
        let first = ModelContext(container)
        #expect((first.model(for: identifier) as? Film)?.title == "b")
        #expect(shelf.calls.allSatisfy { $0.hasPrefix("cachedSnapshots") })
        shelf.isCaching = false
        shelf.calls = []
        let second = ModelContext(container)
        let film = second.model(for: identifier) as? Film
        #expect(film?.studio?.name == "S")
        #expect(shelf.calls.contains("fetch Film"))
        #expect(shelf.calls.contains("fetch Studio"))
    }

    @Test("a save reads the objects that it concerns from the store together")
    func reads() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        for film in try context.fetch(FetchDescriptor<Film>()) { film.minutes += 1 }
        shelf.calls = []
        try context.save()
        #expect(shelf.calls == ["cachedSnapshots 3", "save [0, 3, 0]"])
    }

    @Test("snapshotsToReregister replace the values that the context has sent")
    func reregistering() throws {
        let context = ModelContext(try container())
        shelf.normalize = { $0.title = $0.title?.uppercased() }
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        #expect(film.title == "A")
        film.title = "b"
        try context.save()
        #expect(film.title == "B")
        #expect(!context.hasChanges)
    }

    @Test("a context calls the store with its own editing state, which ends with the context")
    func states() throws {
        func use() throws {
            let container = try container()
            let own = shelf.states
            #expect(own.count == 1)
            try fill(container)
            #expect(shelf.states == own)
            let contexts = [ModelContext(container), ModelContext(container)]
            let states = contexts.map(\.editingState.id)
            #expect(shelf.states == own.union(states))
            for (context, state) in zip(contexts, states) {
                context.insert(Film(title: "a"))
                try context.save()
                #expect(shelf.requests.last?.editingState.id == state)
            }
        }
        try use()
        // The queue that posts notifications of remote changes keeps a container for a moment.
        #expect(eventually { shelf.states.isEmpty })
    }

    @Test("the notification didSave has the history token that the store has returned")
    func historyTokens() throws {
        let context = ModelContext(try container())
        let seen = SeenTokens()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { seen.tokens = $0.userInfo?[ModelContext.NotificationKey.historyTokens] }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.insert(Film(title: "a"))
        try context.save()
        let tokens = seen.tokens as? [String: any HistoryToken]
        #expect(tokens?["films.dictionary"] as? DictionaryToken == DictionaryToken(tokenValue: 1))
    }

    @Test("erase() of a container erases its custom store, and models are deleted")
    func erasing() throws {
        let container = try container()
        try fill(container)
        let context = ModelContext(container)
        let film = try #require(try context.fetch(byTitle).first)
        try container.erase()
        context.processPendingChanges()
        #expect(film.isDeleted)
        #expect(film.title == "a")
        #expect(shelf.rows.isEmpty)
    }

    private final class SeenTokens: @unchecked Sendable { var tokens: Any? }
}
