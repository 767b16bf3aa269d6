internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

/// The changes of one save.
public final class NSPersistentHistoryTransaction: NSObject {
    public let timestamp: Date
    /// The number in the store: from 1, increasing.
    public let transactionNumber: Int64
    /// The UUID of the store.
    public let storeID: String
    /// The name of the program that has saved.
    public let bundleID: String
    /// The number of the process that has saved.
    public let processID: String
    /// The author of the context that has saved.
    public let author: String?
    /// The position after the transaction.
    public let token: NSPersistentHistoryToken
    /// The changes; nil if the request does not want them.
    public internal(set) var changes: [NSPersistentHistoryChange]?

    init(
        _ stored: HistoryTransaction, _ token: NSPersistentHistoryToken,
        _ coordinator: NSPersistentStoreCoordinator, hasChanges: Bool
    ) {
        timestamp = stored.timestamp
        transactionNumber = stored.id
        storeID = stored.token.store.uuidString
        bundleID = stored.source.clientName
        processID = stored.source.processIdentifier.map { "\($0)" } ?? ""
        author = stored.author.isEmpty ? nil : stored.author
        self.token = token
        super.init()
        guard hasChanges else { return }
        changes = stored.changes.enumerated().map { index, change in
            NSPersistentHistoryChange(Int64(index), change, self, coordinator)
        }
    }

    /// The changes as a notification, which a context merges: `mergeChanges(fromContextDidSave:)`.
    public func objectIDNotification() -> Notification {
        var info: [AnyHashable: Any] = [:]
        for change in changes ?? [] {
            let key = change.changeType.objectIDsKey
            let known = info[key] as? Set<NSManagedObjectID> ?? []
            info[key] = known.union([change.changedObjectID])
        }
        return Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: info)
    }
}

/// The kind of a change.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2

    init(_ kind: HistoryRun.Kind) {
        self =
            switch kind {
            case .inserted: .insert
            case .updated: .update
            case .deleted: .delete
            }
    }

    var objectIDsKey: String {
        switch self {
        case .insert: NSInsertedObjectIDsKey
        case .update: NSUpdatedObjectIDsKey
        case .delete: NSDeletedObjectIDsKey
        }
    }
}

/// The change of one object in a transaction.
public final class NSPersistentHistoryChange: NSObject {
    /// The number of the change in its transaction.
    public let changeID: Int64
    public let changedObjectID: NSManagedObjectID
    public let changeType: NSPersistentHistoryChangeType
    /// Values of a deleted object, of attributes with `preservesValueInHistoryOnDeletion`; nil for
    /// other changes.
    public let tombstone: [AnyHashable: Any]?
    /// The updated properties; nil for other changes.
    public let updatedProperties: Set<NSPropertyDescription>?
    /// The transaction, while anyone has it.
    public private(set) weak var transaction: NSPersistentHistoryTransaction?

    init(
        _ number: Int64, _ change: HistoryChange, _ transaction: NSPersistentHistoryTransaction,
        _ coordinator: NSPersistentStoreCoordinator
    ) {
        changeID = number
        changedObjectID = coordinator.objectID(of: change.identifier)
        changeType = NSPersistentHistoryChangeType(change.kind)
        self.transaction = transaction
        tombstone =
            change.kind == .deleted ? change.tombstone.compactMapValues(\.anyValue) : nil
        guard change.kind == .updated else {
            updatedProperties = nil
            return
        }
        let names = Set(change.properties)
        updatedProperties = Set(
            changedObjectID.entity.properties.filter { names.contains($0.name) })
    }
}
