internal import Foundation
public import LarderModel
internal import LarderObjects

/// Larder's own store as a store of snapshots: for programs that use a store without a context, or
/// that pass on to it what their own store is asked for.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot
    public typealias HistoryType = DefaultHistoryTransaction
    public typealias TokenType = DefaultHistoryToken

    public let configuration: ModelConfiguration
    public let schema: Schema
    public let identifier: String
    public let name: String
    private let core: ContainerCore
    private let store: any ObjectStore

    /// Opens the store.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the reason.
    public init(
        _ configuration: ModelConfiguration,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil
    ) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError.unknownSchema.explained("the configuration has no schema")
        }
        core = try ContainerCore(schema, migrationPlan, [configuration])
        guard let store = core.model.allStores.first else {
            throw SwiftDataError.unknownSchema.explained("the schema has no entity")
        }
        self.store = store
        self.configuration = configuration
        self.schema = schema
        name = configuration.name
        identifier = store.identifier.uuidString
    }

    public func erase() throws { try core.erase() }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let identifiers = try fetchIdentifiers(request)
        let found = try snapshots(of: identifiers)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: identifiers.compactMap { found[$0] })
    }

    private func snapshots(
        of identifiers: [PersistentIdentifier]
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard !identifiers.isEmpty else { return [:] }
        let rows = try SwiftDataError.translating { () throws(LarderError) in
            try store.objects(identifiers, properties: nil)
        }
        var found: [PersistentIdentifier: DefaultSnapshot] = [:]
        for batch in rows {
            for snapshot in SnapshotRows.snapshots(batch, store.identifier) {
                found[snapshot.persistentIdentifier] = snapshot
            }
        }
        return found
    }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try ModelContext(core).fetchCount(request.descriptor)
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try ModelContext(core).fetchIdentifiers(request.descriptor)
    }

    /// Saves whole objects. A list whose other side is one object is saved by that side.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var changes = ChangeSet(
            onUniqueConflict: .upsert, author: request.editingState.author ?? "")
        for snapshot in request.inserted {
            changes.changes.append(
                .insert(snapshot.persistentIdentifier, values: values(of: snapshot)))
        }
        for snapshot in request.updated {
            changes.changes.append(
                .update(
                    snapshot.persistentIdentifier, ifVersion: nil, values: values(of: snapshot)))
        }
        for snapshot in request.deleted {
            changes.changes.append(.delete(snapshot.persistentIdentifier, ifVersion: nil))
        }
        let result = try SwiftDataError.translating { () throws(LarderError) in
            try store.save(changes)
        }
        let inserted = zip(request.inserted.map(\.persistentIdentifier), result.inserted)
        let tokens = core.history.tokens(
            of: result.transaction.map { [store.identifier: $0] } ?? [:])
        var existing: [PersistentIdentifier: DefaultSnapshot] = [:]
        do {
            existing = try snapshots(of: result.upserted.map { result.inserted[$0] })
        } catch {
            // The store has saved the changes.
            Log.write(
                "objects that a save has updated by their unique values are not read: "
                    + String(safelyDescribing: error))
        }
        return DataStoreSaveChangesResult(
            for: identifier,
            remappedIdentifiers: Dictionary(inserted, uniquingKeysWith: { first, _ in first }),
            snapshotsToReregister: existing,
            historyToken: tokens[identifier])
    }

    private func values(of snapshot: DefaultSnapshot) -> [String: Value] {
        guard let entity = store.schema.entity(named: snapshot.entityName) else {
            return snapshot.values
        }
        return snapshot.values.filter { name, _ in
            guard case .relationship(let relationship)? = entity.property(named: name),
                relationship.isToMany, let inverse = relationship.inverse,
                case .relationship(let other)? = store.schema.entity(
                    named: relationship.destination)?.property(named: inverse)
            else { return true }
            return other.isToMany
        }
    }

    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = ModelContext(core)
        context.author = request.editingState.author
        try context.delete(
            model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
        try context.save()
    }

    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try core.history.fetch(descriptor) }

    public func deleteHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws { try core.history.delete(descriptor) }
}

extension ModelConfiguration: DataStoreConfiguration {
    public typealias Store = DefaultStore
}
