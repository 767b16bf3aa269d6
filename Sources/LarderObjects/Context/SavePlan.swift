package import LarderModel

/// The change set of the changes of a context.
///
/// A link between two objects is in the set once: in the to-one relationship if one of its sides is
/// one, else as an edit of one of the lists.
///
/// An insert updates the object that has its unique values when it is saved. So an object that gets
/// other unique values is updated before the inserts, and an insert that takes the unique values of
/// an object to be deleted comes after the deletions.
struct SavePlan {
    private(set) var changes: ChangeSet
    /// The index of each insert among the changes.
    private(set) var insertIndexes: [Int] = []
    private let model: ObjectModel
    /// Whether changes have base values. Without them and without a version, the last writer of a
    /// property wins.
    private let hasBase: Bool
    private var links: [Link: Bool] = [:]
    private var linkOrder: [Link] = []
    /// The index of each insert among the inserts.
    private var insertOrder: [PersistentIdentifier: Int] = [:]
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
        _ model: ObjectModel, author: String, _ conflicts: ConflictPolicy = .lastWriterWins,
        exists: @escaping (PersistentIdentifier) -> Bool
    ) {
        self.model = model
        self.exists = exists
        hasBase = conflicts.merge != nil
        changes = ChangeSet(
            onUniqueConflict: conflicts.unique, mergePolicy: conflicts.merge ?? .error,
            author: author)
    }

    /// - Parameter lateInserts: Those of the inserts that come after the deletions.
    mutating func add(
        inserts: [StoredObject], lateInserts: [StoredObject] = [], updates: [StoredObject],
        deletions: [StoredObject]
    ) {
        for object in inserts + lateInserts + updates { collectLinks(of: object) }
        let new = inserts + lateInserts
        if new.contains(where: { hasOrderedLists($0) }) {
            for (index, object) in new.enumerated() { insertOrder[object.identifier] = index }
        }
        var remaining = editsByOwner()
        changes.changes.reserveCapacity(inserts.count + updates.count + deletions.count)
        if !lateInserts.isEmpty { unlink(updates, from: deletions, to: lateInserts) }
        let hasInserts = !inserts.isEmpty || !lateInserts.isEmpty
        add(updates: updates.filter { hasInserts && changesUniqueValues($0) }, &remaining)
        add(inserts, &remaining)
        add(updates: updates.filter { !hasInserts || !changesUniqueValues($0) }, &remaining)
        let late = lateInserts.map { ($0, remaining.removeValue(forKey: $0.identifier)) }
        // Lists that were changed from the other side only.
        for (owner, edits) in remaining.sorted(by: {
            $0.key.uriRepresentation < $1.key.uriRepresentation
        }) {
            changes.changes.append(.update(owner, ifVersion: nil, values: [:], edits: edits))
        }
        for object in deletions {
            changes.changes.append(.delete(object.identifier, ifVersion: nil))
        }
        for (object, edits) in late {
            var edits = edits.map { [object.identifier: $0] } ?? [:]
            add([object], &edits)
        }
        addOrders(of: updates)
    }

    /// Moves the members of ordered lists that were changed, after all of them are members. Those
    /// that others have added meanwhile stay before them.
    private mutating func addOrders(of updates: [StoredObject]) {
        for object in updates {
            let edits = (object.entity?.relationships ?? []).compactMap {
                property -> RelationshipEdit? in
                guard property.kind == .toMany, property.relationship?.isOrdered == true,
                    let former = object.committed[property.slot], former != object[property.slot]
                else { return nil }
                let members = (object[property.slot]?.links ?? []).filter(exists)
                return members.isEmpty ? nil : .move(members, in: property.name, to: .last)
            }
            guard !edits.isEmpty else { continue }
            changes.changes.append(
                .update(object.identifier, ifVersion: nil, values: [:], edits: edits))
        }
    }

    private mutating func add(
        _ inserts: [StoredObject], _ remaining: inout [PersistentIdentifier: [RelationshipEdit]]
    ) {
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
            for (name, members) in reorderedLists(of: object) where lists[name] == nil {
                edits.removeAll { $0.propertyName == name }
                edits += [.add(members, to: name), .move(members, in: name, to: .last)]
            }
            insertIndexes.append(changes.changes.count)
            changes.changes.append(.insert(identifier, values: values, edits: edits))
        }
    }

    private func hasOrderedLists(_ object: StoredObject) -> Bool {
        (object.entity?.relationships ?? []).contains { property in
            property.relationship?.isOrdered == true && object.linkCount(at: property.slot) > 1
        }
    }

    /// The ordered lists of a new object whose members the other changes would not append in their
    /// order. Other new objects with a to-one relationship to it are appended in the order of the
    /// inserts; any other change may have to wait for later inserts.
    private func reorderedLists(
        of object: StoredObject
    ) -> [(name: String, members: [PersistentIdentifier])] {
        guard !insertOrder.isEmpty, hasOrderedLists(object) else { return [] }
        return (object.entity?.relationships ?? []).compactMap { property in
            guard let relationship = property.relationship, relationship.isOrdered,
                let destination = model.entities[relationship.destination]
            else { return nil }
            let members = (object[property.slot]?.links ?? []).filter(exists)
            guard members.count > 1 else { return nil }
            if model.inverse(of: property, in: destination)?.kind == .toOne {
                let indexes = members.compactMap { insertOrder[$0] }
                let isAscending = zip(indexes, indexes.dropFirst()).allSatisfy(<)
                let areOthers = insertOrder[object.identifier].map { !indexes.contains($0) }
                if indexes.count == members.count, isAscending, areOthers == true { return nil }
            }
            return (property.name, members)
        }
    }

    private mutating func add(
        updates: [StoredObject], _ remaining: inout [PersistentIdentifier: [RelationshipEdit]]
    ) {
        for object in updates {
            let changed = object.committed.filter { object[$0.key] != $0.value }.keys
            let values = values(of: object, Set(changed))
            let edits = remaining.removeValue(forKey: object.identifier) ?? []
            guard !values.isEmpty || !edits.isEmpty else { continue }
            changes.changes.append(
                .update(
                    object.identifier, ifVersion: nil, values: values,
                    base: hasBase ? base(of: object) : [:], edits: edits))
        }
    }

    /// The values that the context has read of the properties that it changes.
    private func base(of object: StoredObject) -> [String: Value] {
        var base: [String: Value] = [:]
        for property in object.entity?.properties ?? []
        where property.kind != .toMany && property.isSaved {
            base[property.name] = object.committed[property.slot]
        }
        return base
    }

    private func changesUniqueValues(_ object: StoredObject) -> Bool {
        guard let entity = object.entity else { return false }
        return entity.entity.uniquenessConstraints.contains { names in
            names.contains { name in
                entity.slot(named: name).map { object.committed[$0] != nil } ?? false
            }
        }
    }

    /// Removes objects from their former owners before these are deleted, because their new owners
    /// are inserted after that.
    private mutating func unlink(
        _ updates: [StoredObject], from deletions: [StoredObject], to lateInserts: [StoredObject]
    ) {
        let former = Set(deletions.map(\.identifier))
        let new = Set(lateInserts.map(\.identifier))
        var moved: [PersistentIdentifier: [String: [PersistentIdentifier]]] = [:]
        for object in updates {
            for property in object.entity?.relationships ?? [] {
                guard case .object(let owner)? = object.committed[property.slot],
                    former.contains(owner),
                    case .object(let newOwner)? = object[property.slot], new.contains(newOwner),
                    let destination = model.entities[owner.entityName],
                    let inverse = model.inverse(of: property, in: destination),
                    inverse.kind == .toMany
                else { continue }
                moved[owner, default: [:]][inverse.name, default: []].append(object.identifier)
            }
        }
        for object in deletions {
            guard let lists = moved[object.identifier] else { continue }
            changes.changes.append(
                .update(
                    object.identifier, ifVersion: nil, values: [:],
                    edits: lists.sorted { $0.key < $1.key }.map { .remove($1, from: $0) }))
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
        where property.kind != .toMany && property.isSaved && slots.contains(property.slot) {
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

    /// The lists of a new object that have an order, or that replace those of an object that has
    /// its unique values. Links that come from the other side only are added to those instead.
    private func replacedLists(of object: StoredObject) -> [String: Value] {
        guard let entity = object.entity, !object.assignedLists.isEmpty else { return [:] }
        let mayReplace = !entity.entity.uniquenessConstraints.isEmpty
        var lists: [String: Value] = [:]
        for slot in object.assignedLists
        where mayReplace || entity.properties[slot].relationship?.isOrdered == true {
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

/// The decision of a save about what others have changed or inserted as well.
package struct ConflictPolicy: Sendable {
    /// How a property is merged that both have changed; nil if the last writer wins.
    package var merge: MergePolicy?
    /// The rule for an insert whose unique values an object has.
    package var unique: UniqueConflictPolicy

    package init(merge: MergePolicy?, unique: UniqueConflictPolicy) {
        self.merge = merge
        self.unique = unique
    }

    /// By property the last writer wins, and an insert updates the object with its unique values.
    package static let lastWriterWins = ConflictPolicy(merge: nil, unique: .upsert)
}
