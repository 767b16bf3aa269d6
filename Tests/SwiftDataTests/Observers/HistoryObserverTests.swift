import Foundation
import SwiftData
import TestSupport
import Testing

@Suite("A history observer")
struct HistoryObserverTests {
    private func add(_ text: String, by author: String? = nil, _ container: ModelContainer) throws {
        let context = ModelContext(container)
        context.author = author
        context.insert(Note(text: text))
        try context.save()
    }

    @Test("a history observer counts the transactions of all contexts since it was made")
    func counting() throws {
        let container = try makeContainer()
        try add("before", container)
        let observer = try HistoryObserver(modelContainer: container)
        #expect(observer.eventCounter == 0)
        #expect(observer.modelContainer == container)
        let flag = Flag()
        withObservationTracking {
            _ = observer.eventCounter
        } onChange: {
            flag.isSet = true
        }
        try add("a", container)
        #expect(flag.isSet)
        try add("b", container)
        #expect(observer.eventCounter == 2)
    }

    @Test("a history observer counts only transactions that change the observed models")
    func models() throws {
        let container = try makeContainer()
        let observer = try HistoryObserver(
            observedModels: [Article.self, Tag.self], modelContainer: container)
        #expect(observer.observedModels.count == 2)
        try add("a", container)
        #expect(observer.eventCounter == 0)
        let context = ModelContext(container)
        context.insert(Tag(name: "t"))
        try context.save()
        #expect(observer.eventCounter == 1)
    }

    @Test("a history observer counts only transactions of the given authors")
    func authors() throws {
        let container = try makeContainer()
        let observer = try HistoryObserver(authors: ["x", "y"], modelContainer: container)
        #expect(observer.authors == ["x", "y"])
        for author in ["x", "z", nil, "y"] { try add("a", by: author, container) }
        #expect(observer.eventCounter == 2)
    }

    @Test("a history observer counts the transactions after its tokens")
    func tokens() throws {
        let container = try makeContainer()
        for author in ["x", "y", "x"] { try add("a", by: author, container) }
        let first = try #require(
            try ModelContext(container).fetchHistory(Transactions()).first)
        let tokens: [String: any HistoryToken] = [first.storeIdentifier: first.token]
        let observer = try HistoryObserver(historyTokens: tokens, modelContainer: container)
        #expect(observer.eventCounter == 2)
        let filtered = try HistoryObserver(
            historyTokens: tokens, authors: ["x"], modelContainer: container)
        #expect(filtered.eventCounter == 1)
        try add("a", by: "x", container)
        #expect(observer.eventCounter == 3)
        #expect(filtered.eventCounter == 2)
    }

    @Test("a history observer refuses tokens that are expired or of another store or type")
    func badTokens() throws {
        let container = try makeContainer()
        for _ in 0..<3 { try add("a", container) }
        let context = ModelContext(container)
        let first = try #require(try context.fetchHistory(Transactions()).first)
        let store = first.storeIdentifier
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try HistoryObserver(
                historyTokens: [UUID().uuidString: first.token], modelContainer: container)
        }
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try HistoryObserver(
                historyTokens: [store: OtherToken()], modelContainer: container)
        }
        try context.deleteHistory(Transactions())
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try HistoryObserver(historyTokens: [store: first.token], modelContainer: container)
        }
    }

    private struct OtherToken: HistoryToken {
        var tokenValue: Int?
        var id: Int { 1 }
        static func < (left: Self, right: Self) -> Bool { false }
    }

    @Test("a history observer counts on the actor that makes it, and ends with its last reference")
    @MainActor func isolation() async throws {
        let container = try makeContainer()
        weak var ended: HistoryObserver?
        do {
            let observer = try HistoryObserver(modelContainer: container)
            ended = observer
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            withObservationTracking {
                _ = observer.eventCounter
            } onChange: {
                continuation.yield()
            }
            try add("a", container)
            #expect(observer.eventCounter == 0)
            for await _ in stream { break }
            await Task { @MainActor in }.value
            #expect(observer.eventCounter == 1)
        }
        #expect(eventually { ended == nil })
    }

    @Test("a remote change is posted for every commit, with the store, its URL and the token")
    func remoteChange() async throws {
        let container = try makeContainer()
        let (stream, continuation) = AsyncStream<[String: any Sendable]>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: container, queue: nil
        ) { note in
            let info = note.userInfo ?? [:]
            continuation.yield([
                "store": info[ModelContainer.storeIdentifierKey] as? String,
                "place": info[ModelContainer.storeURLKey] as? URL,
                "token": info[ModelContainer.historyTokenKey] as? DefaultHistoryToken,
            ])
        }
        try add("a", container)
        try add("b", container)
        let all = try ModelContext(container).fetchHistory(Transactions())
        var seen: [DefaultHistoryToken] = []
        for await info in stream {
            #expect(info["store"] as? String == all[0].storeIdentifier)
            #expect(info["place"] as? URL == container.configurations.first?.url)
            if let token = info["token"] as? DefaultHistoryToken { seen.append(token) }
            if seen.count == 2 { break }
        }
        #expect(seen == all.map(\.token))
        NotificationCenter.default.removeObserver(observer)
    }

    @Test("a container that is released posts no changes and is not retained")
    func containerLifetime() throws {
        weak var ended: ModelContainer?
        do {
            let container = try makeContainer()
            ended = container
            _ = try HistoryObserver(modelContainer: container)
            try add("a", container)
        }
        #expect(eventually { ended == nil })
    }
}
