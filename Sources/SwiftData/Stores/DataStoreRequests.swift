public import Foundation
public import LarderModel

/// A fetch of a context from a store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    public let descriptor: FetchDescriptor<T>
}

/// The result of a fetch from a store.
public struct DataStoreFetchResult<T: PersistentModel, Snapshot: DataStoreSnapshot>: Sendable {
    public let descriptor: FetchDescriptor<T>
    /// The snapshots that match, in order.
    public let fetchedSnapshots: [Snapshot]
    /// Others to which they refer.
    public let relatedSnapshots: [PersistentIdentifier: Snapshot]

    public init(
        descriptor: FetchDescriptor<T>, fetchedSnapshots: [Snapshot],
        relatedSnapshots: [PersistentIdentifier: Snapshot] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}

/// The changes of a context. Snapshots are whole objects.
public struct DataStoreSaveChangesRequest<Snapshot: DataStoreSnapshot>: Sendable {
    public let editingState: EditingState
    /// With temporary identifiers, which the store replaces.
    public let inserted: [Snapshot]
    public let updated: [Snapshot]
    /// With the values that they had in the store.
    public let deleted: [Snapshot]
}

/// The result of saving changes in a store.
public final class DataStoreSaveChangesResult<Snapshot: DataStoreSnapshot>: Sendable {
    public let storeIdentifier: String
    /// The permanent identifier of each inserted snapshot, by its temporary one.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Snapshots whose values in the store are not those that the context has sent.
    public let snapshotsToReregister: [PersistentIdentifier: Snapshot]
    public let historyToken: (any HistoryToken)?

    public init(
        for storeIdentifier: String,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: Snapshot] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
        historyToken = nil
    }

    public init(
        for storeIdentifier: String,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: Snapshot] = [:],
        historyToken: (any HistoryToken)?
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = historyToken
    }
}

/// The objects that a store is to delete.
///
/// Unchecked: the predicate, which is not marked Sendable for all models, is immutable.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: @unchecked Sendable {
    public let editingState: EditingState
    /// Nil for all models of the type.
    public let predicate: Predicate<T>?
    public let includeSubclasses: Bool
}
