internal import LarderModel

// Values that were not read yet are read for many objects at once: those that were read together
// with the object, so a loop over objects and their relationships makes few requests.

extension ObjectContext {
    private static let loadedMax = 1_000

    /// Reads the property of an object, and of others that were read together with it.
    ///
    /// - Returns: why it could not be read, in a sentence for an error.
    @discardableResult
    func load(_ object: StoredObject, _ slot: Int) -> String? {
        locked {
            guard object.status == .saved || object.status == .deleted,
                let entity = object.entity, slot < entity.properties.count,
                object[slot] == nil
            else { return nil }
            if let value = entity.properties[slot].ephemeralValue {
                object[slot] = value
                return nil
            }
            if let parent { return load(object, slot, from: parent) }
            guard let store = model.store(of: object.identifier) else { return nil }
            if loadFromRegistered(object, slot, in: store) { return nil }
            let property = entity.properties[slot]
            // A list is read alone; attributes are read all together.
            let names = property.kind == .toMany ? [property.name] : rowNames(of: entity)
            let identifiers = siblings(of: object).filter { identifier in
                guard identifier != object.identifier else { return true }
                // A fetch of a superclass finds siblings that do not have all of these properties.
                guard model.isOf(identifier.entityName, entity.name),
                    let other = registeredObject(for: identifier)
                else { return false }
                return other[slot] == nil && other.isManaged
            }
            do throws(LarderError) {
                fill(try store.objects(identifiers, properties: names), store)
            } catch {
                return readFailed(error, of: object, slot)
            }
            // Someone has deleted the object.
            if object[slot] == nil, object.status == .saved { removeGone(object) }
            return nil
        }
    }

    private func siblings(of object: StoredObject) -> [PersistentIdentifier] {
        object.siblings?.identifiers(from: object.siblingIndex, max: Self.loadedMax)
            ?? [object.identifier]
    }

    /// The stored attributes and to-one relationships.
    func rowNames(of entity: ObjectEntity) -> [String] {
        entity.properties.filter { $0.kind != .toMany && $0.ephemeralValue == nil }.map(\.name)
    }

    /// Stores values that were not known yet.
    private func fill(_ batches: [Batch], _ store: any ObjectStore) {
        var values = StoredValues(self)
        for batch in batches where batch.identity != nil {
            let rows = BatchRows(batch, model, store: store.identifier).shown(&values)
            for row in 0..<rows.count {
                guard let layout = rows.layout(at: row),
                    let object = registeredObject(for: rows.identifier(at: row))
                else { continue }
                for case let slot? in layout.slots where object[slot] == nil {
                    object.setStored(rows.cells[row][slot], at: slot)
                }
            }
        }
    }

    /// Reads the related objects that the context does not have, and those of its siblings. Links
    /// to objects that do not exist any more are dropped.
    ///
    /// - Returns: the related objects, which the context may not keep without the caller.
    @discardableResult
    func loadRelated(
        _ identifiers: [PersistentIdentifier], of object: StoredObject, _ slot: Int
    ) -> [StoredObject] {
        let (known, others) = registered(identifiers)
        guard !others.isEmpty else { return known }
        var missing = others
        var seen = Set(missing)
        for sibling in siblings(of: object) where missing.count < Self.loadedMax {
            guard let other = registeredObject(for: sibling) else { continue }
            missing += (other[slot]?.links ?? []).filter {
                seen.insert($0).inserted && registeredObject(for: $0) == nil
            }
        }
        let found: [StoredObject]
        do throws(LarderError) {
            found = try read(missing)
        } catch {
            readFailed(error)
            return identifiers.compactMap(unread)
        }
        return withExtendedLifetime((known, found)) {
            let (related, gone) = registered(identifiers)
            guard !gone.isEmpty else { return related }
            drop(Set(gone), from: object, slot)
            return identifiers.compactMap { registeredObject(for: $0) }
        }
    }

    /// The objects that the context has, and the identifiers of the others.
    private func registered(
        _ identifiers: [PersistentIdentifier]
    ) -> (objects: [StoredObject], others: [PersistentIdentifier]) {
        var (objects, others): ([StoredObject], [PersistentIdentifier]) = ([], [])
        objects.reserveCapacity(identifiers.count)
        for identifier in identifiers {
            if let object = registeredObject(for: identifier) {
                objects.append(object)
            } else {
                others.append(identifier)
            }
        }
        return (objects, others)
    }

