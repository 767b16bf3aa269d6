internal import Foundation
internal import LarderModel
internal import LarderObjects

extension CustomStore {
    func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        try save(changes, ifOnly: nil)
    }

    func save(
        _ changes: ChangeSet, deleting fetch: ObjectFetch
    ) throws(LarderError) -> SaveResult {
        try save(changes, ifOnly: fetch)
    }

    /// - Parameter deletion: The fetch that has found the objects, if the changes only delete them.
    private func save(
        _ changes: ChangeSet, ifOnly deletion: ObjectFetch?
    ) throws(LarderError) -> SaveResult {
        // Observers may wait for a lock of a thread that waits for the store.
        defer { deliver() }
        return try calling {
            state.author = changes.author.isEmpty ? nil : changes.author
            let changed = try StoreChanges(changes, schema) { [self] identifiers in
                try read(identifiers).mapValues(\.values)
            }
            if let saved = changed.inserted.first(where: saves.unusable.contains) {
                throw Self.noIdentifier(saved)
            }
            if let deletion, try delete(deletion, changed) {
                return SaveResult(transaction: commit(changed))
            }
            let result = try store.save(request(changed))
            var saved = try saved(changed, result)
            let differing = result.snapshotsToReregister
            saved.merged = changes.changes.indices.filter { index in
                guard let identifier = changes.changes[index].identifier else { return false }
                return differing[result.remappedIdentifiers[identifier] ?? identifier] != nil
            }
            return saved
        }
    }

    private func request(
        _ changed: StoreChanges
    ) throws -> DataStoreSaveChangesRequest<Store.Snapshot> {
        let stored = changed.stored.compactMapValues { $0 }
        var new = SnapshotSource(stored.merging(changed.rows) { _, new in new }, types)
        let inserted: [Store.Snapshot] = try changed.inserted.map { try new.snapshot(of: $0) }
        let updated: [Store.Snapshot] = try changed.updated.map { try new.snapshot(of: $0) }
        var old = SnapshotSource(changed.deleted.isEmpty ? [:] : stored, types)
        return DataStoreSaveChangesRequest(
            editingState: state, inserted: inserted, updated: updated,
            deleted: try changed.deleted.map { try old.snapshot(of: $0) })
    }

    /// The store has saved the changes, so they are announced before the result is checked.
    private func saved(
        _ changed: StoreChanges, _ result: DataStoreSaveChangesResult<Store.Snapshot>
    ) throws -> SaveResult {
        var saved = SaveResult()
        var seen: Set<PersistentIdentifier> = []
        for temporary in changed.inserted {
            guard let new = result.remappedIdentifiers[temporary], new.store == identifier,
                new.entityName == temporary.entityName,
                seen.insert(new).inserted || isUnique(new.entityName)
            else {
                saves.unusable.insert(temporary)
                continue
            }
            saved.inserted.append(new)
        }
        let number = commit(changed, inserted: saved.inserted)
        saved.transaction = number
        if let token = result.historyToken {
            // The tokens of saves that failed in another store of the container are not taken.
            if saves.tokens.count >= tokensMax { saves.tokens = [:] }
            saves.tokens[number] = token
        }
        if let temporary = changed.inserted.first(where: saves.unusable.contains) {
            saves.unusable.formUnion(changed.inserted)
            throw Self.noIdentifier(temporary)
        }
        return saved
    }

    private var tokensMax: Int { 64 }

    /// Whether two new objects of an entity may be one in the store.
    private func isUnique(_ entityName: String) -> Bool {
        guard let entity = schema.entity(named: entityName) else { return false }
        return !entity.uniquenessConstraints.isEmpty
            || entity.attributes.contains(where: \.isUnique)
    }

    private static func noIdentifier(_ temporary: PersistentIdentifier) -> LarderError {
        LarderError(
            .malformedIdentifier,
            "the store saved a new \(temporary.entityName) and gave it no identifier of its own",
            hint: "it is not saved again; roll the context back and fetch")
    }

    // MARK: - Deleting what matches

    /// Has the store delete what matches, if that is all that the changes do: the store still has
    /// exactly these objects, and no other one refers to them.
    ///
    /// - Returns: whether it did.
    private func delete(_ fetch: ObjectFetch, _ changed: StoreChanges) throws -> Bool {
        guard let source = fetch.source as? any StoreFetch, changed.updated.isEmpty,
            let batching = store as? any DataStoreBatching,
            Set(try identifiers(fetch, limit: nil, offset: nil)) == Set(changed.deleted)
        else { return false }
        let includesSubclasses = fetch.includesSubentities
        return try source.delete(in: batching, state, includeSubclasses: includesSubclasses) != nil
    }

    func erase() throws(LarderError) {
        defer { deliver() }
        try calling {
            var erased: [PersistentIdentifier] = []
            for entity in schema.entities where entity.parent == nil {
                erased += try identifiers(ObjectFetch(entity.name), limit: nil, offset: nil)
            }
            try store.erase()
            announce(erased.map { ($0, .deleted, []) })
        }
    }

    // MARK: - Commits

    private func commit(
        _ changed: StoreChanges, inserted: [PersistentIdentifier] = []
    ) -> Int64 {
        announce(
            inserted.map { ($0, .inserted, []) }
                + changed.updated.map { ($0, .updated, changed.names[$0, default: []].sorted()) }
                + changed.deleted.map { ($0, .deleted, []) })
    }

    /// - Returns: the number of the commit.
    @discardableResult
    private func announce(
        _ changes: [(PersistentIdentifier, HistoryRun.Kind, names: [String])]
    ) -> Int64 {
        saves.number += 1
        let runs = changes.compactMap { identifier, kind, names in
            identifier.permanentKey.map {
                HistoryRun(kind, identifier.entityName, $0...$0, properties: names)
            }
        }
        let transaction = LarderModel.HistoryTransaction(
            token: LarderModel.HistoryToken(store: identifier, epoch: 0, number: saves.number),
            timestamp: Date(), author: state.author ?? "", runs: runs)
        saves.commits.withLock { if saves.delivery.isObserved { $0.append(transaction) } }
        return saves.number
    }

    /// Tells the observers what was committed. It is called without the lock.
    private func deliver() {
        guard let last = saves.commits.withLock({ $0.last?.id }) else { return }
        saves.delivery.committed(last) { number in
            saves.commits.withLock { commits in
                defer { commits = [] }
                return commits.filter { $0.id > number }
            }
        }
    }

    func observeCommits(
        _ body: @escaping @Sendable (LarderModel.HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable { saves.delivery.observe(body) }

    /// The position after the last save of this process.
    func currentToken() throws(LarderError) -> LarderModel.HistoryToken {
        try calling { LarderModel.HistoryToken(store: identifier, epoch: 0, number: saves.number) }
    }
}
