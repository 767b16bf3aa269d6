import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("reading the history")
struct HistoryReadTests {
    private let library: Library
    private let reader: any StoreReader

    init() throws {
        library = try Library()
        reader = try library.store.makeReader()
        // 1: an insert of two; 2: an update by another author; 3: a delete.
        try save(
            .insert(.new("a", "Article"), values: ["title": "a"]),
            .insert(.new("b", "Article"), values: ["title": "b"]), author: "one")
        try save(
            .update(library.identifier("Article", 1), ifVersion: nil, values: ["title": "c"]),
            .insert(.new("t", "Tag"), values: [:]), author: "two")
        try save(.delete(library.identifier("Article", 2), ifVersion: nil), author: "")
    }

    private func save(_ changes: Change..., author: String) throws {
        let source = ChangeSource(
            userIdentifier: 7, processIdentifier: 8, clientName: "client of \(author)")
        _ = try library.writer.save([
            SaveRequest(ChangeSet(changes, author: author), from: source)
        ])[0].get()
    }

    private func token(_ number: Int64) -> HistoryToken {
        let store = library.store.storeDescription
        return HistoryToken(
            store: store.identifier, epoch: store.historyEpoch, number: number)
    }

    private func page(
        after: HistoryToken? = nil, from start: HistoryPosition? = nil,
        where filter: HistoryFilter = HistoryFilter(), newestFirst: Bool = false,
        includesChanges: Bool = true, countMax: Int = .max, bytesMax: Int = .max
    ) throws -> HistoryPage {
        try reader.history(
            HistoryPageRequest(
                after: after, from: start,
                HistorySelection(filter, in: library.store.storeDescription.schema),
                newestFirst: newestFirst, includesChanges: includesChanges, countMax: countMax,
                bytesMax: bytesMax), budget: ReadBudget())
    }

    /// For example `1 inserted Article 1-2`.
    private func lines(_ page: HistoryPage) -> [String] {
        page.transactions.flatMap { transaction in
            transaction.runs.map { run in
                let names = run.properties.joined(separator: ",")
                return "\(transaction.id) \(run.kind) \(run.entityName) \(run.keys)"
                    + (names.isEmpty ? "" : " \(names)")
            }
        }
    }