    /// Removes links to objects that do not exist from a relationship. It is no change of the
    /// context: the store has done the same.
    func drop(_ gone: Set<PersistentIdentifier>, from object: StoredObject, _ slot: Int) {
        guard let value = object[slot], value.links.contains(where: gone.contains) else { return }
        switch value {
        case .objects(let list):
            if let base = object.committed[slot]?.links {
                object.committed[slot] = .objects(base.filter { !gone.contains($0) })
            }
            object[slot] = .objects(list.filter { !gone.contains($0) })
        default:
            // A changed relationship stays a change, which a save makes nil.
            guard object.committed[slot] == nil else { return }
            object[slot] = .null
        }
        notify(object, slot)
    }

    /// Reads an object that the context does not have.
    func loaded(_ identifier: PersistentIdentifier) -> StoredObject? {
        do throws(LarderError) {
            try read([identifier])
            return registeredObject(for: identifier)
        } catch {
            readFailed(error)
            return unread(identifier)
        }
    }

    /// An object that cannot be read now. It is not known to be gone, and its values are read when
    /// they are used.
    private func unread(_ identifier: PersistentIdentifier) -> StoredObject? {
        if let known = registeredObject(for: identifier) { return known }
        guard let entity = model.entities[identifier.entityName],
            let store = model.store(of: identifier)
        else { return nil }
        return register(StoredObject(identifier, entity, .saved, place), in: store)
    }

    /// Reads objects by their identifiers.
    ///
    /// - Returns: those that exist.
    @discardableResult
    func read(_ identifiers: [PersistentIdentifier]) throws(LarderError) -> [StoredObject] {
        releaseUnused()
        if let parent { return try read(identifiers, from: parent) }
        var found: [StoredObject] = []
        for (entityName, group) in Dictionary(grouping: identifiers, by: \.entityName) {
            // An identifier of an unknown entity is that of no object.
            guard let entity = model.entities[entityName],
                let store = try? model.store(of: entityName)
            else { continue }
            let permanent = group.filter { $0.store == store.identifier }
            var start = 0
            while start < permanent.count {
                let part = Array(permanent[start...].prefix(Self.loadedMax))
                start += part.count
                let batches = try store.objects(part, properties: rowNames(of: entity))
                for batch in batches { found += register(batch, store).objects }
            }
        }
        keep(found)
        return found
    }

    /// Registers the objects of the rows of a batch, with the values of objects without changes.
    ///
    /// - Returns: all of them, and those that the context had before.
    func register(
        _ batch: Batch, _ store: any ObjectStore
    ) -> (objects: [StoredObject], known: [StoredObject]) {
        guard batch.identity != nil, batch.rowCount > 0 else { return ([], []) }
        var values = StoredValues(self)
        let stored = BatchRows(batch, model, store: store.identifier)
        let shown = stored.shown(&values)
        let siblings = Siblings(batch.objects, store: store.identifier)
        let tables = registered(stored.entityNames, of: batch, in: store)
        let place = place
        var (objects, known): ([StoredObject], [StoredObject]) = ([], [])
        objects.reserveCapacity(batch.rowCount)
        for row in 0..<shown.count {
            guard let layout = shown.layout(at: row) else { continue }
            let table = tables[shown.entityIndex(at: row)]
            let (object, isNew) = table.object(for: shown.identity.keys[row]) {
                StoredObject(
                    shown.identifier(at: row), layout.entity, .saved, place, shown.cells[row])
            }
            if !isNew {
                refresh(object, layout, stored: stored.cells[row], shown: shown.cells[row])
                known.append(object)
            }
            object.siblings = siblings
            object.siblingIndex = row
            objects.append(object)
        }
        return (objects, known)
    }

    /// Replaces the values of properties without changes.
    ///
    /// - Parameters:
    ///   - stored: The values of the store.
    ///   - shown: The values as the context shows them.
    func refresh(
        _ object: StoredObject, _ layout: BatchRows.Layout, stored: [Value?], shown: [Value?]
    ) {
        guard object.status == .saved else { return }
        for case let slot? in layout.slots {
            guard let former = stored[slot], var value = shown[slot] else { continue }
            if object.committed[slot] != nil {
                guard case .objects(let list) = former else { continue }
                if inverse(of: object, slot)?.kind == .toOne {
                    object.committed[slot] = former
                } else {
                    value = .objects(rebased(object, slot, list))
                }
                value = inOrder(value, of: object[slot])
            }
            let known = object[slot]
            guard known != value else { continue }
            object.setStored(value, at: slot)
            if known != nil { notify(object, slot) }
        }
    }

