import Dispatch
import FoundationEssentials
import LarderModel
import LarderTesting
import Synchronization
import Testing

@testable import LarderObjects

/// The behaviour that both stores share.
@Suite("Stores of objects")
struct ObjectStoreTests {
    enum Kind: CaseIterable {
        case engine
        case client
    }

    static func makeStore(_ kind: Kind) throws -> any ObjectStore {
        switch kind {
        case .engine: try EngineStore(.sample())
        case .client: try ClientStore(TestStore(.sample()).client)
        }
    }

    @Test(
        "an object store finds saved objects by query and by identifier, and counts them",
        arguments: Kind.allCases)
    func reading(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        let inserted = try store.insert("Ann", "Bob")
        #expect(try store.names() == ["Ann", "Bob"])
        #expect(try store.studentCount() == 2)
        let found = try store.objects(
            inserted + [.init(store: store.identifier, entityName: "Student", key: 99)],
            properties: ["name"])
        #expect(found.map(\.rowCount) == [2])
        #expect(try store.objects([], properties: nil).isEmpty)
        #expect(store.schema.entity(named: "Student") != nil)
    }

    @Test(
        "a snapshot of an object store has one state, whatever is saved meanwhile",
        arguments: Kind.allCases)
    func snapshot(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        let inserted = try store.insert("Ann")
        let result = try store.snapshot { snapshot in
            try store.insert("Bob")
            _ = try store.save(ChangeSet([.delete(inserted[0], ifVersion: nil)]))
            #expect(try snapshot.names() == ["Ann"])
            #expect(try snapshot.studentCount() == 1)
            #expect(try snapshot.objects(inserted, properties: nil).map(\.rowCount) == [1])
            #expect(snapshot.identifier == store.identifier)
            #expect(throws: LarderError.self) { try snapshot.insert("Eve") }
            return try store.names()
        }
        #expect(result == ["Bob"])
        #expect(try store.names() == ["Bob"])
    }

    @Test("queries that differ in their constants have their own results", arguments: Kind.allCases)
    func constants(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        try store.insert("Ann", "Bob")
        for name in ["Ann", "Bob", "Ann", "Eve"] {
            let query = Query.fetch(Fetch("Student", where: .format("name == '\(name)'")))
            let rows = try store.batches(query, QueryParameters()).reduce(0) { $0 + $1.rowCount }
            #expect(rows == (name == "Eve" ? 0 : 1))
        }
    }