    @Test("reading the history returns all transactions with their runs, oldest first")
    func all() throws {
        let page = try page()
        #expect(
            lines(page) == [
                "1 inserted Article 1...2", "2 inserted Tag 1...1",
                "2 updated Article 1...1 title", "3 deleted Article 2...2",
            ])
        #expect(page.isLast)
        #expect(page.end == HistoryPosition(number: 4))
        let first = try #require(page.transactions.first)
        #expect(first.token == token(1))
        #expect(first.author == "one")
        #expect(first.source.clientName == "client of one")
        #expect(first.source.userIdentifier == 7)
        #expect(first.source.processIdentifier == 8)
        #expect(abs(first.timestamp.timeIntervalSinceNow) < 60)
    }

    @Test("reading the history can begin after a token, or with the newest transaction")
    func order() throws {
        #expect(try page(after: token(1)).transactions.map(\.id) == [2, 3])
        #expect(try page(after: token(3)).transactions.isEmpty)
        #expect(try page(newestFirst: true).transactions.map(\.id) == [3, 2, 1])
        #expect(try page(after: token(1), newestFirst: true).transactions.map(\.id) == [3, 2])
    }

    @Test("reading the history selects by author, client, entity, kind, property and time")
    func filters() throws {
        func selected(_ filter: HistoryFilter) throws -> [String] {
            lines(try page(where: filter))
        }
        let (one, two) = (
            ["1 inserted Article 1...2"],
            ["2 inserted Tag 1...1", "2 updated Article 1...1 title"]
        )
        #expect(try selected(HistoryFilter(authors: ["one"])) == one)
        #expect(try selected(HistoryFilter(authors: ["two", ""])).count == 3)
        #expect(try selected(HistoryFilter(excludedAuthors: ["one", ""])) == two)
        #expect(try selected(HistoryFilter(clientNames: ["client of two"])) == two)
        #expect(try selected(HistoryFilter(entities: ["Tag"])) == ["2 inserted Tag 1...1"])
        #expect(try selected(HistoryFilter(kinds: [.deleted])) == ["3 deleted Article 2...2"])
        #expect(
            try selected(HistoryFilter(kinds: [.updated], properties: ["title"]))
                == ["2 updated Article 1...1 title"])
        #expect(
            try selected(HistoryFilter(kinds: [.updated], properties: ["wordCount"])).isEmpty)
        #expect(try selected(HistoryFilter(until: .distantPast)).isEmpty)
        #expect(try selected(HistoryFilter(since: .distantPast)).count == 4)
        #expect(try selected(HistoryFilter(since: .distantFuture)).isEmpty)
    }

    @Test("reading the history can omit the changes of transactions")
    func withoutChanges() throws {
        let page = try page(where: HistoryFilter(entities: ["Tag"]), includesChanges: false)
        #expect(page.transactions.map(\.id) == [2])
        #expect(page.transactions.allSatisfy { $0.runs.isEmpty })
        #expect(try self.page(includesChanges: false).transactions.map(\.id) == [1, 2, 3])
    }

    @Test("reading the history rejects names that the schema does not have")
    func unknownNames() throws {
        func code(_ filter: HistoryFilter) -> ErrorCode? {
            do { _ = try page(where: filter) } catch { return (error as? LarderError)?.code }
            return nil
        }
        #expect(code(HistoryFilter(entities: ["Nothing"])) == .unknownEntity)
        #expect(code(HistoryFilter(properties: ["nothing"])) == .unknownProperty)
        #expect(
            code(HistoryFilter(entities: ["Tag"], properties: ["title"])) == .unknownProperty)
        #expect(
            code(HistoryFilter(authors: Array(repeating: "a", count: 1_001)))
                == .resourceExhausted)
    }

    @Test(
        "the history is divided into pages of any size, in both orders", arguments: [false, true])
    func pages(newestFirst: Bool) throws {
        for count in 0..<40 {
            // Runs that cannot be joined.
            let keys = stride(from: 1, through: 2 * (count % 7) + 1, by: 2)
            let tags = keys.flatMap { key in
                [
                    Change.insert(.new("t\(key)", "Tag"), values: [:]),
                    Change.insert(.new("p\(key)", "Person"), values: [:]),
                ]
            }
            _ = try library.writer.save([ChangeSet(tags)])[0].get()
            try library.saved(
                .update(
                    library.identifier("Article", 1), ifVersion: nil,
                    values: ["wordCount": .int(Int64(count)), "tags": .objects([])]))
        }
        let whole = try page(newestFirst: newestFirst)
        for (countMax, bytesMax) in [(1, .max), (3, .max), (.max, 1), (.max, 200), (2, 100)] {
            var (runs, numbers): ([String], [Int64]) = ([], [])
            var start: HistoryPosition?
            while true {
                let page = try page(
                    from: start, newestFirst: newestFirst, countMax: countMax,
                    bytesMax: bytesMax)
                runs += lines(page)
                numbers += page.transactions.dropLast(page.isLastPartial ? 1 : 0).map(\.id)
                if page.isLast { break }
                start = page.end
            }
            #expect(runs == lines(whole))
            #expect(numbers == whole.transactions.map(\.id))
        }
    }

    @Test("the history has the preserved values of deleted objects")
    func tombstones() throws {
        let schema = try Schema(entities: [
            Entity(
                name: "Item",
                attributes: [
                    Attribute(name: "code", type: .string, preservesValueOnDeletion: true),
                    Attribute(
                        name: "price", type: .decimal, isOptional: true,
                        preservesValueOnDeletion: true),
                    Attribute(name: "other", type: .int64, defaultValue: .int(0)),
                ])
        ])
        let items = try Library(schema: schema)
        try items.insert("Item", ["code": "a", "price": 1.5])
        try items.insert("Item", ["code": "b"])
        try items.saved(
            .delete(items.identifier("Item", 1), ifVersion: nil),
            .delete(items.identifier("Item", 2), ifVersion: nil))
        let page = try items.store.makeReader().history(
            HistoryPageRequest(
                from: HistoryPosition(number: 3),
                HistorySelection(HistoryFilter(), in: items.store.storeDescription.schema),
                bytesMax: .max), budget: ReadBudget())
        let transaction = try #require(page.transactions.first)
        #expect(
            transaction.changes.map(\.tombstone)
                == [["code": "a", "price": .decimal(1.5)], ["code": "b", "price": .null]])
        #expect(transaction.changes.map(\.identifier.permanentKey) == [1, 2])
        #expect(transaction.changes.count == 2)
    }

    @Test("a run of the history whose preserved values do not fit into a page is divided")
    func longTombstones() throws {
        let items = try Library(
            schema: Schema(entities: [
                Entity(
                    name: "Item",
                    attributes: [
                        Attribute(name: "code", type: .string, preservesValueOnDeletion: true),
                        Attribute(
                            name: "image", type: .data, isOptional: true,
                            preservesValueOnDeletion: true),
                        Attribute(
                            name: "thumbnail", type: .data, isOptional: true,
                            preservesValueOnDeletion: true),
                    ])
            ]))
        let image = Value.data(Data(repeating: 1, count: 6 << 20))
        for index in 1...20 {
            try items.insert(
                "Item",
                [
                    "code": .string("\(index)"), "image": index == 7 ? image : .null,
                    "thumbnail": index == 7 ? image : .null,
                ])
        }
        _ = try items.writer.save([
            ChangeSet((1...20).map { .delete(items.identifier("Item", $0), ifVersion: nil) })
        ])[0].get()
        let reader = try items.store.makeReader()
        var start = HistoryPosition(number: 21)
        var changes: [HistoryChange] = []
        var pages = 0
        while true {
            let page = try reader.history(
                HistoryPageRequest(
                    from: start,
                    HistorySelection(HistoryFilter(), in: items.store.storeDescription.schema),
                    bytesMax: 100), budget: ReadBudget())
            changes += page.transactions.flatMap(\.changes)
            pages += 1
            #expect(page.isLastPartial != page.isLast)
            if page.isLast { break }
            start = page.end
        }
        #expect(pages > 4)
        #expect(changes.map(\.identifier.permanentKey) == (1...20).map { $0 })
        #expect(changes.map { $0.tombstone["code"] } == (1...20).map { .string("\($0)") })
        // Some values of more than 8 MiB are left out.
        #expect(changes[6].tombstone["image"] == image)
        #expect(changes[6].tombstone["thumbnail"] == nil)
    }

    // MARK: - Tokens

    private func refusal(_ token: HistoryToken) -> ErrorCode? {
        do { _ = try page(after: token) } catch { return (error as? ReadFailure)?.larderCode }
        return nil
    }

    @Test("reading the history refuses tokens of other stores, of the future and other epochs")
    func tokens() throws {
        let (store, epoch) = (token(1).store, token(1).epoch)
        #expect(refusal(HistoryToken(store: UUID(), epoch: epoch, number: 1)) == .foreignToken)
        #expect(refusal(token(4)) == .futureToken)
        #expect(refusal(token(3)) == nil)
        #expect(
            refusal(HistoryToken(store: store, epoch: epoch + 1, number: 0)) == .futureToken)
        #expect(
            refusal(HistoryToken(store: store, epoch: epoch - 1, number: 9)) == .tokenExpired)
    }

    // MARK: - Deletion

    private func delete(_ deletion: HistoryDeletion, rowsMax: Int = 100) throws -> Int64 {
        let last = try library.writer.lastTransaction(of: deletion).get()
        var count: Int64 = 0
        while true {
            let step = try library.writer.deleteHistory(upTo: last, rowsMax: rowsMax).get()
            count += step.deletedCount
            if step.isLast { return count }
        }
    }

    @Test("deleting transactions before a token expires the tokens before it", arguments: [1, 100])
    func deletion(rowsMax: Int) throws {
        #expect(try delete(.upTo(token(2)), rowsMax: rowsMax) == 2)
        #expect(lines(try page()) == ["3 deleted Article 2...2"])
        #expect(refusal(token(1)) == .tokenExpired)
        #expect(refusal(token(0)) == .tokenExpired)
        #expect(try page(after: token(2)).transactions.map(\.id) == [3])
        #expect(try library.rows("SELECT count(*) FROM _change") == [[.integer(0)]])
        #expect(try reader.check(budget: ReadBudget()).findings.isEmpty)
        // A page of a reader that is late.
        #expect(throws: ReadFailure.self) { try page(from: HistoryPosition(number: 2)) }
    }

    @Test("the newest transaction is never deleted, so that its number is not used again")
    func newest() throws {
        #expect(try delete(.before(.distantFuture)) == 2)
        #expect(try delete(.keeping(0)) == 0)
        #expect(try page().transactions.map(\.id) == [3])
        #expect(try library.saved(.insert(.new("t", "Tag"), values: [:])).transaction == 4)
    }

    @Test("the retention of the history keeps the newest transactions, or those since a time")
    func retention() throws {
        #expect(try delete(.before(.distantPast)) == 0)
        #expect(try delete(.keeping(2)) == 1)
        #expect(try page().transactions.map(\.id) == [2, 3])
        #expect(
            HistoryRetention(ageMax: 60, countMax: 5).deletions(
                at: Date(timeIntervalSinceReferenceDate: 100))
                == [.before(Date(timeIntervalSinceReferenceDate: 40)), .keeping(5)])
    }

    @Test("a token of another store or of the future does not shorten the history")
    func deletionTokens() throws {
        let foreign = HistoryToken(store: UUID(), epoch: 0, number: 1)
        #expect(throws: LarderError.self) { try delete(.upTo(foreign)) }
        #expect(throws: LarderError.self) { try delete(.upTo(token(9))) }
        #expect(try page().transactions.count == 3)
    }
}

extension ReadFailure {
    fileprivate var larderCode: ErrorCode? {
        if case .failed(let error) = self { error.code } else { nil }
    }
}
