internal import Foundation
internal import LarderModel
internal import LarderObjects

/// The history of a store that others write.
protocol CustomHistory {
    /// The transactions; nil for a store that has none of the type.
    func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void?
}

/// A store that others write, as the object layer sees it.
///
/// Sendable unchecked: `store` and `state` are used under the lock only.
final class CustomStore<Store: DataStore>: ObjectStore, CustomHistory, @unchecked Sendable {
    let identifier: UUID
    let schema: LarderModel.Schema
    let isReadOnly = false
    private let store: Store
    private var state = EditingState()
    private let types: [String: any PersistentModel.Type]
    /// Recursive, since a store may use a context of its own container.
    private let lock = NSRecursiveLock()

    /// - Throws: `DataStoreError.unsupportedFeature` for a store with snapshots of its own type.
    init(_ store: Store, _ schema: Schema) throws {
        guard Store.Snapshot.self == DefaultSnapshot.self else {
            throw DataStoreError.unsupportedFeature
        }
        self.store = store
        self.schema = try schema.larderSchema()
        identifier = StoreIdentity.uuid(of: store.identifier)
        types = Dictionary(
            schema.descriptions.map { ($0.type.entityName, $0.type) },
            uniquingKeysWith: { first, _ in first })
        store.initializeState(for: state)
    }

    deinit { store.invalidateState(for: state) }

    /// Calls the store. Its errors arrive as they are where the context throws.
    private func calling<Result>(_ body: () throws -> Result) throws(LarderError) -> Result {
        lock.lock()
        defer { lock.unlock() }
        do {
            return try body()
        } catch {
            throw StoreFailure.wrapped(error)
        }
    }

    // MARK: - Reading

    func batches(
        _ fetch: ObjectFetch, _ selection: Fetch.Selection, limit: Int?, offset: Int?
    ) throws(LarderError) -> [Batch] {
        try calling {
            let found = try select(fetch, limit: limit, offset: offset)
            let names: [String]? = selection == .identifiers ? [] : nil
            return try SnapshotRows.batches(found, schema, names, lists: false)
        }
    }

    func count(_ fetch: ObjectFetch) throws(LarderError) -> Int64 {
        try calling { Int64(try select(fetch, limit: nil, offset: nil).count) }
    }

    func batches(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> [Batch] {
        throw LarderError(.unsupported, "the store has no queries but those of contexts")
    }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        try calling {
            let rows = try read(identifiers)
            return try SnapshotRows.batches(
                identifiers.compactMap { rows[$0] }, schema, properties, lists: true)
        }
    }

    private func type(_ entityName: String) throws -> any PersistentModel.Type {
        guard let type = types[entityName] else {
            throw LarderError(.unknownEntity, "the store has no entity \(entityName)")
        }
        return type
    }

    /// The objects that match: what the store leaves to be done is done here.
    private func select(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?
    ) throws -> [DefaultSnapshot] {
        let source = try fetch.source as? any StoreFetch ?? type(fetch.entityName).allDescriptor
        let found = try source.snapshots(in: store, state, limit: limit, offset: offset)
        var rows = try found.rows.map { try checked($0, as: fetch.entityName) }
        guard !found.isFiltered || !found.isSorted else {
            return Array(rows.prefix(limit ?? rows.count))
        }
        var known = found.related.compactMapValues { related in
            (related as? DefaultSnapshot).map { SnapshotRows.typed($0, schema) }
        }
        for row in rows { known[row.persistentIdentifier] = row }
        var failure: (any Error)?
        let reader: Evaluator.Reader = { [self] identifier, name in
            if known[identifier] == nil, failure == nil {
                do { known.merge(try read([identifier])) { old, _ in old } } catch {
                    failure = error
                }
            }
            return known[identifier].map { $0.values[name] ?? .null }
        }
        let evaluator = try Evaluator(
            schema: schema, entityName: fetch.entityName,
            parameters: QueryParameters(arguments: fetch.arguments), now: Date())
        if !found.isFiltered, let expression = fetch.predicate {
            let predicate = try evaluator.predicate(expression)
            rows = try rows.filter {
                try predicate.holds(for: $0.persistentIdentifier, reading: reader)
            }
        }
        if !fetch.sort.isEmpty {
            let order = try evaluator.order(fetch.sort)
            rows = try order.sorted(rows.map(\.persistentIdentifier), reading: reader)
                .compactMap { known[$0] }
        }
        if let failure { throw failure }
        return Array(rows.dropFirst(offset ?? 0).prefix(limit ?? rows.count))
    }

