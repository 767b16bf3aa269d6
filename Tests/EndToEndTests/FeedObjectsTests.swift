import LarderClient
import TestSupport
import Testing

@Suite("A feed of the objects that match a predicate")
struct FeedObjectsTests {
    private let daemon: TestDaemon
    private let client: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
    }

    private func take(_ count: Int, from feed: ChangeFeed) throws -> [HistoryTransaction] {
        var transactions: [HistoryTransaction] = []
        while transactions.count < count {
            guard let event = try feed.nextEvent(timeout: .seconds(600)) else { break }
            if case .transaction(let transaction) = event { transactions.append(transaction) }
        }
        return transactions
    }

    private func article(_ title: String, _ wordCount: Int64) throws -> PersistentIdentifier {
        try client.insert("Article", ["title": .string(title), "wordCount": .int(wordCount)])
    }

    private static let long = Fetch("Article", where: .format("wordCount >= 5"))

    // MARK: - What is returned

    @Test(
        "a feed reports an object that enters, changes in, leaves or is deleted from its selection")
    func selection() throws {
        let feed = client.changes(
            after: client.server.token(after: 0), objects: [HistoryObjects(Self.long)])
        #expect(try feed.nextEvent() == .current(client.server.token(after: 0)))
        let object = try article("first", 1)
        _ = try client.update(object, ["title": "second"])
        #expect(try feed.nextEvent(timeout: .milliseconds(200)) == nil)
        _ = try client.update(object, ["wordCount": 7])
        let entered = try take(1, from: feed)
        #expect(entered.map(\.id) == [3])
        #expect(entered[0].objects[object]?["title"] == "second")
        #expect(entered[0].objects[object]?["wordCount"] == 7)
        #expect(entered[0].objects[object]?.version == 3)
        _ = try client.update(object, ["title": "third"])
        #expect(try take(1, from: feed)[0].objects[object]?["title"] == "third")
        _ = try client.update(object, ["wordCount": 2])
        let left = try take(1, from: feed)
        #expect(left.map(\.id) == [5] && left[0].objects.isEmpty)
        #expect(left[0].changes.map(\.identifier) == [object])
        _ = try client.update(object, ["title": "fourth"])
        #expect(try feed.nextEvent(timeout: .milliseconds(200)) == nil)
        _ = try client.delete(object)
        let deleted = try take(1, from: feed)
        #expect(deleted.map(\.id) == [7])
        #expect(deleted[0].changes.map(\.kind) == [.deleted])
    }

    @Test("a feed reports an object that matched only for a time to a later reader too")
    func past() throws {
        let object = try article("first", 1)
        _ = try client.update(object, ["wordCount": 7])
        _ = try client.update(object, ["title": "second"])
        _ = try client.update(object, ["wordCount": 2])
        _ = try client.update(object, ["title": "third"])
        let history = try client.history(objects: [HistoryObjects(Self.long)])
        // Whether it matched at first is not known later; that it did not at last is.
        #expect(history.transactions.map(\.id) == [1, 2, 3, 4])
        #expect(history.transactions.flatMap(\.objects).isEmpty)
        #expect(history.position == client.server.token(after: 5))
    }

    @Test("a feed can return identifiers or columns, and all objects without a predicate")
    func values() throws {
        let object = try article("first", 7)
        let category = try client.insert("Category", ["name": "one"])
        _ = try client.update(object, ["category": .object(category)])
        func objects(_ fetch: Fetch) throws -> [[PersistentIdentifier: Record]] {
            try client.history(objects: [HistoryObjects(fetch)]).transactions.map(\.objects)
        }
        var fetch = Self.long
        fetch.selection = .identifiers
        #expect(
            try objects(fetch).map { $0.mapValues(\.values) } == [
                [object: [:]], [:], [object: [:]],
            ])
        fetch.selection = .columns([
            QueryColumn(.format("category.name"), name: "category"),
            QueryColumn(.format("wordCount * 2"), name: "double"),
        ])
        let columns: [String: Value] = ["category": "one", "double": 14]
        #expect(
            try objects(fetch).map { $0.mapValues(\.values) } == [
                [object: columns], [:], [object: columns],
            ])
        let all = try client.history(
            objects: [HistoryObjects(Fetch("Article")), HistoryObjects(Fetch("Category"))])
        #expect(all.transactions.map(\.objects.count) == [1, 1, 2])
        #expect(
            all.transactions.flatMap(\.changes).allSatisfy {
                $0.object?.identifier == $0.identifier
            })
    }

    @Test(
        "a feed of selected objects keeps changes of other entities, and its filter applies to all")
    func filter() throws {
        _ = try article("short", 1)
        _ = try article("long", 9)
        _ = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_000])
        let objects = [HistoryObjects(Self.long)]
        #expect(try client.history(objects: objects).transactions.map(\.id) == [2, 3])
        let ofArticles = HistoryFilter(entities: ["Article"])
        let articles = try client.history(HistoryFetch(where: ofArticles), objects: objects)
        #expect(articles.transactions.map(\.id) == [2])
        let newest = try client.history(
            HistoryFetch(newestFirst: true, limit: 1), objects: objects)
        #expect(newest.transactions.map(\.id) == [3])
    }

    @Test("a feed returns a transaction of many objects whole, with its large values")
    func large() throws {
        let count = 1_500
        let text = Value.string(String(repeating: "x", count: 3_000))
        _ = try client.save(
            ChangeSet(
                (0..<count).map { number in
                    .insert(
                        PersistentIdentifier(temporary: "\(number)", entityName: "Article"),
                        values: ["title": text, "wordCount": .int(Int64(number % 10))])
                }))
        let history = try client.history(objects: [HistoryObjects(Self.long)])
        #expect(history.transactions.map(\.changes.count) == [count / 2])
        #expect(history.transactions.map(\.objects.count) == [count / 2])
        let feed = client.changes(
            after: client.server.token(after: 0), objects: [HistoryObjects(Self.long)])
        #expect(try take(1, from: feed)[0].objects.count == count / 2)
    }

    @Test("a feed returns a transaction once if few of its many objects match")
    func sparse() throws {
        let count = 6_000
        _ = try client.save(
            ChangeSet(
                (0..<count).map { number in
                    .insert(
                        PersistentIdentifier(temporary: "\(number)", entityName: "Article"),
                        values: ["title": "t", "wordCount": .int(Int64(number))])
                }))
        for (predicate, numbers) in [
            ("wordCount < 10", 0..<10), ("wordCount >= 5995", 5_995..<6_000),
            ("wordCount BETWEEN {3000, 3001}", 3_000..<3_002), ("wordCount < 0", 0..<0),
        ] {
            let wanted = HistoryObjects(Fetch("Article", where: .format(predicate)))
            let transactions = try client.history(objects: [wanted]).transactions
            #expect(transactions.count == (numbers.isEmpty ? 0 : 1))
            #expect(
                transactions.flatMap(\.changes).map { $0.object?["wordCount"] }
                    == numbers.map { .int(Int64($0)) })
        }
        // At both ends.
        let ends = HistoryObjects(
            Fetch("Article", where: .format("wordCount < 3 OR wordCount >= 5998")))
        #expect(try client.history(objects: [ends]).transactions.map(\.changes.count) == [5])
    }

    @Test("a feed returns objects of subentities with the properties of the fetched entity")
    func subentities() throws {
        let schema = """
            { "version": "1.0.0", "entities": [
                { "name": "Media", "attributes": [ { "name": "title", "type": "string" } ] },
                { "name": "Book", "parent": "Media",
                  "attributes": [ { "name": "pages", "type": "int64" } ] } ] }
            """
        let daemon = try TestDaemon(schema: schema)
        let client = try daemon.connect()
        let media = try client.insert("Media", ["title": "a"])
        let book = try client.insert("Book", ["title": "a", "pages": 9])
        let titled = Fetch("Media", where: .format("title == 'a'"))
        var transactions = try client.history(objects: [HistoryObjects(titled)]).transactions
        #expect(transactions.map { Array($0.objects.keys) } == [[media], [book]])
        _ = try client.update(book, ["title": "b"])
        let books = Fetch("Book", where: .format("pages > 5"))
        transactions = try client.history(objects: [HistoryObjects(books)]).transactions
        #expect(transactions.map(\.objects.count) == [0, 1, 1])
        #expect(transactions.last?.objects[book]?["pages"] == 9)
        #expect(throws: LarderError.self) {
            try client.history(objects: [HistoryObjects(titled), HistoryObjects(books)])
        }
    }

    @Test(
        "a feed refuses a fetch that is not a set of objects, and two fetches for the same objects")
    func refused() throws {
        func code(_ objects: [HistoryObjects]) -> ErrorCode? {
            do throws(LarderError) {
                _ = try client.changes(objects: objects).nextEvent(timeout: .seconds(600))
                return nil
            } catch {
                return error.code
            }
        }
        let fetch = Self.long
        var sorted = fetch
        sorted.sort = [SortKey("title")]
        var distinct = fetch
        distinct.isDistinct = true
        #expect(code([HistoryObjects(sorted)]) == .unsupported)
        #expect(code([HistoryObjects(distinct)]) == .unsupported)
        #expect(code([HistoryObjects(fetch, QueryParameters(limit: 3))]) == .unsupported)
        #expect(code([HistoryObjects(fetch), HistoryObjects(fetch)]) == .unsupported)
        #expect(code([HistoryObjects(Fetch("Nothing"))]) == .unknownEntity)
        #expect(
            code([HistoryObjects(Fetch("Article", where: .format("nothing == 1")))])
                == .unknownProperty)
        #expect(
            code([HistoryObjects(Fetch("Article", where: .format("wordCount ==")))])
                == .malformedPredicate)
        #expect(code(Array(repeating: HistoryObjects(fetch), count: 17)) == .resourceExhausted)
        let withoutChanges = HistoryFetch(includesChanges: false)
        #expect(throws: LarderError.self) {
            try client.history(withoutChanges, objects: [HistoryObjects(fetch)])
        }
        #expect(code([HistoryObjects(fetch)]) == nil)
    }

    @Test("a predicate that fails at run time ends a feed with its error")
    func failing() throws {
        let sum = QueryTerm.format("category.articles.@sum.wordCount > 5")
        let feed = client.changes(
            after: client.server.token(after: 0),
            objects: [HistoryObjects(Fetch("Article", where: sum))])
        let category = try client.insert("Category", ["name": "one"])
        func insert() throws {
            _ = try client.insert(
                "Article",
                ["title": "long", "wordCount": .int(.max), "category": .object(category)])
        }
        try insert()
        #expect(try take(2, from: feed).count == 2)
        try insert()
        #expect {
            try take(1, from: feed)
        } throws: { ($0 as? LarderError)?.code == .arithmeticOverflow }
    }

    // MARK: - Any commits

    private static let predicates: [(QueryTerm?, QueryParameters)] = [
        (.format("wordCount >= %@"), QueryParameters(arguments: [.value(5)])),
        (.format("title == $title"), QueryParameters(variables: ["title": .value("a1")])),
        (nil, QueryParameters()),
        (.format("category.name BEGINSWITH 'a'"), QueryParameters()),
    ]

    /// The effects of a random commit, as seen by queries before and after it.
    private struct Commit {
        let number: Int64
        let changed: Set<PersistentIdentifier>
        /// The changed objects that matched before or after, by predicate.
        let matched: [Set<PersistentIdentifier>]
    }

    @Test("a feed returns every change of an object that matched before or after it")
    func property() throws {
        var choice = SeededGenerator.fromEnvironment("objects of the feed")
        let objects = Self.predicates.map {
            HistoryObjects(Fetch("Article", where: $0.0), $0.1)
        }
        let start = client.server.token(after: 0)
        let feeds = objects.map { client.changes(after: start, objects: [$0]) }
        var copies = objects.map { _ in [PersistentIdentifier: Record]() }
        var commits: [Commit] = []
        let onlyArticles = HistoryFilter(entities: ["Article"])
        for _ in 0..<80 {
            guard let commit = try commit(objects, &choice) else { continue }
            commits.append(commit)
            guard Bool.random(using: &choice) else { continue }
            // The last predicate depends on other objects, whose changes a copy does not see.
            for index in objects.indices.dropLast() {
                let expected = try client.fetch(objects[index].fetch, objects[index].parameters)
                    .objects
                while let event = try feeds[index].nextEvent(timeout: .milliseconds(0)) {
                    if case .transaction(let transaction) = event {
                        transaction.apply(to: &copies[index])
                    }
                }
                try wait(for: feeds[index], after: commit.number, &copies[index])
                #expect(
                    copies[index]
                        == Dictionary(uniqueKeysWithValues: expected.map { ($0.identifier, $0) }),
                    "predicate \(index), seed \(choice.seed)")
            }
        }
        for (index, wanted) in objects.enumerated() {
            for newestFirst in [false, true] {
                let history = try client.history(
                    HistoryFetch(where: onlyArticles, newestFirst: newestFirst),
                    objects: [wanted])
                let returned = Dictionary(
                    uniqueKeysWithValues: history.transactions.map {
                        ($0.id, Set($0.changes.map(\.identifier)))
                    })
                for commit in commits {
                    let found = returned[commit.number] ?? []
                    #expect(
                        found.isSuperset(of: commit.matched[index])
                            && commit.changed.isSuperset(of: found),
                        "predicate \(index), transaction \(commit.number), seed \(choice.seed)")
                }
            }
        }
    }

    /// Applies the transactions of a feed until it has passed a transaction.
    private func wait(
        for feed: ChangeFeed, after number: Int64, _ copy: inout [PersistentIdentifier: Record]
    ) throws {
        // One that every feed returns.
        let last = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_000])
        while let event = try feed.nextEvent(timeout: .seconds(600)) {
            guard case .transaction(let transaction) = event else { continue }
            transaction.apply(to: &copy)
            if transaction.changes.contains(where: { $0.identifier == last }) { return }
        }
        Issue.record("the feed does not return transaction \(number)")
    }

    private func commit(
        _ objects: [HistoryObjects], _ choice: inout SeededGenerator
    ) throws -> Commit? {
        func matching() throws -> [Set<PersistentIdentifier>] {
            try objects.map {
                Set(try client.fetch($0.fetch, $0.parameters).objects.map(\.identifier))
            }
        }
        let before = try matching()
        guard let number = try client.save(try changes(&choice)).transaction else { return nil }
        let after = try matching()
        let history = try client.history(
            HistoryFetch(
                after: client.server.token(after: number - 1),
                where: HistoryFilter(entities: ["Article"])))
        let changed = Set(history.transactions.flatMap(\.changes).map(\.identifier))
        return Commit(
            number: number, changed: changed,
            matched: zip(before, after).map { $0.union($1).intersection(changed) })
    }

    private func changes(_ choice: inout SeededGenerator) throws -> ChangeSet {
        let articles = try client.fetch("Article").map(\.identifier)
        let categories = try client.fetch("Category").map(\.identifier)
        var changes: [Change] = []
        var used: Set<PersistentIdentifier> = []
        for number in 0..<Int.random(in: 1...4, using: &choice) {
            let temporary = { PersistentIdentifier(temporary: "n\(number)", entityName: $0) }
            var values: [String: Value] = [:]
            if Bool.random(using: &choice) {
                values["title"] = ["a1", "a2"].randomElement(using: &choice)
            }
            if Bool.random(using: &choice) {
                values["wordCount"] = .int(.random(in: 0...10, using: &choice))
            }
            if Bool.random(using: &choice) {
                values["category"] =
                    categories.randomElement(using: &choice).map { .object($0) } ?? .null
            }
            let article = articles.randomElement(using: &choice)
            switch (Int.random(in: 0...9, using: &choice), article) {
            case (0...4, let article?) where used.insert(article).inserted:
                changes.append(.update(article, ifVersion: nil, values: values))
            case (5...6, let article?) where used.insert(article).inserted:
                changes.append(.delete(article, ifVersion: nil))
            case (7, _):
                let name = "\(Bool.random(using: &choice) ? "a" : "b")\(choice.next())"
                if let category = categories.randomElement(using: &choice),
                    used.insert(category).inserted
                {
                    changes.append(
                        .update(category, ifVersion: nil, values: ["name": .string(name)]))
                } else {
                    changes.append(.insert(temporary("Category"), values: ["name": .string(name)]))
                }
            default:
                values["title"] = values["title"] ?? "a1"
                changes.append(.insert(temporary("Article"), values: values))
            }
        }
        return ChangeSet(changes)
    }
}

extension HistoryTransaction {
    /// Keeps a copy of the wanted objects up to date, as the documentation says.
    fileprivate func apply(to copy: inout [PersistentIdentifier: Record]) {
        for change in changes where change.identifier.entityName == "Article" {
            copy[change.identifier] = change.object
        }
    }
}
