import Foundation
import SwiftData
import Testing

@Suite("The types of the history have the documented properties")
struct HistorySignatureTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try makeArchive()
        context = ModelContext(container)
        let parcel = Parcel(code: "a")
        context.insert(parcel)
        try context.save()
        parcel.note = "n"
        try context.save()
        context.delete(parcel)
        try context.save()
    }

    private func opened<Change: HistoryInsert>(
        _ change: Change
    ) -> (AnyHashable, AnyHashable, PersistentIdentifier) {
        (change.changeIdentifier, change.transactionIdentifier, change.changedPersistentIdentifier)
    }

    private func opened<Change: HistoryUpdate>(
        _ change: Change
    ) -> (AnyHashable, AnyHashable, PersistentIdentifier) {
        (change.changeIdentifier, change.transactionIdentifier, change.changedPersistentIdentifier)
    }

    private func opened<Change: HistoryDelete>(
        _ change: Change
    ) -> (AnyHashable, AnyHashable, PersistentIdentifier) {
        (change.changeIdentifier, change.transactionIdentifier, change.changedPersistentIdentifier)
    }

    private func all() throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(Transactions())
    }

    @Test("changes in the history have increasing identifiers, their transaction's and the model's")
    func changes() throws {
        let changes = try all().flatMap(\.changes)
        guard changes.count == 3, case .insert(let insert) = changes[0],
            case .update(let update) = changes[1], case .delete(let delete) = changes[2]
        else {
            Issue.record("\(changes)")
            return
        }
        let parts = [opened(insert), opened(update), opened(delete)]
        let numbers = parts.compactMap { $0.0.base as? Int64 }
        #expect(numbers == numbers.sorted())
        #expect(Set(numbers).count == 3)
        #expect(parts.map(\.1) == [Int64(1), Int64(2), Int64(3)].map(AnyHashable.init))
        #expect(Set(parts.map(\.2)) == [changes[0].changedPersistentIdentifier])
    }

    @Test("changes of one kind in the history can be compared and used as keys")
    func values() throws {
        let (first, second) = (try all(), try all())
        func inserts(_ list: [DefaultHistoryTransaction]) -> [DefaultHistoryInsert<Parcel>] {
            list.flatMap(\.changes).compactMap {
                if case .insert(let insert) = $0 { insert as? DefaultHistoryInsert } else { nil }
            }
        }
        func updates(_ list: [DefaultHistoryTransaction]) -> [DefaultHistoryUpdate<Parcel>] {
            list.flatMap(\.changes).compactMap {
                if case .update(let update) = $0 { update as? DefaultHistoryUpdate } else { nil }
            }
        }
        func deletes(_ list: [DefaultHistoryTransaction]) -> [DefaultHistoryDelete<Parcel>] {
            list.flatMap(\.changes).compactMap {
                if case .delete(let delete) = $0 { delete as? DefaultHistoryDelete } else { nil }
            }
        }
        #expect(Set(inserts(first) + inserts(second)).count == 1)
        #expect(Set(updates(first) + updates(second)).count == 1)
        #expect(Set(deletes(first) + deletes(second)).count == 1)
        #expect(inserts(first).map(\.id) == inserts(first).map(\.changeIdentifier))
        #expect(updates(first).map(\.id) == updates(first).map(\.changeIdentifier))
        #expect(deletes(first).map(\.id) == deletes(first).map(\.changeIdentifier))
        #expect(updates(first).map(\.updatedAttributes) == [[\Parcel.note]])
        #expect(deletes(first).first?.tombstone[\.code] as? String == "a")
        #expect(inserts(first).map(\.transactionIdentifier) == [1])
        #expect(deletes(first).map(\.changedPersistentIdentifier.entityName) == ["Parcel"])
    }

    @Test("a transaction has the program and the process that have saved it")
    func origin() throws {
        let transaction = try #require(try all().first)
        #expect(transaction.processIdentifier == "\(ProcessInfo.processInfo.processIdentifier)")
        let folder = try StoreFileTests.Folder()
        let stored = ModelContext(
            try ModelContainer(
                for: Parcel.self, Depot.self,
                configurations: ModelConfiguration(url: folder.url.appending(path: "a.store"))))
        stored.insert(Parcel(code: "a"))
        try stored.save()
        let read = try #require(try stored.fetchHistory(Transactions()).first)
        #expect(!read.bundleIdentifier.isEmpty)
        #expect(read.processIdentifier == transaction.processIdentifier)
        #expect(read.storeIdentifier != transaction.storeIdentifier)
    }

    @Test("a tombstone is a sequence of the preserved values, and has none for other properties")
    func tombstone() throws {
        guard case .delete(let delete)? = try all().last?.changes.first,
            let tombstone = (delete as? DefaultHistoryDelete<Parcel>)?.tombstone
        else {
            Issue.record("no deletion")
            return
        }
        let typed: HistoryTombstone<Parcel> = tombstone
        #expect(typed.map { "\($0)" }.sorted() == ["a", "news"])
        #expect(typed[\.depot] == nil)
        #expect(typed[\.hashValue] == nil)
    }

    @Test("a default store provides its history without a context")
    func providing() throws {
        let store = try DefaultStore(
            ModelConfiguration(schema: Schema([Single.self]), isStoredInMemoryOnly: true))
        #expect(DefaultStore.historyType == DefaultHistoryTransaction.self)
        #expect(try store.fetchHistory(Transactions()).isEmpty)
        try store.deleteHistory(Transactions())
    }

    @Test("identifiers of changes are ordered, whatever their type")
    func identifiers() throws {
        func isOrdered<Insert: HistoryInsert>(_ insert: Insert) -> Bool {
            let identifier: Insert.ChangeIdentifier = insert.changeIdentifier
            return identifier <= insert.changeIdentifier
        }
        guard case .insert(let insert)? = try all().first?.changes.first else {
            Issue.record("no insertion")
            return
        }
        let identifiersAreOrdered = isOrdered(insert)
        #expect(identifiersAreOrdered)
    }

    @Test("generic code may use another type of tokens and transactions")
    func generic() throws {
        func newest<Transaction: HistoryTransaction>(
            _ list: [Transaction]
        ) -> (Transaction.TokenType, Transaction.TransactionIdentifier)? {
            list.max { $0.token < $1.token }.map { ($0.token, $0.transactionIdentifier) }
        }
        let (token, number) = try #require(newest(try all()))
        #expect(number == 3)
        func value<Token: HistoryToken>(_ token: Token) -> Token.TokenType? { token.tokenValue }
        #expect(value(token)?.values.map { $0 } == [3])
    }
}
