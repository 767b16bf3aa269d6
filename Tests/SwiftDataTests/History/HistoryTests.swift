import Foundation
import SwiftData
import Testing

@Suite("The history")
struct HistoryTests {
    /// Saves a transaction as an author.
    @discardableResult
    private func add(
        _ code: String, by author: String? = nil, to container: ModelContainer
    ) throws -> PersistentIdentifier {
        let context = ModelContext(container)
        context.author = author
        let parcel = Parcel(code: code)
        context.insert(parcel)
        try context.save()
        return parcel.persistentModelID
    }

    @Test("the history has one transaction per save, in order")
    func order() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        let start = Date.now
        context.insert(Parcel(code: "a"))
        context.insert(Parcel(code: "b"))
        try context.save()
        try context.save()
        try context.fetch(FetchDescriptor<Parcel>()).first?.note = "n"
        try context.save()
        let transactions = try context.fetchHistory(Transactions())
        #expect(transactions.map(\.changes.count) == [2, 1])
        #expect(transactions.map(\.transactionIdentifier) == [1, 2])
        #expect(transactions.map(\.id) == [1, 2])
        #expect(transactions[0].token < transactions[1].token)
        #expect(transactions[0].timestamp <= transactions[1].timestamp)
        #expect(transactions[0].timestamp.timeIntervalSince(start) > -1)
        #expect(transactions[0] != transactions[1])
        #expect(Set(transactions).count == 2)
        #expect(!transactions[0].processIdentifier.isEmpty)
    }

    @Test("the history has the inserted, updated and deleted models with their types")
    func changes() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        let parcel = Parcel(code: "a")
        context.insert(parcel)
        try context.save()
        let identifier = parcel.persistentModelID
        parcel.note = "n"
        parcel.kind = .essay
        try context.save()
        context.delete(parcel)
        try context.save()
        let changes = try context.fetchHistory(Transactions()).flatMap(\.changes)
        #expect(changes.map(\.changedPersistentIdentifier) == [identifier, identifier, identifier])
        guard case .insert(let insert) = changes[0], case .update(let update) = changes[1],
            case .delete(let delete) = changes[2]
        else {
            Issue.record("\(changes)")
            return
        }
        #expect(insert is any HistoryInsert<Parcel>)
        #expect(insert as? DefaultHistoryInsert<Parcel> != nil)
        #expect((insert as? DefaultHistoryInsert<Parcel>)?.transactionIdentifier == 1)
        let updated = try #require(update as? DefaultHistoryUpdate<Parcel>)
        #expect(Set(updated.updatedAttributes) == [\Parcel.note, \Parcel.kind])
        #expect(delete is any HistoryDelete<Parcel>)
    }

    @Test("a change of a list alone is an update in the history of a model with the relationship")
    func lists() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A")
        let tag = Tag(name: "t")
        context.insert(article)
        context.insert(tag)
        try context.save()
        article.tags = [tag]
        try context.save()
        let last = try #require(try context.fetchHistory(Transactions()).last)
        let identifiers = last.changes.map(\.changedPersistentIdentifier)
        #expect(identifiers.contains(article.persistentModelID))
        let attributes = last.changes.compactMap { change -> [PartialKeyPath<Article>]? in
            guard case .update(let update) = change else { return nil }
            return (update as? DefaultHistoryUpdate<Article>)?.updatedAttributes
        }
        #expect(attributes.first?.contains(\Article.tags) == true)
    }

    @Test("the update of a model in the history has the key paths of inherited properties")
    func inheritedProperties() throws {
        let container = try ModelContainer(
            for: Vehicle.self, Car.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let car = Car(name: "car", doors: 2)
        context.insert(car)
        try context.save()
        car.name = "other"
        car.doors = 3
        try context.save()
        let last = try #require(try context.fetchHistory(Transactions()).last)
        guard case .update(let update as DefaultHistoryUpdate<Car>)? = last.changes.first else {
            Issue.record("\(last.changes)")
            return
        }
        #expect(Set(update.updatedAttributes) == [\Car.name, \Car.doors])
    }

    @Test("a tombstone has the values of attributes with preserveValueOnDeletion only")
    func tombstones() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        let parcel = Parcel(code: "a-1")
        parcel.sent = Date(timeIntervalSinceReferenceDate: 77)
        parcel.kind = .essay
        parcel.note = "lost"
        let second = Parcel(code: "a-2")
        context.insert(parcel)
        context.insert(second)
        try context.save()
        context.delete(parcel)
        context.delete(second)
        try context.save()
        let last = try #require(try context.fetchHistory(Transactions()).last)
        let tombstones = last.changes.compactMap { change -> HistoryTombstone<Parcel>? in
            guard case .delete(let delete) = change else { return nil }
            return (delete as? DefaultHistoryDelete<Parcel>)?.tombstone
        }
        try #require(tombstones.count == 2)
        #expect(tombstones[0][\.code] as? String == "a-1")
        #expect(tombstones[0][\.sent] as? Date == Date(timeIntervalSinceReferenceDate: 77))
        #expect(tombstones[0][\.kind] as? Genre == .essay)
        #expect(tombstones[0][\.note] == nil)
        #expect(Array(tombstones[0]).count == 3)
        #expect(tombstones[1][\.code] as? String == "a-2")
        #expect(tombstones[1][\.sent] == nil)
    }

    @Test("the history has the author of the context, which is nil by default")
    func authors() throws {
        let container = try makeArchive()
        try add("a", to: container)
        try add("b", by: "importer", to: container)
        let context = ModelContext(container)
        context.editingState.author = "editor"
        #expect(context.author == "editor")
        context.insert(Parcel(code: "c"))
        try context.save()
        let all = try context.fetchHistory(Transactions())
        #expect(all.map(\.author) == [nil, "importer", "editor"])
    }

    @Test("a history predicate compares authors as SQL does: nil is neither equal nor unequal")
    func nilAuthors() throws {
        let container = try makeArchive()
        try add("a", to: container)
        try add("b", by: "x", to: container)
        try add("c", by: "y", to: container)
        let context = ModelContext(container)
        func found(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> [Int64] {
            try context.fetchHistory(Transactions(predicate: predicate)).map(\.id)
        }
        let name = "x"
        let none: String? = nil
        #expect(try found(#Predicate { $0.author == name }) == [2])
        #expect(try found(#Predicate { $0.author != name }) == [3])
        #expect(try found(#Predicate { !($0.author == name) }) == [3])
        #expect(try found(#Predicate { $0.author == nil }) == [1])
        #expect(try found(#Predicate { $0.author == none }) == [1])
        #expect(try found(#Predicate { $0.author != nil }) == [2, 3])
        #expect(try found(#Predicate { $0.author == nil || $0.author != name }) == [1, 3])
        #expect(try found(#Predicate { $0.author == "x" || $0.author == "y" }) == [2, 3])
        #expect(try found(#Predicate { $0.author == "x" && $0.author == "y" }) == [])
        #expect(try found(#Predicate { $0.author == "" }) == [])
        #expect(try found(#Predicate { $0.changes.isEmpty }) == [])
        #expect(try found(#Predicate<DefaultHistoryTransaction> { _ in true }) == [1, 2, 3])
    }

    @Test("a history predicate selects by token, time and author together")
    func predicates() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        for author in ["x", "y", "x", "y"] { try add("a", by: author, to: container) }
        let all = try context.fetchHistory(Transactions())
        let token = all[1].token
        func found(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> [Int64] {
            try context.fetchHistory(Transactions(predicate: predicate)).map(\.id)
        }
        #expect(try found(#Predicate { $0.token > token }) == [3, 4])
        #expect(try found(#Predicate { token < $0.token }) == [3, 4])
        #expect(try found(#Predicate { $0.token >= token }) == [2, 3, 4])
        #expect(try found(#Predicate { $0.token <= token }) == [1, 2])
        #expect(try found(#Predicate { $0.token < token }) == [1])
        #expect(try found(#Predicate { $0.token == token }) == [2])
        #expect(try found(#Predicate { $0.token > token && $0.author == "x" }) == [3])
        #expect(try found(#Predicate { $0.token > token || $0.author == "x" }) == [1, 3, 4])
        let (first, last) = (all[0].timestamp, all[3].timestamp)
        #expect(try found(#Predicate { $0.timestamp >= first && $0.timestamp <= last }).count == 4)
        #expect(try found(#Predicate { $0.timestamp > last }) == [])
        #expect(try found(#Predicate { $0.timestamp < first }) == [])
    }

    @Test("a history descriptor limits and orders the transactions")
    func limitAndOrder() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        for author in ["b", "a", "c"] { try add("a", by: author, to: container) }
        var descriptor = Transactions()
        descriptor.fetchLimit = 2
        #expect(try context.fetchHistory(descriptor).map(\.id) == [1, 2])
        descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
        #expect(try context.fetchHistory(descriptor).map(\.id) == [3, 2])
        let byAuthor = Transactions(
            predicate: #Predicate { $0.author != "c" }, sortBy: [SortDescriptor(\.author)])
        #expect(try context.fetchHistory(byAuthor).map(\.author) == ["a", "b"])
        descriptor = Transactions(predicate: #Predicate { $0.author != "b" })
        descriptor.fetchLimit = 1
        #expect(try context.fetchHistory(descriptor).map(\.id) == [2])
        descriptor.fetchLimit = .max
        #expect(try context.fetchHistory(descriptor).map(\.id) == [2, 3])
    }

    @Test("deleting the history of an author keeps the other transactions in order")
    func deletionByAuthor() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        for author in ["x", "y", "x", "y"] { try add("a", by: author, to: container) }
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.author == "x" }))
        #expect(try context.fetchHistory(Transactions()).map(\.id) == [2, 4])
        var limited = Transactions()
        limited.fetchLimit = UInt64(Int64.max) - 1
        #expect(try context.fetchHistory(limited).map(\.id) == [2, 4])
        try add("a", by: "x", to: container)
        #expect(try ModelContext(container).fetchHistory(Transactions()).map(\.id) == [2, 4, 5])
    }

    @Test("deleting the whole history expires the tokens before")
    func expiredTokens() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        for _ in 0..<3 { try add("a", to: container) }
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        try context.deleteHistory(Transactions())
        #expect(try context.fetchHistory(Transactions()).isEmpty)
        let old = tokens[0]
        for predicate: Predicate<DefaultHistoryTransaction> in [
            #Predicate { $0.token > old }, #Predicate { $0.token > old || $0.author == "x" },
            #Predicate { !($0.token > old) },
        ] {
            #expect(throws: SwiftDataError.historyTokenExpired) {
                try context.fetchHistory(Transactions(predicate: predicate))
            }
        }
        let last = tokens[2]
        try add("b", to: container)
        let after = Transactions(predicate: #Predicate { $0.token > last })
        #expect(try context.fetchHistory(after).map(\.id) == [4])
    }

    @Test("deleting the history before a token keeps later transactions")
    func deletionBeforeToken() throws {
        let container = try makeArchive()
        let context = ModelContext(container)
        for _ in 0..<4 { try add("a", to: container) }
        let token = try context.fetchHistory(Transactions())[2].token
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.token < token }))
        #expect(try context.fetchHistory(Transactions()).map(\.id) == [3, 4])
    }

    @Test("fetching the history as transactions of another store's type is an error")
    func foreignTransactions() throws {
        let context = ModelContext(try makeArchive())
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try context.fetchHistory(HistoryDescriptor<OtherTransaction>())
        }
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try context.deleteHistory(HistoryDescriptor<OtherTransaction>())
        }
    }

    private struct OtherTransaction: HistoryTransaction {
        let timestamp = Date.now
        let token = Number()
        var transactionIdentifier: Int { 1 }
        var storeIdentifier: String { "" }
        var author: String? { nil }
        var changes: [HistoryChange] { [] }
        var id: Int { 1 }

        struct Number: Comparable, Hashable, Identifiable {
            var id: Int { 1 }
            static func < (left: Self, right: Self) -> Bool { false }
        }
    }
}
