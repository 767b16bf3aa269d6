internal import CoreDataPredicates
internal import Foundation
public import LarderModel

// Requests of the history with a predicate, which is evaluated for each transaction or change.

extension NSPersistentHistoryTransaction {
    static let entityName = "Transaction"

    /// A request of transactions, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its
    /// predicate may use `author`, `bundleID`, `processID`, `storeID`, `timestamp` and
    /// `transactionNumber`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: entityName)
    }

    /// The values of which a predicate is true.
    var values: [String: Any] {
        [
            "author": author ?? NSNull(), "bundleID": bundleID, "contextName": NSNull(),
            "processID": processID, "storeID": storeID, "timestamp": timestamp,
            "transactionNumber": transactionNumber,
        ]
    }
}

extension NSPersistentHistoryChange {
    static let entityName = "Change"

    /// A request of changes, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate
    /// may use `changedEntity`, the name of an entity or its description, `changeType`, `changeID`
    /// and `changedObjectURI`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        NSFetchRequest(entityName: entityName)
    }

    /// The values of which a predicate is true.
    var values: [String: Any] {
        [
            "changeID": changeID, "changeType": changeType.rawValue,
            "changedEntity": changedObjectID.entity.name ?? "",
            "changedObjectURI": changedObjectID.uriRepresentation().absoluteString,
        ]
    }
}

extension NSPersistentHistoryChangeRequest {
    /// A request of the transactions or the changes that a fetch request finds.
    ///
    /// - Parameter fetchRequest: One of ``NSPersistentHistoryTransaction/fetchRequest`` or
    ///   ``NSPersistentHistoryChange/fetchRequest``.
    public static func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentHistoryChangeRequest {
        let request = fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.fetchRequest = fetchRequest
        return request
    }

    /// The transactions that the fetch request finds, or those with the changes that it finds.
    func found(
        _ transactions: [NSPersistentHistoryTransaction]
    ) throws(LarderError) -> [NSPersistentHistoryTransaction] {
        guard let fetchRequest else { return transactions }
        let name = try fetchRequest.requiredEntityName()
        guard fetchRequest.sortDescriptors?.isEmpty != false, fetchRequest.fetchOffset == 0 else {
            throw LarderError(
                .unsupported, "a request of the history has no order and no offset",
                hint: "set its predicate and its fetchLimit")
        }
        let limit = fetchRequest.fetchLimit > 0 ? fetchRequest.fetchLimit : .max
        let predicate = fetchRequest.predicate
        var count = 0
        func isFound(_ values: [String: Any]) throws -> Bool {
            guard count < limit else { return false }
            if let predicate, try !predicate.holds(for: values) { return false }
            count += 1
            return true
        }
        do {
            switch name {
            case NSPersistentHistoryTransaction.entityName:
                return try transactions.filter { try isFound($0.values) }
            case NSPersistentHistoryChange.entityName:
                for transaction in transactions {
                    transaction.changes = try transaction.changes?.filter { try isFound($0.values) }
                }
                return transactions.filter { $0.changes?.isEmpty == false }
            default: break
            }
        } catch {
            throw (error as NSError).userInfo[NSUnderlyingErrorKey] as? LarderError
                ?? LarderError(.malformedPredicate, error.localizedDescription)
        }
        throw LarderError(
            .unknownEntity, "the history has no entity \(name)",
            hint: "use the fetchRequest of a transaction or a change")
    }
}

extension NSEntityDescription: ValueConvertible {
    /// Its name, for predicates of requests of the history.
    public var storeValue: Value { .string(name ?? "") }
}
