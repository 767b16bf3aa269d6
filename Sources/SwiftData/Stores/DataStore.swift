/// A store that a program writes itself. A container opens it by its configuration.
///
/// The container calls it from one thread at a time.
public protocol DataStore<Configuration, Snapshot>: AnyObject {
    associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
    associatedtype Snapshot: DataStoreSnapshot

    /// The name of the store in the identifiers of its objects.
    var identifier: String { get }
    var schema: Schema { get }
    var configuration: Configuration { get }

    init(
        _ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws

    func erase() throws

    /// The snapshots that match.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` and
    ///   ``DataStoreError/preferInMemorySort`` to be asked again without a predicate or an order,
    ///   which are then applied in memory.
    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, Snapshot>

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier]

    /// Saves all changes, or throws and saves none.
    func save(
        _ request: DataStoreSaveChangesRequest<Snapshot>
    ) throws -> DataStoreSaveChangesResult<Snapshot>

    func initializeState(for editingState: EditingState)
    func invalidateState(for editingState: EditingState)

    /// The snapshots among these that the store has without reading them.
    func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    public func fetchCount<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> Int { try fetch(request).fetchedSnapshots.count }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }

    public func initializeState(for editingState: EditingState) {}
    public func invalidateState(for editingState: EditingState) {}

    public func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// Where a store that a program writes itself keeps its objects.
public protocol DataStoreConfiguration<Store>: Hashable {
    associatedtype Store: DataStore where Self == Store.Configuration

    var name: String { get }
    /// The types in the store; nil for all of the container.
    var schema: Schema? { get set }

    func validate() throws
}

extension DataStoreConfiguration {
    public func validate() throws {}
}

/// The errors of a store that cannot perform a request.
public enum DataStoreError: Error, Hashable {
    case unsupportedFeature
    /// The predicate is to be applied in memory.
    case preferInMemoryFilter
    /// The order is to be applied in memory.
    case preferInMemorySort
    case invalidPredicate
}

/// A store that deletes what matches a predicate by itself.
public protocol DataStoreBatching: DataStore {
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}
