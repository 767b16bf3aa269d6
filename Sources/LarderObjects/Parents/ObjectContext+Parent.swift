internal import LarderModel

// A context with a parent shows the parent's objects, with the parent's pending changes, under the
// same identifiers. It has values of its own: those that it has read from the parent, and its
// changes until a save makes them changes of the parent.
//
// A child takes the lock of its parent while it has its own, never the other way round.

/// Sendable unchecked: a weak reference, which is used under the lock of the parent.
struct WeakContext: @unchecked Sendable { weak var context: ObjectContext? }

extension ObjectContext {
    var liveChildren: [ObjectContext] { children.compactMap(\.context) }

    // MARK: - Reading

    /// The objects that a fetch of the parent finds.
    ///
    /// - Throws: errors of the store and of the predicate.
    func objects(
        of parent: ObjectContext, _ fetch: ObjectFetch
    ) throws(LarderError) -> [StoredObject] {
        releaseUnused()
        return try parent.locked { () throws(LarderError) in
            show(try parent.fetch(fetch), of: parent).filter { $0.status != .gone }
        }
    }

    /// Reads objects by their identifiers, as the parent has them.
    ///
    /// - Throws: errors of the store.
    func read(
        _ identifiers: [PersistentIdentifier], from parent: ObjectContext
    ) throws(LarderError) -> [StoredObject] {
        try parent.locked { () throws(LarderError) in
            var originals: [StoredObject] = []
            var missing: [PersistentIdentifier] = []
            for identifier in identifiers {
                let current = parent.renamed[identifier] ?? identifier
                if let known = parent.registeredObject(for: current),
                    known.status == .inserted || known.hasChanges || known.hasValues
                {
                    originals.append(known)
                } else {
                    missing.append(current)
                }
            }
            if !missing.isEmpty { originals += try parent.objects(for: missing) }
            let found = show(originals, of: parent)
            keep(found)
            return found
        }
    }

    /// Reads a property of an object, and what else the parent has read of it.
    ///
    /// - Returns: why it could not be read, in a sentence for an error.
    func load(_ object: StoredObject, _ slot: Int, from parent: ObjectContext) -> String? {
        parent.locked {
            guard let original = original(of: object, in: parent), let entity = object.entity else {
                // The parent does not have it any more.
                if object.status == .saved { removeGone(object) }
                return nil
            }
            if original[slot] == nil, let reason = parent.load(original, slot) {
                let error = parent.failedReads.forFetch ?? LarderError(.storageFailed, reason)
                return readFailed(error, of: object, slot)
            }
            var values = StoredValues(self)
            for property in entity.properties
            where object[property.slot] == nil && property.ephemeralValue == nil {
                guard let value = original[property.slot] else { continue }
                object.setStored(
                    shown(parent.visible(value), of: object.identifier, property, &values),
                    at: property.slot)
            }
            if object[slot] == nil, object.status == .saved { removeGone(object) }
            return nil
        }
    }

    /// The object of the parent with a temporary identifier.
    func objectOfParent(_ identifier: PersistentIdentifier) -> StoredObject? {
        guard let parent else { return nil }
        if let known = registeredObject(for: identifier), known.status == .saved { return known }
        return parent.locked {
            let current = parent.renamed[identifier] ?? identifier
            guard
                let original = parent.registeredObject(for: current)
                    ?? parent.objectOfParent(current)
            else { return nil }
            return show([original], of: parent).first
        }
    }

    /// The object that an object shows; nil if the parent does not have it any more.
    func original(of object: StoredObject, in parent: ObjectContext) -> StoredObject? {
        if let known = object.original, known.context === parent, known.isManaged { return known }
        let identifier = parent.renamed[object.identifier] ?? object.identifier
        let found =
            parent.registeredObject(for: identifier) ?? parent.objectOfParent(identifier)
            ?? (identifier.isTemporary ? nil : parent.loaded(identifier))
        guard let found, found.isManaged else { return nil }
        object.original = found
        return found
    }

    // MARK: - Showing

    /// The objects that show those of the parent. Objects without changes are refreshed. Those that
    /// the parent will delete are left out.
    private func show(_ originals: [StoredObject], of parent: ObjectContext) -> [StoredObject] {
        var values = StoredValues(self)
        var layouts: [ObjectIdentifier: BatchRows.Layout] = [:]
        var shown: [StoredObject] = []
        shown.reserveCapacity(originals.count)
        for original in originals {
            guard original.status == .saved || original.status == .inserted,
                let entity = original.entity
            else { continue }
            let identifier = original.identifier
            let (stored, cells) = cells(of: original, entity, parent, &values)
            if let known = registeredObject(for: identifier) {
                let layout =
                    layouts[ObjectIdentifier(entity)]
                    ?? BatchRows.Layout(entity, entity.properties.map(\.slot))
                layouts[ObjectIdentifier(entity)] = layout
                known.original = original
                refresh(known, layout, stored: stored, shown: cells)
                shown.append(known)
            } else {
                let new = StoredObject(identifier, entity, .saved, place, cells)
                new.original = original
                shown.append(register(new, in: model.store(of: identifier)))
            }
        }
        return shown
    }

