internal import LarderModel

/// The change set of the changes of a context.
///
/// A link between two objects is in the set once: in the to-one relationship if one of its sides is
/// one, else as an edit of one of the lists.
struct SavePlan {
    private(set) var changes: ChangeSet
    private let model: ObjectModel
    private var links: [Link: Bool] = [:]
    private var linkOrder: [Link] = []
    /// Whether an object is there after the save, as far as the context knows. An object that was
    /// inserted and deleted again has left its temporary identifier where there is no inverse.
    private let exists: (PersistentIdentifier) -> Bool

    /// A member of the list of an object.
    private struct Link: Hashable {
        let owner: PersistentIdentifier
        let name: String
        let member: PersistentIdentifier
    }

    init(
        _ model: ObjectModel, author: String, exists: @escaping (PersistentIdentifier) -> Bool
    ) {
        self.model = model
        self.exists = exists
        // By property, the last writer wins: a change has no base values and no version.
        changes = ChangeSet(onUniqueConflict: .upsert, author: author)
    }

    mutating func add(
        inserts: [StoredObject], updates: [StoredObject], deletions: [StoredObject]
    ) {
        for object in inserts + updates { collectLinks(of: object) }
        var remaining = editsByOwner()
        changes.changes.reserveCapacity(inserts.count + updates.count + deletions.count)
        for object in inserts {
            let identifier = object.identifier
            let lists = replacedLists(of: object)
            var values = newValues(of: object)
            if !lists.isEmpty { values.merge(lists) { value, _ in value } }
            var edits: [RelationshipEdit] = []
            if !remaining.isEmpty {
                edits = (remaining.removeValue(forKey: identifier) ?? []).filter {
                    lists[$0.propertyName] == nil
                }
            }
            changes.changes.append(.insert(identifier, values: values, edits: edits))
        }
        for object in updates {
            let changed = object.committed.filter { object[$0.key] != $0.value }.keys
            let values = values(of: object, Set(changed))
            let edits = remaining.removeValue(forKey: object.identifier) ?? []
            guard !values.isEmpty || !edits.isEmpty else { continue }
            changes.changes.append(
                .update(object.identifier, ifVersion: nil, values: values, edits: edits))
        }
        // Lists that were changed from the other side only.
        for (owner, edits) in remaining.sorted(by: {
            $0.key.uriRepresentation < $1.key.uriRepresentation
        }) {
            changes.changes.append(.update(owner, ifVersion: nil, values: [:], edits: edits))
        }
        for object in deletions {
            changes.changes.append(.delete(object.identifier, ifVersion: nil))
        }
    }

    /// The values of all attributes and to-one relationships that were set.
    private func newValues(of object: StoredObject) -> [String: Value] {
        guard let entity = object.entity else { return [:] }
        let cells = object.cells
        var values = entity.savedValues
        var missing: [Int] = []
        for (slot, index) in entity.savedSlots {
            if slot < cells.count, let value = cells[slot] {
                values.values[index] = saved(value)
            } else {
                missing.append(slot)
            }
        }
        for slot in missing { values[entity.properties[slot].name] = nil }
        return values
    }

    /// The values of the attributes and to-one relationships among some slots.
    private func values(of object: StoredObject, _ slots: Set<Int>) -> [String: Value] {
        guard let entity = object.entity else { return [:] }
        let cells = object.cells
        var values = [String: Value](minimumCapacity: slots.count)
        for property in entity.properties
        where property.kind != .toMany && !property.isDerived && slots.contains(property.slot) {
            guard property.slot < cells.count, let value = cells[property.slot] else { continue }
            values[property.name] = saved(value)
        }
        return values
    }

    /// The value with a link to an object that will not exist as nil.
    private func saved(_ value: Value) -> Value {
        if case .object(let identifier) = value, !exists(identifier) { return .null }
        return value
    }

    /// The lists of a new object that replace those of an object that has its unique values. Links
    /// that come from the other side only are added to those instead.
    private func replacedLists(of object: StoredObject) -> [String: Value] {
        guard let entity = object.entity, !object.assignedLists.isEmpty,
            !entity.entity.uniquenessConstraints.isEmpty
        else { return [:] }
        var lists: [String: Value] = [:]
        for slot in object.assignedLists {
            lists[entity.properties[slot].name] = .objects(
                (object[slot]?.links ?? []).filter(exists))
        }
        return lists
    }

    /// Collects the changes of lists whose other side is a list, too, or that have no other side.
    private mutating func collectLinks(of object: StoredObject) {
        guard let entity = object.entity else { return }
        for property in entity.relationships where property.kind == .toMany {
            guard object.status == .inserted || object.committed[property.slot] != nil,
                let relationship = property.relationship,
                let destination = model.entities[relationship.destination]
            else { continue }
            let inverse = model.inverse(of: property, in: destination)
            guard inverse?.kind != .toOne else { continue }
            let new = object[property.slot]?.links ?? []
            let old = object.committed[property.slot]?.links ?? []
            let (newSet, oldSet) = (Set(new), Set(old))
            // One of both sides is that of the edits.
            let isOwner =
                inverse.map { inverse in
                    (entity.name, property.name) <= (destination.name, inverse.name)
                } ?? true
            func link(_ member: PersistentIdentifier, _ isAdded: Bool) {
                guard exists(member) else { return }
                let link =
                    isOwner
                    ? Link(owner: object.identifier, name: property.name, member: member)
                    : Link(
                        owner: member, name: inverse?.name ?? property.name,
                        member: object.identifier)
                if links.updateValue(isAdded, forKey: link) == nil { linkOrder.append(link) }
            }
            for member in new where !oldSet.contains(member) { link(member, true) }
            for member in old where !newSet.contains(member) { link(member, false) }
        }
    }

    private func editsByOwner() -> [PersistentIdentifier: [RelationshipEdit]] {
        struct Edited: Hashable {
            let owner: PersistentIdentifier
            let name: String
            let isAdded: Bool
        }
        var members: [Edited: [PersistentIdentifier]] = [:]
        var order: [Edited] = []
        for link in linkOrder {
            let edited = Edited(
                owner: link.owner, name: link.name, isAdded: links[link] ?? true)
            if members[edited] == nil { order.append(edited) }
            members[edited, default: []].append(link.member)
        }
        var edits: [PersistentIdentifier: [RelationshipEdit]] = [:]
        for edited in order {
            let list = members[edited] ?? []
            edits[edited.owner, default: []].append(
                edited.isAdded
                    ? .add(list, to: edited.name) : .remove(list, from: edited.name))
        }
        return edits
    }
}
