internal import Foundation
internal import LarderModel
internal import LarderObjects
internal import LarderQuery
internal import Synchronization

/// A store that others write, as one context or a container sees it.
///
/// Sendable unchecked: the store and the state are used under the lock of the saves only.
final class CustomStore<Store: DataStore>: ObjectStore, @unchecked Sendable {
    let identifier: UUID
    let schema: LarderModel.Schema
    let isReadOnly = false
    let store: Store
    let types: [String: any PersistentModel.Type]
    /// Who calls the store.
    var state: EditingState
    /// The state that all contexts of the container share.
    let saves: CustomSaves

    init(_ store: Store, _ schema: Schema) throws {
        self.store = store
        self.schema = try schema.larderSchema()
        identifier = StoreIdentifiers.shared.remember(store.identifier)
        types = Dictionary(
            schema.descriptions.map { ($0.type.entityName, $0.type) },
            uniquingKeysWith: { first, _ in first })
        state = EditingState()
        saves = CustomSaves()
        initializeState()
    }

    /// A copy of the store for a context.
    init(_ other: CustomStore, _ state: EditingState) {
        store = other.store
        schema = other.schema
        identifier = other.identifier
        types = other.types
        self.state = state
        saves = other.saves
        initializeState()
    }

    deinit { saves.locked { store.invalidateState(for: state) } }

    private func initializeState() { saves.locked { store.initializeState(for: state) } }

    /// Calls the store. Its errors arrive as they are where the context throws.
    func calling<Result>(_ body: () throws -> Result) throws(LarderError) -> Result {
        do {
            return try saves.locked(body)
        } catch {
            throw StoreFailure.wrapped(error)
        }
    }

    // MARK: - Reading

    func elements<Element>(
        of fetch: ObjectFetch, _ selection: Fetch.Selection, limit: Int?, offset: Int?,
        _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element] {
        let batches: [Batch] = try calling {
            if selection == .identifiers {
                return SnapshotRows.batches(try identifiers(fetch, limit: limit, offset: offset))
            }
            let found = try select(fetch, limit: limit, offset: offset)
            return try SnapshotRows.batches(found, schema, nil, lists: false)
        }
        return batches.flatMap(make)
    }

    func count(_ fetch: ObjectFetch) throws(LarderError) -> Int64 {
        try calling {
            guard fetch.includesSubentities,
                let count = try source(of: fetch).count(in: store, state)
            else { return Int64(try select(fetch, limit: nil, offset: nil).count) }
            guard count >= 0 else {
                throw LarderError(.malformedValue, "the store counted \(count) objects")
            }
            return Int64(count)
        }
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

    private func source(of fetch: ObjectFetch) throws -> any StoreFetch {
        try fetch.source as? any StoreFetch ?? type(fetch.entityName).allDescriptor
    }

    private func type(_ entityName: String) throws -> any PersistentModel.Type {
        guard let type = types[entityName] else {
            throw LarderError(.unknownEntity, "the store has no entity \(entityName)")
        }
        return type
    }

    func identifiers(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?
    ) throws -> [PersistentIdentifier] {
        guard fetch.includesSubentities,
            let found = try source(of: fetch).identifiers(
                in: store, state, limit: limit, offset: offset, isSorted: fetch.isSorted)
        else {
            return try select(fetch, limit: limit, offset: offset).map(\.persistentIdentifier)
        }
        for identifier in found { try check(identifier, as: fetch.entityName) }
        try checkUnique(found)
        return Array(found.prefix(limit ?? found.count))
    }

    /// The objects that match: what the store leaves to be done is done here.
    private func select(
        _ fetch: ObjectFetch, limit: Int?, offset: Int?
    ) throws -> [DefaultSnapshot] {
        let found = try source(of: fetch).snapshots(
            in: store, state, limit: limit, offset: offset)
        var rows = try found.rows.map { try row($0, as: fetch.entityName) }
        try checkUnique(rows.map(\.persistentIdentifier))
        if !fetch.includesSubentities { rows = rows.filter { $0.entityName == fetch.entityName } }
        guard !found.isFiltered || !found.isSorted else {
            return Array(rows.prefix(limit ?? rows.count))
        }
        if !found.isFiltered, let failure = fetch.untranslated?.predicateFailure { throw failure() }
        if let failure = fetch.untranslated?.orderFailure { throw failure() }
        var known = try found.related.mapValues { try row($0, as: nil) }
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
            parameters: QueryParameters(
                arguments: fetch.arguments(in: self) { $0.store == identifier }), now: Date())
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
    func read(
        _ identifiers: [PersistentIdentifier]
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        var found: [PersistentIdentifier: DefaultSnapshot] = [:]
        let cached = try store.cachedSnapshots(for: identifiers, editingState: state)
        for snapshot in cached.values {
            let row = try row(snapshot, as: nil)
            found[row.persistentIdentifier] = row
        }
        let rest = identifiers.filter { found[$0] == nil && $0.store == identifier }
        for (entityName, group) in Dictionary(grouping: rest, by: \.entityName) {
            let wanted = Set(group)
            let result = try type(entityName).descriptor(of: wanted)
                .snapshots(in: store, state, limit: nil, offset: nil)
            for snapshot in result.rows where wanted.contains(snapshot.persistentIdentifier) {
                found[snapshot.persistentIdentifier] = try row(snapshot, as: entityName)
            }
        }
        return found
    }

    // MARK: - What the store returns

    /// The values of a snapshot of this store and of an entity or one of its subentities.
    ///
    /// - Throws: `foreignIdentifier`, `unknownEntity` and `malformedValue`.
    private func row(
        _ snapshot: Store.Snapshot, as entityName: String?
    ) throws -> DefaultSnapshot {
        let identifier = snapshot.persistentIdentifier
        try check(identifier, as: entityName)
        guard let entity = schema.entity(named: identifier.entityName) else {
            throw unknownEntity(identifier, entityName)
        }
        let description = ModelDescription.of(try type(identifier.entityName))
        let values = try SnapshotEncoder.values(of: snapshot, description)
        return try SnapshotRows.typed(
            DefaultSnapshot(identifier, values), entity, description, in: self.identifier, schema)
    }

    private func check(_ found: PersistentIdentifier, as entityName: String?) throws {
        guard found.store == identifier else {
            throw LarderError(
                .foreignIdentifier, "the store returned an object that is not its own",
                uri: found.uriRepresentation)
        }
        guard schema.entity(named: found.entityName) != nil,
            entityName.map({ schema.isKind(found.entityName, of: $0) }) ?? true
        else { throw unknownEntity(found, entityName) }
    }

    private func unknownEntity(_ found: PersistentIdentifier, _ entityName: String?) -> LarderError
    {
        LarderError(
            .unknownEntity,
            "the store returned a \(found.entityName) for a fetch of \(entityName ?? "objects")",
            uri: found.uriRepresentation)
    }

    private func checkUnique(_ found: [PersistentIdentifier]) throws {
        var seen: Set<PersistentIdentifier> = []
        guard let double = found.first(where: { !seen.insert($0).inserted }) else { return }
        throw LarderError(
            .malformedIdentifier, "the store returned \(double) twice in one result",
            uri: double.uriRepresentation)
    }

    func snapshot<Result>(_ body: (any ObjectStore) throws -> Result) throws -> Result {
        throw LarderError(.unsupported, "a store that others write has no snapshots")
    }
}