    /// The values that the parent has read, as it shows them and as this context does.
    private func cells(
        of original: StoredObject, _ entity: ObjectEntity, _ parent: ObjectContext,
        _ values: inout StoredValues
    ) -> (stored: [Value?], shown: [Value?]) {
        let cells = original.cells
        var stored: [Value?] = []
        var shown: [Value?] = []
        for property in entity.properties {
            guard property.ephemeralValue == nil, property.slot < cells.count,
                let value = cells[property.slot]
            else {
                stored.append(nil)
                shown.append(nil)
                continue
            }
            let visible = parent.visible(value)
            stored.append(visible)
            shown.append(self.shown(visible, of: original.identifier, property, &values))
        }
        return (stored, shown)
    }

    /// A value without links to objects that the context will delete.
    private func visible(_ value: Value) -> Value {
        guard !deleted.isEmpty else { return value }
        func isDeleted(_ identifier: PersistentIdentifier) -> Bool {
            registeredObject(for: identifier)?.status == .deleted
        }
        switch value {
        case .object(let identifier): return isDeleted(identifier) ? .null : value
        case .objects(let list): return .objects(list.filter { !isDeleted($0) })
        default: return value
        }
    }

    private func shown(
        _ value: Value, of identifier: PersistentIdentifier, _ property: ObjectProperty,
        _ values: inout StoredValues
    ) -> Value {
        guard values.hasPendingChanges, case .objects(let list) = value else { return value }
        return .objects(values.shown(list, of: identifier, property))
    }

    // MARK: - Changes of the parent

    /// Merges what has changed in the parent, if the context follows it.
    ///
    /// - Returns: the identifiers of the registered objects that have changed.
    func applyChanges(of parent: ObjectContext) -> [PersistentIdentifier] {
        let changes = changesOfParent.take()
        guard isFollowing, !changes.isEmpty || changes.isOverflowed else { return [] }
        let inserts = changes.inserted.filter { registeredObject(for: $0) == nil }
        let objects = parent.locked {
            let objects =
                changes.isOverflowed
                ? registered : changes.changed.compactMap { registeredObject(for: $0) }
            let saved = objects.filter { $0.status == .saved }
            _ = show(saved.compactMap { original(of: $0, in: parent) }, of: parent)
            let gone =
                changes.isOverflowed
                ? saved.filter { original(of: $0, in: parent)?.status != .saved }
                : changes.deleted.compactMap { registeredObject(for: $0) }
            for object in gone where object.status == .saved && !isStill(object, in: parent) {
                becomeGone(object)
            }
            return saved
        }
        noteInserts(Array(inserts))
        note(
            entities: changes.isOverflowed ? Set(model.entities.keys) : changes.entityNames)
        return objects.map(\.identifier)
    }

    private func isStill(_ object: StoredObject, in parent: ObjectContext) -> Bool {
        switch original(of: object, in: parent)?.status {
        case .inserted?, .saved?: true
        default: false
        }
    }

    // MARK: - Identifiers

    /// Keeps the identifiers of a save until the children have them. Called under the lock.
    func willRename(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) {
        if !liveChildren.isEmpty { renamed.merge(identifiers) { _, new in new } }
    }

    /// Gives the objects of the children the permanent identifiers of saved ones.
    func renameInChildren(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) {
        guard !identifiers.isEmpty else { return }
        let children = locked { liveChildren }
        for child in children { child.rename(identifiers) }
        locked { for temporary in identifiers.keys { renamed[temporary] = nil } }
    }

    private func rename(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) {
        locked {
            for (temporary, identifier) in identifiers {
                guard let object = registeredObject(for: temporary) else { continue }
                unregister(temporary)
                object.identifier = identifier
                let known = register(object, in: model.store(of: identifier))
                if known !== object { shareObject(known, withInstanceOf: object) }
            }
            for object in registered {
                for property in object.entity?.relationships ?? [] {
                    let slot = property.slot
                    if let value = object[slot]?.renamed(identifiers) {
                        object.setStored(value, at: slot)
                    }
                    if let value = object.committed[slot]?.renamed(identifiers) {
                        object.committed[slot] = value
                    }
                }
            }
            undoLog?.rename(identifiers)
            willRename(identifiers)
        }
        renameInChildren(identifiers)
    }
}

extension Value {
    /// The value with other identifiers; nil if it has none of them.
    fileprivate func renamed(
        _ identifiers: [PersistentIdentifier: PersistentIdentifier]
    ) -> Value? {
        switch self {
        case .object(let identifier): return identifiers[identifier].map { .object($0) }
        case .objects(let list):
            guard list.contains(where: { identifiers[$0] != nil }) else { return nil }
            return .objects(list.map { identifiers[$0] ?? $0 })
        default: return nil
        }
    }
}