    @Test("a store in memory reports the same errors of a request as a server")
    func errors() throws {
        let stores = try Kind.allCases.map(Self.makeStore)
        var errors: [[LarderError]] = []
        for store in stores {
            var found: [LarderError] = []
            func attempt(_ body: () throws(LarderError) -> Void) {
                do throws(LarderError) { try body() } catch { found.append(error) }
            }
            let parameters = QueryParameters()
            for predicate in ["nam == 1", "name ==", "age == 'x'"] {
                let query = Query.fetch(Fetch("Student", where: .format(predicate)))
                attempt { () throws(LarderError) in _ = try store.batches(query, parameters) }
            }
            attempt { () throws(LarderError) in
                _ = try store.batches(.fetch(Fetch("Nothing")), parameters)
            }
            let new = PersistentIdentifier(temporary: "new", entityName: "Student")
            for values: [String: Value] in [[:], ["name": .int(1)], ["nam": .string("x")]] {
                attempt { () throws(LarderError) in
                    _ = try store.save(ChangeSet([.insert(new, values: values)]))
                }
            }
            attempt { () throws(LarderError) in
                _ = try store.objects([new], properties: nil)
            }
            attempt { () throws(LarderError) in
                let fetch = HistoryFetch(where: HistoryFilter(entities: ["Nothing"]))
                _ = try store.history(fetch, objects: [])
            }
            errors.append(found)
        }
        #expect(errors[0].count == 9)
        for (left, right) in zip(errors[0], errors[1]) { #expect(left.code == right.code) }
    }

    @Test(
        "a save that is repeated with its key happens once, and another save with it is refused",
        arguments: Kind.allCases)
    func idempotency(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        let first = try store.insert("Ann", key: "k")
        #expect(try store.insert("Ann", key: "k") == first)
        #expect(throws: LarderError.self) { try store.insert("Bob", key: "k") }
        #expect(try store.names() == ["Ann"])
    }

    @Test(
        "observers of an object store get each commit once and in order", arguments: Kind.allCases)
    func observing(_ kind: Kind) async throws {
        let store = try Self.makeStore(kind)
        try store.insert("before")
        let (numbers, continuation) = AsyncStream<Int64>.makeStream()
        let observation = store.observeCommits { continuation.yield($0.id) }
        for index in 0..<20 { try store.insert("student \(index)") }
        var received: [Int64] = []
        for await number in numbers {
            received.append(number)
            if received.count == 20 { break }
        }
        #expect(received == Array(2...21))
        withExtendedLifetime(observation) {}
    }

    @Test("observers get any change if the history is deleted before they are called")
    func lostCommits() async throws {
        let store = try ClientStore(TestStore(.sample()).client)
        let others = CommitsOfOthers()
        others.observe([store])
        let (received, continuation) = AsyncStream<HistoryTransaction>.makeStream()
        let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isFirst = Mutex(true)
        let observation = store.observeCommits { transaction in
            continuation.yield(transaction)
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if waits {
                began.signal()
                end.wait()
            }
        }
        try store.insert("first")
        Self.wait(for: began)
        // More than the server sends to a client that does not read them.
        for index in 0..<100 { try store.insert("student \(index)") }
        try store.deleteHistory(.upTo(try store.currentToken()))
        end.signal()
        var last: HistoryTransaction?
        for await transaction in received {
            if last?.isAnyChange == true {
                #expect(transaction.runs.map(\.kind) == [.inserted])
                break
            }
            last = transaction
            guard transaction.isAnyChange else { continue }
            #expect(Set(transaction.runs.map(\.entityName)) == ["Student", "Book"])
            #expect(others.take().isOverflowed)
            try store.insert("last")
        }
        #expect(last?.isAnyChange == true)
        withExtendedLifetime(observation) {}
    }

    /// An asynchronous function cannot wait for a semaphore itself.
    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("a released observation of an object store is not called again", arguments: Kind.allCases)
    func endOfObservation(_ kind: Kind) async throws {
        let store = try Self.makeStore(kind)
        let (numbers, continuation) = AsyncStream<Int64>.makeStream()
        var first: (any AnyObject & Sendable)? = store.observeCommits { _ in
            Issue.record("the observation has ended")
        }
        _ = first
        first = nil
        let second = store.observeCommits { continuation.yield($0.id) }
        try store.insert("Ann")
        for await number in numbers {
            #expect(number == 1)
            break
        }
        withExtendedLifetime(second) {}
    }

    @Test("erasing an object store deletes all objects and the history", arguments: Kind.allCases)
    func erasing(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        let owner = PersistentIdentifier(temporary: "o", entityName: "Student")
        let book = PersistentIdentifier(temporary: "b", entityName: "Book")
        _ = try store.save(
            ChangeSet([
                .insert(owner, values: ["name": "Ann"]),
                .insert(book, values: ["title": "Emma", "owner": .object(owner)]),
            ]))
        try store.insert("Bob")
        try store.erase()
        #expect(try store.studentCount() == 0)
        #expect(try store.history(HistoryFetch(), objects: []).transactions.count == 1)
    }

    @Test(
        "the history of an object store has the transactions and the requested objects",
        arguments: Kind.allCases)
    func history(_ kind: Kind) throws {
        let store = try Self.makeStore(kind)
        let start = try store.currentToken()
        let inserted = try store.insert("Ann")
        let middle = try store.currentToken()
        try store.insert("Bob")
        let all = try store.history(
            HistoryFetch(after: start), objects: [HistoryObjects(Fetch("Student"))])
        #expect(all.transactions.map(\.id) == [1, 2])
        #expect(all.transactions.first?.objects.keys.map { $0 } == inserted)
        #expect(try store.currentToken() == all.position)
        #expect(try store.deleteHistory(.upTo(middle)) == 1)
        #expect(throws: LarderError.self) {
            try store.history(HistoryFetch(after: start), objects: [])
        }
    }

    @Test("objects that are too large for one reply are read in parts")
    func largeObjects() throws {
        let objects = (1...5).map {
            PersistentIdentifier(store: UUID(), entityName: "Book", key: $0)
        }
        var parts: [[PersistentIdentifier]] = []
        func read(_ part: [PersistentIdentifier], atMost count: Int) throws(LarderError) -> [Batch]
        {
            if part.count > count { throw LarderError(.resourceExhausted, "too large") }
            parts.append(part)
            return []
        }
        _ = try ObjectReads.batches(of: objects) { (part) throws(LarderError) in
            try read(part, atMost: 2)
        }
        #expect(parts.map(\.count) == [2, 1, 2] && parts.flatMap { $0 } == objects)
        #expect(throws: LarderError.self) {
            try ObjectReads.batches(of: objects) { (part) throws(LarderError) in
                try read(part, atMost: 0)
            }
        }
    }

    @Test("an object store for reading only rejects saves")
    func readOnly() throws {
        let server = try TestStore(.sample())
        for store: any ObjectStore in [
            try ClientStore(server.client, isReadOnly: true),
            try EngineStore(.sample(), isReadOnly: true),
        ] {
            #expect(store.isReadOnly)
            let error = #expect(throws: LarderError.self) { try store.insert("Ann") }
            #expect(error?.code == .readOnly)
        }
    }
}
