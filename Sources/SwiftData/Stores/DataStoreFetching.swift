internal import Foundation
internal import LarderModel

/// The rows that a store has found, and the parts of the descriptor that remain for memory.
struct FoundSnapshots<Snapshot: DataStoreSnapshot> {
    var rows: [Snapshot]
    var related: [PersistentIdentifier: Snapshot]
    var isFiltered = true
    var isSorted = true
}

/// A fetch descriptor of any model, as a request to a store.
protocol StoreFetch: Sendable {
    func snapshots<Store: DataStore>(
        in store: Store, _ state: EditingState, limit: Int?, offset: Int?
    ) throws -> FoundSnapshots<Store.Snapshot>

    /// Nil if the store leaves the predicate or the order to be applied in memory.
    func identifiers<Store: DataStore>(
        in store: Store, _ state: EditingState, limit: Int?, offset: Int?, isSorted: Bool
    ) throws -> [PersistentIdentifier]?

    /// The number without limit and offset. Nil if the store leaves the predicate to be applied in
    /// memory.
    func count<Store: DataStore>(in store: Store, _ state: EditingState) throws -> Int?

    /// Deletes what matches. Nil if the store cannot, and has done nothing.
    func delete<Store: DataStoreBatching>(
        in store: Store, _ state: EditingState, includeSubclasses: Bool
    ) throws -> Void?
}

extension FetchDescriptor: StoreFetch {
    /// A store that prefers so gets a fetch without order, or without predicate and order; limits
    /// apply after these.
    func snapshots<Store: DataStore>(
        in store: Store, _ state: EditingState, limit: Int?, offset: Int?
    ) throws -> FoundSnapshots<Store.Snapshot> {
        func result(_ descriptor: Self) throws -> FoundSnapshots<Store.Snapshot> {
            let result = try store.fetch(
                DataStoreFetchRequest(editingState: state, descriptor: descriptor))
            return FoundSnapshots(rows: result.fetchedSnapshots, related: result.relatedSnapshots)
        }
        var descriptor = self
        descriptor.fetchLimit = limit
        descriptor.fetchOffset = offset
        do {
            return try result(descriptor)
        } catch DataStoreError.preferInMemorySort {
            descriptor.sortBy = []
            descriptor.fetchLimit = nil
            descriptor.fetchOffset = nil
            do {
                var found = try result(descriptor)
                found.isSorted = false
                return found
            } catch DataStoreError.preferInMemoryFilter {}
        } catch DataStoreError.preferInMemoryFilter {}
        var found = try result(Self())
        found.isFiltered = false
        found.isSorted = false
        return found
    }

    func identifiers<Store: DataStore>(
        in store: Store, _ state: EditingState, limit: Int?, offset: Int?, isSorted: Bool
    ) throws -> [PersistentIdentifier]? {
        var descriptor = self
        descriptor.fetchLimit = limit
        descriptor.fetchOffset = offset
        if !isSorted { descriptor.sortBy = [] }
        do {
            return try store.fetchIdentifiers(
                DataStoreFetchRequest(editingState: state, descriptor: descriptor))
        } catch DataStoreError.preferInMemorySort {
            return nil
        } catch DataStoreError.preferInMemoryFilter {
            return nil
        }
    }

    func count<Store: DataStore>(in store: Store, _ state: EditingState) throws -> Int? {
        var descriptor = self
        descriptor.fetchLimit = nil
        descriptor.fetchOffset = nil
        descriptor.sortBy = []
        do {
            return try store.fetchCount(
                DataStoreFetchRequest(editingState: state, descriptor: descriptor))
        } catch DataStoreError.preferInMemoryFilter {
            return nil
        }
    }

    func delete<Store: DataStoreBatching>(
        in store: Store, _ state: EditingState, includeSubclasses: Bool
    ) throws -> Void? {
        do {
            return try store.delete(
                DataStoreBatchDeleteRequest(
                    editingState: state, predicate: predicate,
                    includeSubclasses: includeSubclasses))
        } catch DataStoreError.preferInMemoryFilter {
            return nil
        } catch DataStoreError.unsupportedFeature {
            return nil
        }
    }
}

extension PersistentModel {
    /// A descriptor of all objects of the entity.
    static var allDescriptor: any StoreFetch { FetchDescriptor<Self>() }

    static func descriptor(of identifiers: Set<PersistentIdentifier>) -> any StoreFetch {
        FetchDescriptor<Self>(
            predicate: #Predicate { identifiers.contains($0.persistentModelID) })
    }
}
