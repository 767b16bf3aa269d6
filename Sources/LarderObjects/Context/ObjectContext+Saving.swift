package import FoundationEssentials
package import LarderModel

extension ObjectContext {
    /// The objects that a save has changed.
    package struct Saved {
        package var inserted: [StoredObject] = []
        package var updated: [StoredObject] = []
        package var deleted: [StoredObject] = []
        /// The permanent identifiers of inserted objects, by their temporary ones.
        package var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
        /// The number of the transaction in each store, by the store's identifier.
        package var transactions: [UUID: Int64] = [:]
    }

    /// Saves all changes, as one transaction in each store.
    ///
    /// A change of an object that somebody has deleted is dropped. If a store refuses the changes,
    /// the context keeps them.
    ///
    /// - Throws: errors of the store, with every violation: its URI is that of the object of the
    ///   change that is rejected; `validationFailed` with each value that was set and cannot be
    ///   saved; the error of a read that has failed since the last save, once; `readOnly` in a
    ///   snapshot, and for a change of an object in a store for reading only, and then nothing is
    ///   saved.
    package func save() throws(LarderError) -> Saved {
        guard !isInSnapshot else {
            throw LarderError(
                .readOnly, "changes cannot be saved in a snapshot", hint: "save them after it")
        }
        let saved = try locked { () throws(LarderError) in
            applyCommitsOfOthers()
            propagateDeletions()
            try checkReads()
            try checkRefusals()
            if let parent { return push(to: parent) }
            var saved = Saved()
            for store in model.allStores
            where store.isReadOnly
                && [inserted, updated, deleted].contains(where: {
                    $0.values.contains { isOwn($0, of: store) }
                })
            { throw .readOnlyStore }
            for store in model.allStores { try save(to: store, &saved) }
            saveCount += 1
            keptLists.removeAll()
            undoLog?.rename(saved.identifiers)
            deletion = nil
            willRename(saved.identifiers)
            return saved
        }
        // Without the lock: a child takes that of its parent while it has its own.
        renameInChildren(saved.identifiers)
        return saved
    }

    private func save(to store: any ObjectStore, _ saved: inout Saved) throws(LarderError) {
        var inserts = inserted.values.filter { isOwn($0, of: store) }.inOrder
        var updates = updated.values.filter { isOwn($0, of: store) }.inOrder
        var deletions = deleted.values.filter { isOwn($0, of: store) }.inOrder
        guard !inserts.isEmpty || !updates.isEmpty || !deletions.isEmpty else { return }
        let lateInserts = replacements(of: deletions, among: inserts, in: store)
        if !lateInserts.isEmpty {
            let late = Set(lateInserts.map(ObjectIdentifier.init))
            inserts = inserts.filter { !late.contains(ObjectIdentifier($0)) } + lateInserts
        }
        try checkReads()
        var result = SaveResult()
        // Objects whose values in the store are not those of the context.
        var merged: Set<PersistentIdentifier> = []
        var upserted: [Upserted] = []
        // Objects to which changed objects refer, and that others have deleted.
        var missing: Set<PersistentIdentifier> = []
        while true {
            var plan = SavePlan(model, author: author, conflicts) { [self, missing] identifier in
                if missing.contains(identifier) { return false }
                switch registeredObject(for: identifier)?.status {
                case .inserted?, .saved?: return true
                case .deleted?, .gone?, .unmanaged?: return false
                case nil: return !identifier.isTemporary
                }
            }
            plan.add(
                inserts: Array(inserts.dropLast(lateInserts.count)), lateInserts: lateInserts,
                updates: updates, deletions: deletions)
            guard !plan.changes.changes.isEmpty else { break }
            do throws(LarderError) {
                let isDeletion = inserts.isEmpty && updates.isEmpty
                if isDeletion, let fetch = fetch(deleting: deletions) {
                    result = try store.save(plan.changes, deleting: fetch)
                } else {
                    result = try store.save(plan.changes)
                }
                let changes = plan.changes.changes
                merged = Set(
                    result.merged.filter(changes.indices.contains)
                        .compactMap { changes[$0].identifier })
                upserted = result.upserted.filter(inserts.indices.contains).compactMap {
                    Upserted(inserts[$0], changes[plan.insertIndexes[$0]])
                }
                break
            } catch {
                if let gone = objectNotFound(error, among: updates + deletions) {
                    updates.removeAll { $0 === gone }
                    deletions.removeAll { $0 === gone }
                    removeGone(gone)
                } else {
                    let targets = targetsNotFound(error).subtracting(missing)
                    guard !targets.isEmpty else { throw error.naming(plan.changes.changes) }
                    missing.formUnion(targets)
                }
            }
        }
        forget(merged, among: updates)
        let changed = finish(inserts, updates, deletions, merged, result, store, &saved)
        forgetUnknown(changed, upserted, in: store)
        if !missing.isEmpty { for object in inserts + updates { remove(missing, from: object) } }
    }

    private func isOwn(_ object: StoredObject, of store: any ObjectStore) -> Bool {
        guard model.allStores.count > 1 else { return true }
        guard let name = object.entity?.name else { return false }
        // The entities of objects have a store.
        return (try? model.store(of: name)) === store
    }

    /// The object that the store does not have any more.
    private func objectNotFound(
        _ error: LarderError, among objects: [StoredObject]
    ) -> StoredObject? {
        guard error.code == .objectNotFound else { return nil }
        let uris = ([error.uri] + error.details.map(\.uri)).compactMap { $0 }
        return objects.first { uris.contains($0.identifier.uriRepresentation) }
    }

