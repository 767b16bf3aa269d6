internal import Foundation
internal import LarderModel

/// What a store has found, and what of the descriptor remains to be done in memory.
struct FoundSnapshots<Snapshot: DataStoreSnapshot> {
    var rows: [Snapshot]
    var related: [PersistentIdentifier: Snapshot]
    var isFiltered = true
    var isSorted = true
}

/// A fetch descriptor of any model.
protocol StoreFetch: Sendable {
    func snapshots<Store: DataStore>(
        in store: Store, _ state: EditingState, limit: Int?, offset: Int?
    ) throws -> FoundSnapshots<Store.Snapshot>
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
}

extension PersistentModel {
    /// A descriptor of all objects of the entity.
    static var allDescriptor: any StoreFetch { FetchDescriptor<Self>() }

    static func descriptor(of identifiers: Set<PersistentIdentifier>) -> any StoreFetch {
        FetchDescriptor<Self>(
            predicate: #Predicate { identifiers.contains($0.persistentModelID) })
    }
}