    /// The objects with these identifiers that exist.
    private func read(
        _ identifiers: [PersistentIdentifier]
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        var found: [PersistentIdentifier: DefaultSnapshot] = [:]
        let cached = try store.cachedSnapshots(for: identifiers, editingState: state)
        for snapshot in cached.values {
            let snapshot = try checked(snapshot, as: nil)
            found[snapshot.persistentIdentifier] = snapshot
        }
        let rest = identifiers.filter { found[$0] == nil && $0.store == identifier }
        for (entityName, group) in Dictionary(grouping: rest, by: \.entityName) {
            let wanted = Set(group)
            let result = try type(entityName).descriptor(of: wanted)
                .snapshots(in: store, state, limit: nil, offset: nil)
            for snapshot in result.rows where wanted.contains(snapshot.persistentIdentifier) {
                found[snapshot.persistentIdentifier] = try checked(snapshot, as: entityName)
            }
        }
        return found
    }

    /// A snapshot of this store and of an entity or one of its subentities.
    private func checked(
        _ snapshot: Store.Snapshot, as entityName: String?
    ) throws -> DefaultSnapshot {
        let snapshotIdentifier = snapshot.persistentIdentifier
        guard let own = snapshot as? DefaultSnapshot, snapshotIdentifier.store == identifier else {
            throw LarderError(
                .foreignIdentifier, "the store returned an object that is not its own",
                uri: snapshotIdentifier.uriRepresentation)
        }
        var ancestor: String? = own.entityName
        while let name = ancestor, name != entityName, entityName != nil {
            ancestor = schema.entity(named: name)?.parent
        }
        guard ancestor != nil, schema.entity(named: own.entityName) != nil else {
            throw LarderError(
                .unknownEntity,
                "the store returned a \(own.entityName) for a fetch of \(entityName ?? "objects")",
                uri: snapshotIdentifier.uriRepresentation)
        }
        return SnapshotRows.typed(own, schema)
    }

    // MARK: - Saving

    func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        try calling {
            state.author = changes.author.isEmpty ? nil : changes.author
            let changed = try StoreChanges(changes, schema) { [self] identifier in
                try read([identifier])[identifier]?.values
            }
            func snapshots(_ list: [PersistentIdentifier]) throws -> [Store.Snapshot] {
                try list.map { try snapshot(DefaultSnapshot($0, changed.rows[$0] ?? [:])) }
            }
            let result = try store.save(
                DataStoreSaveChangesRequest(
                    editingState: state, inserted: snapshots(changed.inserted),
                    updated: snapshots(changed.updated),
                    deleted: changed.deleted.map(snapshot)))
            var saved = SaveResult()
            for (index, temporary) in changed.inserted.enumerated() {
                guard let new = result.remappedIdentifiers[temporary], new.store == identifier,
                    new.entityName == temporary.entityName
                else {
                    throw LarderError(
                        .foreignIdentifier,
                        "the store gave a new \(temporary.entityName) no identifier of its own")
                }
                saved.inserted.append(new)
                if result.snapshotsToReregister[new] != nil { saved.merged.append(index) }
            }
            return saved
        }
    }

    private func snapshot(_ snapshot: DefaultSnapshot) throws -> Store.Snapshot {
        guard let own = snapshot as? Store.Snapshot else {
            throw DataStoreError.unsupportedFeature
        }
        return own
    }

    func erase() throws(LarderError) { try calling { try store.erase() } }

    // MARK: - History

    func fetchHistory<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>
    ) throws -> [T]? {
        func fetch<Provider: HistoryProviding>(_ provider: Provider) throws -> [T]? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.fetchHistory(own) as? [T]
        }
        return try lock.withLock {
            try (store as? any HistoryProviding).flatMap { try fetch($0) }
        }
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void? {
        func delete<Provider: HistoryProviding>(_ provider: Provider) throws -> Void? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.deleteHistory(own)
        }
        return try lock.withLock {
            try (store as? any HistoryProviding).flatMap { try delete($0) }
        }
    }

    func history(_ fetch: HistoryFetch, objects: [HistoryObjects]) throws(LarderError) -> History {
        throw Self.noHistory
    }

    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        throw Self.noHistory
    }

    func currentToken() throws(LarderError) -> LarderModel.HistoryToken { throw Self.noHistory }

    private static var noHistory: LarderError {
        LarderError(.unsupported, "the store has no history of Larder's")
    }

    func snapshot<Result>(_ body: (any ObjectStore) throws -> Result) throws -> Result {
        throw LarderError(.unsupported, "a store that others write has no snapshots")
    }

    /// Such a store tells nobody of its commits.
    func observeCommits(
        _ body: @escaping @Sendable (LarderModel.HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable { Unobserved() }
}

private final class Unobserved: Sendable {}
