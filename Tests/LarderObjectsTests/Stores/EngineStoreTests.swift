import FoundationEssentials
import LarderModel
import Synchronization
import TestSupport
import Testing

@testable import LarderObjects

@Suite("Stores in memory", .serialized)
struct EngineStoreTests {
    @Test("observers of a store in memory are called before a save returns, and may use the store")
    func observingAtOnce() throws {
        let store = try EngineStore(.sample())
        let log = Mutex<[String]>([])
        let first = store.observeCommits { [weak store] transaction in
            log.withLock { $0.append("first \(transaction.id)") }
            // The commit of an observer is observed after the one that it observes.
            if transaction.id == 1 { _ = try? store?.insert("Bob") }
        }
        let second = store.observeCommits { [weak store] transaction in
            let count = try? store?.studentCount()
            log.withLock { $0.append("second \(transaction.id) of \(count ?? 0)") }
        }
        try store.insert("Ann")
        #expect(log.withLock { $0 } == ["first 1", "second 1 of 2", "first 2", "second 2 of 2"])
        withExtendedLifetime([first, second]) {}
    }

    @Test("many threads save to a store in memory, and observers see each commit once in order")
    func threads() async throws {
        let store = try EngineStore(.sample())
        let numbers = Mutex<[Int64]>([])
        let observation = store.observeCommits { transaction in
            numbers.withLock { $0.append(transaction.id) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for index in 0..<25 {
                        try store.insert("\(writer) \(index)")
                        _ = try store.studentCount()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(numbers.withLock { $0 } == Array(1...200))
        #expect(try store.studentCount() == 200)
        withExtendedLifetime(observation) {}
    }

    @Test("two stores in memory with the same identifier have separate objects")
    func separate() throws {
        let identifier = UUID()
        let stores = try (0..<2).map { _ in
            try EngineStore(.sample(), identifier: identifier)
        }
        try stores[0].insert("Ann")
        #expect(try stores[1].studentCount() == 0)
        #expect(stores[1].identifier == identifier)
    }

    @Test("300 stores in memory are released, and leave no descriptors or files")
    func manyStores() throws {
        let schema = try Schema.sample()
        weak var last: EngineStore?
        func use() throws {
            let store = try EngineStore(schema)
            last = store
            let observation = store.observeCommits { _ in }
            try store.insert("Ann", "Bob")
            #expect(try store.studentCount() == 2)
            withExtendedLifetime(observation) {}
        }
        for _ in 0..<30 { try use() }
        let before = try ProcessResources.now()
        for _ in 0..<300 {
            try use()
            // A thread that delivers a commit may have it for a moment.
            #expect(eventually { last == nil })
        }
        #expect(try before.leak(after: 300) == nil)
    }

    @Test("300 stores in memory can be open at the same time")
    func openStores() throws {
        let schema = try Schema.sample()
        let stores = try (0..<300).map { _ in try EngineStore(schema) }
        for store in stores { try store.insert("Ann") }
        for store in stores { #expect(try store.studentCount() == 1) }
    }
}
