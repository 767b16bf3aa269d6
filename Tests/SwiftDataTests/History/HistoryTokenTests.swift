import Foundation
import SwiftData
import Testing

@Suite("A history token")
struct HistoryTokenTests {
    private func lastToken(_ container: ModelContainer) throws -> DefaultHistoryToken {
        let context = ModelContext(container)
        context.insert(Parcel(code: "a"))
        try context.save()
        return try #require(try context.fetchHistory(Transactions()).last).token
    }

    @Test("a history token has the number of a transaction by the identifier of the store")
    func value() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        let token = try lastToken(container)
        let store = try #require(try context.fetchHistory(Transactions()).first).storeIdentifier
        #expect(token.tokenValue == [store: 1])
        let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
        #expect(parcel.persistentModelID.storeIdentifier == store)
    }

    @Test("a history token is equal after a round trip as JSON, and has the same order")
    func json() throws {
        let container = try makeArchive()
        let first = try lastToken(container)
        let second = try lastToken(container)
        let data = try JSONEncoder().encode(first)
        let decoded = try JSONDecoder().decode(DefaultHistoryToken.self, from: data)
        #expect(decoded == first)
        #expect(decoded.hashValue == first.hashValue)
        #expect(decoded.id == first.id)
        #expect(decoded < second)
        #expect(second > decoded)
        #expect(!(decoded < first))
        let after = Transactions(predicate: #Predicate { $0.token > decoded })
        #expect(try ModelContext(container).fetchHistory(after).map(\.id) == [2])
    }

    @Test(
        "a history token is not decoded from malformed text",
        arguments: [
            "{}", "[]", "\"x\"", #"{"tokenValue":{"a":1}}"#,
            #"{"tokenValue":{"a":-1},"epochs":{"a":1}}"#,
            #"{"tokenValue":{"a":1},"epochs":{"b":1}}"#,
            #"{"tokenValue":{"a":"1"},"epochs":{"a":1}}"#,
            #"{"tokenValue":{"a":99999999999999999999},"epochs":{"a":1}}"#,
        ])
    func malformed(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
        }
    }

    @Test("a history token of another store is expired")
    func foreign() throws {
        let foreign = try lastToken(try makeArchive())
        let container = try makeArchive()
        _ = try lastToken(container)
        let after = Transactions(predicate: #Predicate { $0.token > foreign })
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try ModelContext(container).fetchHistory(after)
        }
    }

    @Test("a history token of a later state of the store is expired")
    func future() throws {
        let container = try makeArchive()
        let token = try lastToken(container)
        let text = String(decoding: try JSONEncoder().encode(token), as: UTF8.self)
        let store = try #require(token.tokenValue?.keys.first)
        let later = text.replacingOccurrences(of: "\"\(store)\":1}", with: "\"\(store)\":9}")
        try #require(later != text)
        let future = try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(later.utf8))
        let after = Transactions(predicate: #Predicate { $0.token > future })
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try ModelContext(container).fetchHistory(after)
        }
    }

    @Test("the notification of a save has the save's history token")
    func notification() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        let seen = SeenToken()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { note in
            let tokens =
                note.userInfo?[ModelContext.NotificationKey.historyTokens]
                as? [String: any HistoryToken]
            seen.token = tokens?.values.first as? DefaultHistoryToken
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.insert(Parcel(code: "a"))
        try context.save()
        let token = try #require(seen.token)
        #expect(try context.fetchHistory(Transactions()).map(\.token) == [token])
        context.insert(Parcel(code: "b"))
        try context.save()
        let after = Transactions(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(after).map(\.id) == [2])
    }

    private final class SeenToken: @unchecked Sendable {
        // Written and read by one test.
        var token: DefaultHistoryToken?
    }

    @Test("the history token of a container with two stores has a position in both")
    func twoStores() throws {
        let container = try ModelContainer(
            for: Schema([Note.self, Article.self, Category.self, Tag.self, Single.self]),
            configurations: [
                ModelConfiguration(
                    "one",
                    schema: Schema([Note.self, Article.self, Category.self, Tag.self]),
                    isStoredInMemoryOnly: true),
                ModelConfiguration(
                    "two", schema: Schema([Single.self]), isStoredInMemoryOnly: true),
            ])
        let context = ModelContext(container)
        context.insert(Note(text: "n"))
        try context.save()
        context.insert(Single(name: "s"))
        try context.save()
        let all = try context.fetchHistory(Transactions())
        #expect(all.count == 2)
        let token = try #require(all.last?.token)
        #expect(token.tokenValue?.count == 2)
        #expect(all[0].token < token)
        context.insert(Note(text: "n"))
        context.insert(Single(name: "s"))
        try context.save()
        let after = Transactions(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(after).map(\.id) == [2, 2])
    }
}

@Model final class Single {
    var name: String

    init(name: String) { self.name = name }
}
