internal import LarderModel

// Edits of lists. An edit replaces a range of members, so that its cost is that of the members that
// it concerns and not that of the list.

extension ObjectContext {
    /// Lists up to this length are searched without an index.
    private static let scannedMax = 32

    /// The position of a member in a list; nil also if the list was not read yet.
    func position(
        of member: PersistentIdentifier, in object: StoredObject, _ slot: Int
    ) -> Int? {
        let count = object.linkCount(at: slot)
        guard count > Self.scannedMax else {
            return object[slot]?.links.firstIndex(of: member)
        }
        let tracked = object.track(at: slot)
        if tracked.index == nil {
            listStepCount += count
            tracked.index = LinkIndex(object[slot]?.links ?? [])
        }
        return tracked.index?.position(of: member)
    }

    /// Replaces members of a list that was read, with their inverses.
    func replaceMembers(
        of object: StoredObject, _ slot: Int, _ range: Range<Int>,
        with new: [PersistentIdentifier], from source: (any ListInstances)? = nil
    ) {
        guard !range.isEmpty || !new.isEmpty else { return }
        let former = object.links(at: slot, in: range)
        edit(object, slot, range, with: new, from: source)
        guard let inverse = inverse(of: object, slot) else { return }
        let (formerSet, newSet) = (Set(former), Set(new))
        for identifier in former where !newSet.contains(identifier) {
            removeInverse(of: identifier, inverse, object)
        }
        for identifier in new where !formerSet.contains(identifier) {
            guard let target = registeredObject(for: identifier) else { continue }
            addInverse(to: target, inverse, object, slot)
        }
    }

    /// Replaces members of a list that was read, which is a change of the object.
    ///
    /// - Parameter source: The instances that have the change already.
    func edit(
        _ object: StoredObject, _ slot: Int, _ range: Range<Int>,
        with new: [PersistentIdentifier], from source: (any ListInstances)? = nil
    ) {
        let former = object.links(at: slot, in: range)
        note(object, .updated)
        record(
            .edited(
                object, slot: slot,
                ListEdit(index: range.lowerBound, removed: former, added: new)))
        if object.status == .saved, object.committed[slot] == nil {
            object.committed[slot] = object[slot] ?? .null
        }
        addUpdated(object)
        replaceLinks(of: object, slot, range, with: new, from: source)
    }

    /// Replaces members of a list without a change of the object.
    private func replaceLinks(
        of object: StoredObject, _ slot: Int, _ range: Range<Int>,
        with new: [PersistentIdentifier], from source: (any ListInstances)? = nil
    ) {
        let former = object.links(at: slot, in: range)
        let count = object.linkCount(at: slot)
        listStepCount += former.count + new.count
        object.replaceLinks(range, with: new, at: slot)
        guard let tracked = object.tracked(at: slot) else { return }
        if tracked.index?.replace(range, former, with: new) == false { tracked.index = nil }
        guard let instances = tracked.instances, instances !== source else { return }
        let isEdited =
            if new.isEmpty, range.count == 1 {
                range.lowerBound >= instances.count || instances.remove(at: range.lowerBound)
            } else if range.isEmpty, range.lowerBound == count, instances.count == count,
                new.count == 1, let member = registeredObject(for: new[0]),
                member.status != .deleted
            {
                instances.append(instance(of: member))
            } else {
                false
            }
        // The instances are not those of the list any more.
        if !isEdited { object.untrack(at: slot) }
    }

    /// Removes an object that does not exist any more from a list, without a change.
    func dropMember(_ gone: PersistentIdentifier, from object: StoredObject, _ slot: Int) {
        guard let position = position(of: gone, in: object, slot) else { return }
        // A stored list has no temporary identifiers.
        if !gone.isTemporary, let base = object.committed[slot]?.links {
            listStepCount += base.count
            object.committed[slot] = .objects(base.filter { $0 != gone })
        }
        replaceLinks(of: object, slot, position..<position + 1, with: [])
        notify(object, slot)
    }

    // MARK: - Instances

    /// A list with instances, which the owner's instance may keep while they are valid.
    package struct ShownList {
        package let owners: [any ObjectOwner]
        /// nil if the list cannot be edited by the positions of its instances.
        package let tracked: TrackedList?
        package let statusRevision: Int
    }

    /// The instances of a list.
    ///
    /// - Parameter trackedMin: The number of instances from which on the list is tracked.
    package func shownList(
        of object: StoredObject, at slot: Int, trackedMin: Int
    ) -> ShownList {
        locked {
            let owners = relatedOwners(of: object, at: slot)
            // A list that could not be read is set as a whole.
            let isTracked =
                owners.count >= trackedMin && object[slot] != nil
                && areFirst(owners, among: related(of: object, slot))
            return ShownList(
                owners: owners, tracked: isTracked ? object.track(at: slot) : nil,
                statusRevision: statusRevision)
        }
    }

    private func areFirst(
        _ owners: [any ObjectOwner], among links: [PersistentIdentifier]
    ) -> Bool {
        links.count == owners.count
            || zip(links, owners).allSatisfy { $0 == $1._$object.identifier }
    }

    /// - Returns: whether the owner's instance may keep the instances of a list.
    package func mayKeep(
        _ instances: any ListInstances, of object: StoredObject, _ slot: Int
    ) -> Bool {
        locked {
            guard let owner = object.entity, let property = owner.properties[slot].relationship
            else { return false }
            return keptLists.add(
                instances, from: model.rootName(of: owner.name),
                to: model.rootName(of: property.destination))
        }
    }

    /// Replaces members of a list as a caller has edited its instances.
    ///
    /// - Returns: false if the list must be set as a whole.
    package func replaceMembers(
        of object: StoredObject, at slot: Int, _ range: Range<Int>, with targets: [StoredObject],
        from instances: any ListInstances, _ tracked: TrackedList
    ) -> Bool {
        locked {
            let isOwn = targets.allSatisfy { target in
                target.context === self && (target.status == .inserted || target.status == .saved)
            }
            guard isOwn, object.status == .inserted || object.status == .saved else { return false }
            let former = Set(object.links(at: slot, in: range))
            let new = targets.map(\.identifier)
            guard Set(new).count == new.count,
                !new.contains(where: {
                    !former.contains($0) && position(of: $0, in: object, slot) != nil
                })
            else { return false }
            let removed = former.subtracting(new)
            if !removed.isEmpty { loadRelated(Array(removed), of: object, slot) }
            guard object.tracked(at: slot) === tracked, tracked.instances === instances else {
                return false
            }
            object.refusals[slot] = nil
            if object.status == .inserted, object.linkCount(at: slot) + new.count > range.count {
                object.assignedLists.insert(slot)
            }
            replaceMembers(of: object, slot, range, with: new, from: instances)
            return true
        }
    }
}