    private func targetsNotFound(_ error: LarderError) -> Set<PersistentIdentifier> {
        guard error.code == .objectNotFound else { return [] }
        let uris = ([error.uri] + error.details.map(\.uri)).compactMap { $0 }
        // A text that is no URI names no object, so that the error stays as it is.
        return Set(uris.compactMap { try? PersistentIdentifier(uriRepresentation: $0) })
    }

    /// Removes objects that others have deleted from the relationships of an object.
    private func remove(_ missing: Set<PersistentIdentifier>, from object: StoredObject) {
        guard let entity = object.entity else { return }
        for identifier in missing {
            if let gone = registeredObject(for: identifier) { removeGone(gone) }
        }
        for property in entity.properties where property.kind != .attribute {
            drop(missing, from: object, property.slot)
        }
    }

    /// The values that a store has changed are read again.
    private func forget(_ merged: Set<PersistentIdentifier>, among updates: [StoredObject]) {
        for object in updates where merged.contains(object.identifier) {
            object.forget()
            for property in object.entity?.properties ?? [] { notify(object, property.slot) }
        }
    }

    /// - Returns: inserted objects that may not have the values of the store, and objects that the
    ///   context had before under their identifiers.
    private func finish(
        _ inserts: [StoredObject], _ updates: [StoredObject], _ deletions: [StoredObject],
        _ merged: Set<PersistentIdentifier>, _ result: SaveResult, _ store: any ObjectStore,
        _ saved: inout Saved
    ) -> [StoredObject] {
        var identifiers = [PersistentIdentifier: PersistentIdentifier](
            minimumCapacity: inserts.count)
        for (object, identifier) in zip(inserts, result.inserted) {
            identifiers[object.identifier] = identifier
        }
        let hasUpserts = !merged.isEmpty || !result.upserted.isEmpty
        for object in inserts + updates { replace(identifiers, in: object, hasUpserts) }
        remove(inserts, from: &inserted)
        var changed: [StoredObject] = []
        for (index, object) in inserts.enumerated() {
            let temporary = object.identifier
            let isMerged = merged.contains(temporary)
            unregister(temporary)
            guard index < result.inserted.count else { continue }
            let identifier = result.inserted[index]
            object.identifier = identifier
            object.status = .saved
            object.siblings = nil
            object.isTouched = false
            object.assignedLists = []
            let registered = register(object, in: store)
            if registered !== object {
                changed += [object, registered]
            } else if isMerged {
                changed.append(object)
            }
        }
        remove(updates, from: &updated)
        for object in updates {
            object.committed = [:]
            object.isTouched = false
        }
        for object in deletions {
            removeGone(object)
            unlink(object)
        }
        saved.inserted += inserts
        saved.updated += updates
        saved.deleted += deletions
        if saved.identifiers.isEmpty {
            saved.identifiers = identifiers
        } else {
            saved.identifiers.merge(identifiers) { _, new in new }
        }
        if let number = result.transaction {
            saved.transactions[store.identifier] = number
            others.ignoreUpdates(number, of: store.identifier)
        }
        return changed
    }

    /// Removes objects that were saved, usually all.
    private func remove(
        _ saved: [StoredObject], from changed: inout [ObjectIdentifier: StoredObject]
    ) {
        guard saved.count < changed.count else {
            changed = [:]
            return
        }
        for object in saved { changed[ObjectIdentifier(object)] = nil }
    }

    /// Replaces temporary identifiers of saved objects. A list has a member once, also if an insert
    /// became an update of it.
    private func replace(
        _ identifiers: [PersistentIdentifier: PersistentIdentifier], in object: StoredObject,
        _ hasUpserts: Bool
    ) {
        guard !identifiers.isEmpty, let entity = object.entity else { return }
        for property in entity.relationships {
            switch object[property.slot] {
            case .object(let identifier)?:
                if let new = identifiers[identifier] { object[property.slot] = .object(new) }
            case .objects(let list)? where list.contains(where: \.isTemporary):
                var members = list.map { identifiers[$0] ?? $0 }
                if hasUpserts {
                    var seen: Set<PersistentIdentifier> = []
                    members.removeAll { !seen.insert($0).inserted }
                }
                object[property.slot] = .objects(members)
            default: break
            }
        }
    }
}

extension LarderError {
    /// The error with the object of the rejected change in each violation. A deletion may break
    /// rules of other objects, which are named already, and its own delete rule.
    fileprivate func naming(_ changes: [Change]) -> LarderError {
        var error = self
        for (index, violation) in details.enumerated() {
            guard let number = violation.change, changes.indices.contains(number) else { continue }
            if case .delete = changes[number], violation.rule != .deleteRule { continue }
            error.details[index].uri = violation.object(of: number, in: changes)?.uriRepresentation
        }
        return error
    }
}

extension ChangeViolation {
    /// The object that breaks the rule: that of the change, or the one to whose list a change adds
    /// the change's object, as the last one of too many.
    fileprivate func object(of number: Int, in changes: [Change]) -> PersistentIdentifier? {
        let changed = changes[number].identifier
        guard let changed, rule == .maxCount, changed.entityName != entityName else {
            return changed
        }
        let owner = changes.first { change in
            switch change {
            case .insert(_, _, let edits), .update(_, _, _, _, let edits):
                edits.contains { edit in
                    guard case .add(let members, to: let name, _) = edit else { return false }
                    return propertyNames.contains(name) && members.contains(changed)
                }
            default: false
            }
        }
        return owner?.identifier ?? changed
    }
}
