internal import FoundationEssentials
internal import LarderModel

// An insert whose unique values exist became an update of the object that has them. That object
// keeps what the insert did not set, and other objects have lost links to it that the insert
// replaced. The context forgets these values, so that they are read when they are used.

extension ObjectContext {
    /// An inserted object that is now one that the store had already.
    struct Upserted {
        let object: StoredObject
        /// The values that its insert has set, by the name of the property.
        let values: [String: Value]

        init?(_ object: StoredObject, _ change: Change) {
            guard case .insert(_, let values, _) = change else { return nil }
            self.object = object
            self.values = values
        }
    }

    /// The inserts that take the unique values of objects that will be deleted.
    func replacements(
        of deletions: [StoredObject], among inserts: [StoredObject], in store: any ObjectStore
    ) -> [StoredObject] {
        guard !inserts.isEmpty, !deletions.isEmpty else { return [] }
        let schema = store.schema
        let roots = Set(
            inserts.compactMap { $0.entity?.entity }.filter { !$0.uniquenessConstraints.isEmpty }
                .map { schema.root(of: $0).name })
        guard !roots.isEmpty else { return [] }
        var values = UniqueValues(schema)
        for object in deletions {
            guard let entity = object.entity?.entity,
                roots.contains(schema.root(of: entity).name)
            else { continue }
            values.add(object) { slot in
                if object[slot] == nil { load(object, slot) }
                return object.committed[slot] ?? object[slot]
            }
        }
        return inserts.filter(values.mayContain)
    }

    /// Forgets the values of the store that a save has left unknown, and notifies observers.
    ///
    /// - Parameter changed: Objects of which any value may be another one.
    func forgetUnknown(
        _ changed: [StoredObject], _ upserted: [Upserted], in store: any ObjectStore
    ) {
        guard !changed.isEmpty || !upserted.isEmpty else { return }
        var unknown = formerLinks(to: upserted)
        for each in upserted where each.object.status == .saved {
            for property in each.object.entity?.properties ?? []
            where each.values[property.name] == nil && property.ephemeralValue == nil
                && each.object[property.slot] != nil
            {
                unknown.append((each.object, property.slot))
            }
        }
        for object in changed where object.status == .saved {
            unknown += (object.entity?.properties ?? []).map { (object, $0.slot) }
        }
        for (object, slot) in unknown where !isEphemeral(object, slot) { object[slot] = nil }
        for object in changed {
            let known = registeredObject(for: object.identifier)
            if let known, known !== object { shareObject(known, withInstanceOf: object) }
        }
        makeSiblings(of: changed + upserted.map(\.object), in: store)
        for (object, slot) in unknown { notify(object, slot) }
    }

    private func isEphemeral(_ object: StoredObject, _ slot: Int) -> Bool {
        object.entity?.properties[slot].ephemeralValue != nil
    }

    /// Makes the instance of an inserted object one of the object that the context had before under
    /// the identifier, so that both instances have one state.
    func shareObject(_ known: StoredObject, withInstanceOf inserted: StoredObject) {
        for property in inserted.entity?.properties ?? [] where property.ephemeralValue != nil {
            known[property.slot] = inserted[property.slot]
        }
        guard let instance = inserted.owner else { return }
        instance._$object = known
        instance._$unite()
        if known.owner == nil { known.owner = instance }
    }

    /// The relationships to objects whose own relationships do not lead back.
    private func formerLinks(
        to upserted: [Upserted]
    ) -> [(object: StoredObject, slot: Int)] {
        /// By slot; of the relationships that the inserts have set.
        var links: [PersistentIdentifier: [Int: Set<PersistentIdentifier>]] = [:]
        for each in upserted {
            for property in each.object.entity?.relationships ?? []
            where each.values[property.name] != nil {
                links[each.object.identifier, default: [:]][property.slot] = Set(
                    each.object[property.slot]?.links ?? [])
            }
        }
        guard !links.isEmpty else { return [] }
        var former: [(object: StoredObject, slot: Int)] = []
        for object in registered where object.status == .saved {
            for property in object.entity?.relationships ?? [] {
                guard let value = object[property.slot],
                    let inverse = inverse(of: object, property.slot),
                    value.links.contains(where: { target in
                        links[target]?[inverse.slot]?.contains(object.identifier) == false
                    })
                else { continue }
                former.append((object, property.slot))
            }
        }
        return former
    }

    /// Makes the objects of each entity ones whose values are read together.
    private func makeSiblings(of objects: [StoredObject], in store: any ObjectStore) {
        var seen: Set<PersistentIdentifier> = []
        let registered = objects.filter {
            registeredObject(for: $0.identifier) === $0 && seen.insert($0.identifier).inserted
        }
        for (entityName, group) in Dictionary(grouping: registered, by: \.identifier.entityName) {
            let keys = group.compactMap(\.identifier.permanentKey)
            let siblings = Siblings(
                Batch.Identity(entityName: entityName, keys: keys), store: store.identifier)
            for (index, object) in group.enumerated() {
                object.siblings = siblings
                object.siblingIndex = index
            }
        }
    }

    /// Reads the property of an object that is not registered, because the context had another one
    /// with the identifier that the object got by its save. Backing data may still have the object.
    ///
    /// - Returns: false if the object is registered, or is from now on.
    func loadFromRegistered(_ object: StoredObject, _ slot: Int, in store: any ObjectStore) -> Bool
    {
        guard registeredObject(for: object.identifier) !== object else { return false }
        let registered = register(object, in: store)
        guard registered !== object else { return false }
        if registered[slot] == nil { load(registered, slot) }
        object[slot] = registered[slot]
        return true
    }
}