    /// Makes the changes of a list changes of the list that the store has by now.
    ///
    /// - Returns: the list with the changes.
    private func rebased(
        _ object: StoredObject, _ slot: Int, _ stored: [PersistentIdentifier]
    ) -> [PersistentIdentifier] {
        let current = object[slot]?.links ?? []
        let former = object.committed[slot]?.links ?? []
        let removed = Set(former).subtracting(current)
        let added = Set(current).subtracting(former)
        // An object that this context has added or removed stays a change of its own.
        let base = stored.filter { !added.contains($0) }
        object.committed[slot] = .objects(
            base + former.filter { removed.contains($0) && !base.contains($0) })
        return base.filter { !removed.contains($0) } + current.filter(added.contains)
    }

    /// A list in the order that the context has given it; new members are last.
    private func inOrder(_ value: Value, of known: Value?) -> Value {
        let members = Set(value.links)
        let kept = (known?.links ?? []).filter(members.contains)
        let listed = Set(kept)
        return .objects(kept + value.links.filter { !listed.contains($0) })
    }

    /// Reads again the lists that objects have, unless they were read just now.
    ///
    /// - Throws: errors of the store.
    func refreshLists(
        of objects: [StoredObject], except read: Set<String> = []
    ) throws(LarderError) {
        guard parent == nil else { return }
        var groups: [String: (store: any ObjectStore, name: String, ids: [PersistentIdentifier])] =
            [:]
        for object in objects where object.status == .saved {
            guard let entity = object.entity else { continue }
            for property in entity.relationships
            where property.kind == .toMany && object[property.slot] != nil
                && !read.contains(property.name)
            {
                guard let store = model.store(of: object.identifier) else { continue }
                groups["\(entity.name).\(property.name)", default: (store, property.name, [])].ids
                    .append(object.identifier)
            }
        }
        for group in groups.values { try readAgain([group.name], of: group.ids, in: group.store) }
    }

    /// Reads again the attributes and to-one relationships of subclasses that objects have. A fetch
    /// of their superclass has read only those of the superclass.
    ///
    /// - Throws: errors of the store.
    func refreshOwnProperties(
        of objects: [StoredObject], except superentityName: String
    ) throws(LarderError) {
        guard let superentity = model.entities[superentityName] else { return }
        let subobjects = objects.filter {
            $0.status == .saved && $0.identifier.entityName != superentityName
        }
        let groups = Dictionary(grouping: subobjects) { $0.identifier.entityName }
        for (entityName, group) in groups {
            // The objects have been fetched, so that their entities are known.
            guard let entity = model.entities[entityName],
                let store = try? model.store(of: entityName)
            else { continue }
            let names = rowNames(of: entity).filter { name in
                guard superentity.slot(named: name) == nil, let slot = entity.slot(named: name)
                else { return false }
                return group.contains { $0[slot] != nil }
            }
            if !names.isEmpty { try readAgain(names, of: group.map(\.identifier), in: store) }
        }
    }

    private func readAgain(
        _ names: [String], of identifiers: [PersistentIdentifier], in store: any ObjectStore
    ) throws(LarderError) {
        var start = 0
        while start < identifiers.count {
            let part = Array(identifiers[start...].prefix(Self.loadedMax))
            start += part.count
            for batch in try store.objects(part, properties: names) { refresh(batch, store) }
        }
    }

    private func refresh(_ batch: Batch, _ store: any ObjectStore) {
        guard batch.identity != nil else { return }
        var values = StoredValues(self)
        let stored = BatchRows(batch, model, store: store.identifier)
        let shown = stored.shown(&values)
        for row in 0..<shown.count {
            guard let layout = shown.layout(at: row),
                let object = registeredObject(for: shown.identifier(at: row))
            else { continue }
            refresh(object, layout, stored: stored.cells[row], shown: shown.cells[row])
        }
    }
}
