import Foundation
import SwiftData
import TestSupport
import Testing

/// The model of `ObjectStoreProcess`, which is a program without this module.
@Model final class Entry {
    var name: String
    var count: Int = 0
    var text: String?

    init(name: String) { self.name = name }
}

extension Entry {
    fileprivate var initial: String { String(name.prefix(1)) }
}

@MainActor
@Suite("Commits of another process")
struct OtherProcessTests {
    private let folder: StoreFileTests.Folder
    /// It owns the file.
    private let process: StoreProcess
    private let container: ModelContainer

    init() async throws {
        folder = try StoreFileTests.Folder()
        let url = folder.url.appending(path: "shared.store")
        process = try StoreProcess(opening: url.path)
        container = try ModelContainer(
            for: Entry.self, configurations: ModelConfiguration(url: url))
    }

    /// Runs a closure, and waits until a property that another one reads has changed.
    private func change(of read: () -> Void, after body: () throws -> Void) async rethrows {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        withObservationTracking(read) { continuation.yield() }
        try body()
        for await _ in stream { break }
        await Task { @MainActor in }.value
    }

    private func insert(_ name: String) throws {
        let reply = try process("insert \(name)")
        #expect(reply == "saved")
    }

    @Test("commits of another process are fetched, and reach an observer with sections")
    func sections() async throws {
        #expect(try process("owner") == "1")
        try insert("b1")
        let observer = try ResultsObserver<Entry, String>(
            sortBy: [SortDescriptor(\.name)], sectionBy: \.initial, modelContainer: container)
        #expect(observer.sections?.sectionNames == ["b"])
        try await change(of: { _ = observer.sections }, after: { try insert("a1") })
        #expect(observer.sections?.sectionNames == ["a", "b"])
        try await change(of: { _ = observer.results }, after: { try insert("b2") })
        #expect(observer.sections?.map { $0.map(\.name) } == [["a1"], ["b1", "b2"]])
        #expect(observer.results.map(\.name) == ["a1", "b1", "b2"])
    }

    @Test("a history observer counts commits of another process, and the history names it")
    func history() async throws {
        let observer = try HistoryObserver(
            observedModels: [Entry.self], modelContainer: container)
        try await change(of: { _ = observer.eventCounter }, after: { try insert("a") })
        #expect(observer.eventCounter == 1)
        let last = try ModelContext(container).fetchHistory(Transactions()).last
        #expect(last?.processIdentifier == "\(process.identifier)")
        #expect(last?.changes.count == 1)
        let later = try HistoryObserver(
            historyTokens: last.map { [$0.storeIdentifier: $0.token] },
            modelContainer: container)
        #expect(later.eventCounter == 0)
        try await change(of: { _ = later.eventCounter }, after: { try insert("b") })
        #expect(later.eventCounter == 1)
    }

    @Test("commits of another process are posted as remote changes, with the token")
    func remoteChange() async throws {
        let (tokens, continuation) = AsyncStream<DefaultHistoryToken?>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: container, queue: nil
        ) { note in
            continuation.yield(
                note.userInfo?[ModelContainer.historyTokenKey] as? DefaultHistoryToken)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try insert("a")
        for await token in tokens {
            let token = try #require(token)
            #expect(token.tokenValue?.values.map { $0 } == [1])
            try insert("b")
            let after = Transactions(predicate: #Predicate { $0.token > token })
            #expect(try ModelContext(container).fetchHistory(after).map(\.id) == [2])
            break
        }
    }

    @Test("observers continue after the owning process was killed and this one owns the file")
    func killedOwner() async throws {
        try insert("a")
        let observer = try ResultsObserver<Entry, Never>(modelContainer: container)
        let counter = try HistoryObserver(modelContainer: container)
        process.kill()
        let context = ModelContext(container)
        context.insert(Entry(name: "b"))
        try await change(of: { _ = observer.results }, after: { try context.save() })
        #expect(observer.results.map(\.name) == ["a", "b"])
        let next = try StoreProcess(opening: folder.url.appending(path: "shared.store").path)
        #expect(try next("owner") == "0")
        try await change(
            of: { _ = observer.results },
            after: {
                let reply = try next("insert c")
                #expect(reply == "saved")
            })
        #expect(observer.results.map(\.name) == ["a", "b", "c"])
        // Each observer has a turn of its own.
        while counter.eventCounter < 2 {
            await change(of: { _ = counter.eventCounter }, after: {})
        }
        #expect(counter.eventCounter == 2)
    }
}
