internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

/// The kind of result of a request of the history.
public enum NSPersistentHistoryResultType: Int, Sendable {
    case statusOnly = 0
    case objectIDs = 1
    case count = 2
    case transactionsOnly = 3
    case changesOnly = 4
    case transactionsAndChanges = 5
}

/// The result of a request of the history.
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
    public let resultType: NSPersistentHistoryResultType
    /// The result that the type of the request names; true or a number for a deletion.
    public let result: Any?

    init(_ resultType: NSPersistentHistoryResultType, _ result: Any?) {
        self.resultType = resultType
        self.result = result
    }
}

/// A request of the transactions after a position, or of the deletion of those before one.
public final class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    private enum Position {
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    private enum Operation {
        case fetch(after: Position?)
        case delete(before: Position?)
    }

    public var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The transactions or changes to find; nil for all. A deletion does not use it.
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
    private let operation: Operation

    private init(_ operation: Operation) { self.operation = operation }

    /// The position of the request, if it is one.
    public var token: NSPersistentHistoryToken? {
        switch operation {
        case .fetch(.token(let token)), .delete(.token(let token)): token
        default: nil
        }
    }

    public static func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetch(after: .date(date)))
    }

    /// - Parameter token: The position; nil for the beginning.
    public static func fetchHistory(
        after token: NSPersistentHistoryToken?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetch(after: token.map(Position.token)))
    }

    public static func fetchHistory(
        after transaction: NSPersistentHistoryTransaction
    ) -> NSPersistentHistoryChangeRequest {
        fetchHistory(after: transaction.token)
    }

    public static func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.delete(before: .date(date)))
    }

    /// A deletion of the transactions before a position. A store keeps its newest transaction.
    ///
    /// - Parameter token: The position; nil deletes none.
    public static func deleteHistory(
        before token: NSPersistentHistoryToken?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.delete(before: token.map(Position.token)))
    }

    // MARK: - Execution

    override func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw LarderError(.unknownEntity, "the context has no coordinator")
        }
        let stores = Set(coordinator.persistentStores.map(\.store.identifier))
        if let foreign = token?.positions.first(where: { !stores.contains($0.store) }) {
            throw LarderError(
                .foreignToken,
                "the history token is of the store \(foreign.store), which the context "
                    + "does not have"
            )
        }
        let result: Any
        switch operation {
        case .fetch(let position):
            let transactions = try fetched(after: position, coordinator)
            result = self.result(try found(transactions))
        case .delete(let position):
            let count = try deletedCount(before: position, coordinator)
            result = NSNumber(value: count)
            guard resultType == .count else {
                return NSPersistentHistoryResult(resultType, NSNumber(value: true))
            }
        }
        return NSPersistentHistoryResult(resultType, result)
    }

    private func fetched(
        after position: Position?, _ coordinator: NSPersistentStoreCoordinator
    ) throws(LarderError) -> [NSPersistentHistoryTransaction] {
        let hasChanges =
            fetchRequest != nil || resultType != .transactionsOnly && resultType != .count
        var stored: [HistoryTransaction] = []
        var token = NSPersistentHistoryToken([])
        for store in coordinator.persistentStores.map(\.store) {
            var fetch = HistoryFetch(includesChanges: hasChanges)
            switch position {
            case .date(let date): fetch.filter.since = date
            case .token(let known):
                fetch.after = known.position(in: store)
                if let after = fetch.after { token = token.moved(to: after) }
            case nil: break
            }
            stored += try store.history(fetch, objects: []).transactions
        }
        // The sort is stable, so that those of one store stay in their order.
        stored.sort { $0.timestamp < $1.timestamp }
        return stored.map { transaction in
            token = token.moved(to: transaction.token)
            return NSPersistentHistoryTransaction(
                transaction, token, coordinator, hasChanges: hasChanges)
        }
    }

    private func result(_ transactions: [NSPersistentHistoryTransaction]) -> Any {
        switch resultType {
        case .statusOnly: return NSNumber(value: true)
        case .count: return NSNumber(value: transactions.count)
        case .transactionsOnly, .transactionsAndChanges: return transactions
        case .changesOnly: return transactions.flatMap { $0.changes ?? [] }
        case .objectIDs:
            return transactions.flatMap { $0.changes ?? [] }.map(\.changedObjectID)
        }
    }

    private func deletedCount(
        before position: Position?, _ coordinator: NSPersistentStoreCoordinator
    ) throws(LarderError) -> Int64 {
        var count: Int64 = 0
        for store in coordinator.persistentStores.map(\.store) {
            switch position {
            case .date(let date): count += try store.deleteHistory(.before(date))
            case .token(let token):
                guard let end = token.position(in: store) else { continue }
                count += try store.deleteHistory(.upTo(end))
            case nil: break
            }
        }
        return count
    }
}
