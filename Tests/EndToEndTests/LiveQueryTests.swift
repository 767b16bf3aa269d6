import FoundationEssentials
import Glibc
import LarderClient
import Observation
import TestSupport
import Testing

@Suite("Live queries of a served store")
struct LiveQueryTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private let writer: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        writer = try daemon.connect()
    }

    private func student(_ name: String, _ year: Int64) throws -> PersistentIdentifier {
        try writer.insert("Student", ["name": .string(name), "birthOfYear": .int(year)])
    }

    private func names(_ result: LiveResult?) -> [Value?]? { result?.rows.map { $0["name"] } }

    private func next(_ results: LiveResults) throws -> LiveResult? {
        try results.next(timeout: .seconds(600))
    }

    @Test("a live query returns the result of its fetch, and then each change of it")
    func changes() throws {
        let ann = try student("Ann", 2_001)
        let bob = try student("Bob", 1_990)
        let results = client.observe(
            Fetch("Student", where: .format("birthOfYear > 2000"), sort: [SortKey("name")]))
        #expect(names(try next(results)) == ["Ann"])
        // It begins to match.
        _ = try writer.update(bob, ["birthOfYear": 2_002])
        let begun = try next(results)
        #expect(names(begun) == ["Ann", "Bob"])
        #expect(begun?.inserted == [1])
        // It changes in place.
        _ = try writer.update(bob, ["visits": 3])
        let updated = try next(results)
        #expect(updated?.updated == [.init(from: 1, to: 1)])
        #expect(updated?.rows[1]["visits"] == 3)
        // It moves.
        _ = try writer.update(bob, ["name": "Aaron"])
        let moved = try next(results)
        #expect(names(moved) == ["Aaron", "Ann"])
        #expect(moved?.moved == [.init(from: 1, to: 0)])
        // It is deleted, and reported with its last values.
        try writer.delete(bob)
        let deleted = try next(results)
        #expect(names(deleted) == ["Ann"])
        #expect(deleted?.deleted.map(\.index) == [0])
        #expect(deleted?.deleted.first?.row["name"] == "Aaron")
        // It does not match any more.
        _ = try writer.update(ann, ["birthOfYear": 1_900])
        #expect(try next(results)?.rows.isEmpty == true)
        // Commits that do not concern it are not reported.
        _ = try writer.insert("Category", ["name": "News"])
        _ = try student("Old", 1_800)
        #expect(try results.next(timeout: .milliseconds(50)) == nil)
        results.cancel()
        #expect(try results.next() == nil)
    }

    @Test("a change of a related object moves the rows that refer to it in a live query")
    func relationships() throws {
        let (news, sport) = (
            try writer.insert("Category", ["name": "News"]),
            try writer.insert("Category", ["name": "Sport"])
        )
        for (title, category) in [("a", news), ("b", sport), ("c", news)] {
            _ = try writer.insert(
                "Article", ["title": .string(title), "category": .object(category)])
        }
        let sorted = client.observe(
            Fetch("Article", sort: [SortKey("category.name"), SortKey("title")]))
        let ofNews = client.observe(
            Fetch("Article", where: .format("category.name == \"News\"")))
        let busy = client.observe(
            Fetch(
                "Category", where: .format("ANY articles.title == \"b\" AND articles.@count > 0")))
        func titles(_ result: LiveResult?) -> [Value?]? { result?.rows.map { $0["title"] } }
        #expect(titles(try next(sorted)) == ["a", "c", "b"])
        #expect(titles(try next(ofNews)) == ["a", "c"])
        #expect(names(try next(busy)) == ["Sport"])
        _ = try writer.update(news, ["name": "Zoo"])
        #expect(titles(try next(sorted)) == ["b", "a", "c"])
        #expect(titles(try next(ofNews)) == [])
        let a = try #require(try client.fetch("Article", where: "title == \"a\"").first)
        _ = try writer.update(a.identifier, ["title": "b"])
        let both = try next(busy)
        #expect(Set(both?.rows.compactMap { $0["name"] } ?? []) == ["Sport", "Zoo"])
    }

    @Test("a live query with a limit has the first rows, and reads more when rows leave")
    func limit() throws {
        let students = try (0..<60).map { try student("\($0 + 100)", Int64($0)) }
        let results = client.observe(
            Fetch("Student", sort: [SortKey("birthOfYear")]), QueryParameters(limit: 5))
        #expect(names(try next(results)) == ["100", "101", "102", "103", "104"])
        for first in 0..<50 {
            try writer.delete(students[first])
            let result = try next(results)
            #expect(names(result) == (1...5).map { .string("\(first + $0 + 100)") })
            #expect(result?.deleted.map(\.index) == [0])
            #expect(result?.inserted == [4])
        }
    }

    @Test("a live query has the objects of subentities too")
    func subentities() throws {
        let daemon = try TestDaemon(
            schema: """
                { "version": "1.0.0", "entities": [
                  { "name": "Animal", "attributes": [ { "name": "name", "type": "string" } ],
                    "relationships": [
                      { "name": "owner", "destination": "Person", "inverse": "animals" } ] },
                  { "name": "Dog", "parent": "Animal", "attributes": [] },
                  { "name": "Person", "attributes": [ { "name": "name", "type": "string" } ],
                    "relationships": [
                      { "name": "animals", "destination": "Animal", "toMany": true,
                        "inverse": "owner" } ] } ] }
                """)
        let client = try daemon.connect()
        let animals = client.observe(Fetch("Animal", sort: [SortKey("name")]))
        let owners = client.observe(Fetch("Person", where: .format("ANY animals.name == \"b\"")))
        let count = client.observeValues(.count(entityName: "Animal", predicate: nil))
        #expect(try next(animals)?.rows.isEmpty == true)
        #expect(try next(owners)?.rows.isEmpty == true)
        #expect(try count.next(timeout: .seconds(600))?.map(\.values) == [[0]])
        let ann = try client.insert("Person", ["name": "Ann"])
        let dog = try client.insert("Dog", ["name": "a", "owner": .object(ann)])
        #expect(names(try animals.next(timeout: .seconds(600))) == ["a"])
        #expect(try count.next(timeout: .seconds(600))?.map(\.values) == [[1]])
        _ = try client.update(dog, ["name": "b"])
        #expect(names(try animals.next(timeout: .seconds(600))) == ["b"])
        #expect(names(try owners.next(timeout: .seconds(600))) == ["Ann"])
        try client.delete(dog)
        #expect(names(try animals.next(timeout: .seconds(600))) == [])
        #expect(names(try owners.next(timeout: .seconds(600))) == [])
        #expect(try count.next(timeout: .seconds(600))?.map(\.values) == [[0]])
    }

    @Test("a change of more than 10,000 objects is reported as a whole result")
    func manyObjects() throws {
        let news = try writer.insert("Category", ["name": "News"])
        let articles = (0..<10_001).map { number in
            Change.insert(
                PersistentIdentifier(temporary: "a\(number)", entityName: "Article"),
                values: ["title": "a", "category": .object(news)])
        }
        _ = try writer.save(ChangeSet(articles))
        let all = client.observe(
            Fetch(
                "Article", where: .format("category.name == \"News\""), selection: .identifiers))
        #expect(try next(all)?.rows.count == 10_001)
        let first = client.observe(
            Fetch("Article", where: .format("category.name == \"News\"")),
            QueryParameters(limit: 1))
        let count = client.observeValues(
            .count(entityName: "Article", predicate: .format("category.name == \"News\"")))
        let wait = Duration.seconds(30)
        #expect(try next(first)?.rows.count == 1)
        #expect(try count.next(timeout: wait)?.map(\.values) == [[10_001]])
        _ = try writer.update(news, ["name": "Old"])
        #expect(try next(all)?.rows.isEmpty == true)
        #expect(try next(first)?.rows.isEmpty == true)
        #expect(try count.next(timeout: wait)?.map(\.values) == [[0]])
    }

    @Test("an observer that joins a query of the time gets its result and changes that fit it")
    func time() throws {
        for number in 0..<3 { _ = try student("\(number)", 2_000) }
        let moment = Date().addingTimeInterval(0.5)
        let fetch = Fetch("Student", where: .format("now() > %@"), sort: [SortKey("name")])
        let parameters = QueryParameters(arguments: [.value(.date(moment))])
        let first = client.observe(fetch, parameters)
        #expect(try next(first)?.rows.isEmpty == true)
        #expect(eventually { Date() > moment })
        let second = client.observe(fetch, parameters)
        #expect(names(try next(second)) == ["0", "1", "2"])
        _ = try student("1b", 2_000)
        #expect(names(try next(second)) == ["0", "1", "1b", "2"])
        while let result = try next(first) {
            if names(result) == ["0", "1", "1b", "2"] { break }
        }
    }

    @Test("live counts and aggregates are reported when they change")
    func values() throws {
        let counts = client.observeValues(
            .count(entityName: "Student", predicate: .format("birthOfYear > 10")))
        let groups = client.observeValues(
            .aggregate(
                Aggregate(
                    "Student", groupBy: ["birthOfYear"], [.count], sort: [SortKey("birthOfYear")])))
        func values(_ rows: [Row]?) -> [[Value]]? { rows?.map(\.values) }
        let wait = Duration.seconds(30)
        #expect(values(try counts.next(timeout: wait)) == [[0]])
        #expect(values(try groups.next(timeout: wait)) == [])
        _ = try student("a", 5)
        #expect(values(try groups.next(timeout: wait)) == [[5, 1]])
        let other = try student("b", 20)
        #expect(values(try counts.next(timeout: wait)) == [[1]])
        #expect(values(try groups.next(timeout: wait)) == [[5, 1], [20, 1]])
        _ = try writer.update(other, ["name": "c"])
        #expect(try counts.next(timeout: .milliseconds(50)) == nil)
    }

    @Test("a query that cannot be observed is refused with its reason")
    func badInput() throws {
        func code(_ fetch: Fetch, _ parameters: QueryParameters = QueryParameters()) -> ErrorCode? {
            do throws(LarderError) {
                _ = try client.observe(fetch, parameters).next()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(Fetch("Teacher")) == .unknownEntity)
        #expect(code(Fetch("Student", where: .format("nme == 1"))) == .unknownProperty)
        #expect(code(Fetch("Student", where: .format("name =="))) == .malformedPredicate)
        #expect(code(Fetch("Student"), QueryParameters(offset: 1)) == .unsupported)
        #expect(
            code(Fetch("Student", where: .format("name == %@")), QueryParameters())
                == .malformedPredicate)
    }

    @Test("a predicate that fails at run time ends a live query with its error")
    func failure() throws {
        let results = client.observe(
            Fetch("Category", where: .format("articles.@sum.wordCount > 5")))
        #expect(try next(results)?.rows.isEmpty == true)
        let news = try writer.insert("Category", ["name": "News"])
        let article: [String: Value] = [
            "title": "a", "wordCount": .int(.max), "category": .object(news),
        ]
        _ = try writer.insert("Article", article)
        #expect(names(try next(results)) == ["News"])
        _ = try writer.insert("Article", article)
        #expect {
            _ = try results.next(timeout: .seconds(600))
        } throws: { ($0 as? LarderError)?.code == .arithmeticOverflow }
        #expect(try results.next() == nil)
    }

    @Test("a live value that fails at run time ends its observer alone")
    func failureOfValues() throws {
        let sums = client.observeValues(
            .aggregate(Aggregate("Article", [.init(.sum, "wordCount")])))
        let counts = client.observeValues(.count(entityName: "Article", predicate: nil))
        #expect(try sums.next(timeout: .seconds(600)) != nil)
        #expect(try counts.next(timeout: .seconds(600))?.map(\.values) == [[0]])
        for count: Int64 in 1...2 {
            _ = try writer.insert("Article", ["title": "a", "wordCount": .int(.max)])
            #expect(try counts.next(timeout: .seconds(600))?.map(\.values) == [[.int(count)]])
            guard count == 2 else {
                #expect(try sums.next(timeout: .seconds(600))?.map(\.values) == [[.int(.max)]])
                continue
            }
            #expect {
                _ = try sums.next(timeout: .seconds(600))
            } throws: { ($0 as? LarderError)?.code == .arithmeticOverflow }
        }
        #expect(try sums.next() == nil)
    }

    @Test("a live query gets the difference after its history was deleted while it was away")
    func historyDeletedMeanwhile() throws {
        let (ann, bob) = (try student("Ann", 1), try student("Bob", 2))
        let results = client.observe(Fetch("Student", sort: [SortKey("name")]))
        #expect(names(try next(results)) == ["Ann", "Bob"])
        #expect(daemon.stop() == 0)
        try daemon.start()
        try writer.delete(ann)
        _ = try student("Cid", 3)
        _ = try writer.deleteHistory(.keeping(1))
        _ = try writer.update(bob, ["name": "Dan"])
        var result: LiveResult?
        repeat {
            result = try next(results)
        } while names(result).map { $0 != ["Cid", "Dan"] } ?? false
        #expect(names(result) == ["Cid", "Dan"])
    }

    @Test("a live query gets the difference to its last result after a restart")
    func restart() throws {
        let (ann, bob) = (try student("Ann", 1), try student("Bob", 2))
        let results = client.observe(Fetch("Student", sort: [SortKey("name")]))
        #expect(names(try next(results)) == ["Ann", "Bob"])
        #expect(daemon.stop() == 0)
        try daemon.start()
        try writer.delete(ann)
        _ = try writer.update(bob, ["visits": 1])
        _ = try student("Cid", 3)
        var result: LiveResult?
        repeat {
            result = try next(results)
        } while names(result).map { $0 != ["Bob", "Cid"] } ?? false
        #expect(names(result) == ["Bob", "Cid"])
    }

    @Test("many observers on several connections get each change of their queries")
    func manyObservers() throws {
        let clients = try (0..<3).map { _ in try daemon.connect() }
        let observers = (0..<300).map { number in
            clients[number % 3].observe(
                Fetch("Student", where: .format("birthOfYear > %@"), sort: [SortKey("name")]),
                QueryParameters(arguments: [.value(.int(Int64(number % 5)))]))
        }
        for results in observers { #expect(try next(results)?.rows.isEmpty == true) }
        let kinds = try writer.statistics().first { $0.name == "liveQueries" }
        #expect(kinds?.value == 5)
        _ = try student("Ann", 3)
        for (number, results) in observers.enumerated() where number % 5 < 3 {
            #expect(names(try next(results)) == ["Ann"])
        }
        for (number, results) in observers.enumerated() where number % 5 >= 3 {
            #expect(try results.next(timeout: .zero) == nil)
        }
        for results in observers { results.cancel() }
        var count: Value?
        while count != 0 {
            count = try writer.statistics().first { $0.name == "liveQueries" }?.value
        }
    }

    // MARK: - Objects

    @Test("a live query returns objects that are longer than a frame, and their changes")
    func longObjects() throws {
        let daemon = try TestDaemon(starts: false)
        try daemon.start(["--max-object", "40"])
        let (client, writer) = (try daemon.connect(), try daemon.connect())
        let (long, longer) = (17 << 20, 18 << 20)
        func name(_ character: Character, _ count: Int) -> Value {
            .string(String(repeatingByteOf: character, count: count))
        }
        let short = try writer.insert("Student", ["name": "short", "birthOfYear": 1])
        let object = try writer.insert("Student", ["name": name("a", long), "birthOfYear": 2])
        let results = client.observe(Fetch("Student", sort: [SortKey("birthOfYear")]))
        let single = client.observe(object)
        func isNext(_ name: Value) throws -> Bool {
            try single.next(timeout: .seconds(600))?.record["name"] == name
        }
        func lengths(_ result: LiveResult?) -> [Int]? {
            result?.rows.map { row in
                if case .string(let text)? = row["name"] { text.utf8.count } else { -1 }
            }
        }
        #expect(lengths(try next(results)) == [5, long])
        #expect(try isNext(name("a", long)))
        _ = try writer.update(object, ["name": name("b", longer)])
        #expect(lengths(try next(results)) == [5, longer])
        #expect(try isNext(name("b", longer)))
        _ = try writer.update(short, ["name": name("c", long)])
        #expect(lengths(try next(results)) == [long, longer])
        try writer.delete(object)
        #expect(lengths(try next(results)) == [long])
        // Together they are longer than the longest object of the server.
        for number in 3...4 as ClosedRange<Int64> {
            _ = try writer.insert(
                "Student", ["name": name("d", long), "birthOfYear": .int(number)])
        }
        #expect {
            while try next(results) != nil {}
        } throws: { ($0 as? LarderError)?.code == .resourceExhausted }
    }

    @Test("an observed object ends with its last values and a mark when it is deleted")
    func object() throws {
        let ann = try student("Ann", 2_001)
        let object = client.observe(ann)
        #expect(try object.next(timeout: .seconds(600))?.record["name"] == "Ann")
        _ = try writer.update(ann, ["name": "Anna"])
        #expect(try object.next(timeout: .seconds(600))?.record["name"] == "Anna")
        try writer.delete(ann)
        let last = try object.next(timeout: .seconds(600))
        #expect(last?.isDeleted == true)
        #expect(last?.record["name"] == "Anna")
        #expect(try object.next() == nil)
        #expect {
            _ = try client.observe(ann).next(timeout: .seconds(600))
        } throws: { ($0 as? LarderError)?.code == .objectNotFound }
    }

    @Test("observable objects follow the store on their own actor")
    @MainActor
    func observable() async throws {
        let ann = try student("Ann", 2_001)
        let rows = ObservedRows(client.observe(Fetch("Student", sort: [SortKey("name")])))
        let object = ObservedObject(client.observe(ann))
        await change { rows.rows.count == 1 && object.record != nil }
        _ = try await writer.update(ann, ["name": "Anna"])
        _ = try student("Bob", 2_002)
        await change { rows.rows.map { $0["name"] } == ["Anna", "Bob"] }
        await change { object.record?["name"] == "Anna" }
        try await writer.delete(ann)
        await change { object.isDeleted && rows.rows.count == 1 }
        #expect(object.record?["name"] == "Anna")
        let failing = ObservedRows(client.observe(Fetch("Teacher")))
        await change { failing.error != nil }
        #expect(failing.error?.code == .unknownEntity)
    }

    /// Returns when a condition on observable properties holds.
    @MainActor
    private func change(until condition: @MainActor () -> Bool) async {
        while true {
            let changed = AsyncStream<Void>.makeStream()
            let holds = withObservationTracking {
                condition()
            } onChange: {
                changed.continuation.finish()
            }
            if holds { return }
            for await _ in changed.stream {}
        }
    }
}
