internal import LarderModel

/// The pending changes of a relationship that is the other side of a list.
///
/// The values of a list are those of the store with these changes, so a list that was not read yet
/// need not be read to change the objects on its other side.
struct PendingLinks {
    /// The objects that refer to an owner by a pending change, in the order of the changes.
    private var added: [PersistentIdentifier: [PersistentIdentifier]] = [:]
    /// The objects that do not refer to an owner any more.
    private var removed: [PersistentIdentifier: Set<PersistentIdentifier>] = [:]
    /// The objects whose to-one relationship is pending: they are in no other list than that of the
    /// owner to which they refer.
    private var moved: Set<PersistentIdentifier> = []

    /// - Parameters:
    ///   - pending: The inserted and updated objects, in order.
    ///   - inverse: The relationship of the objects that are in the list.
    init(_ pending: some Sequence<StoredObject>, _ inverse: ObjectProperty) {
        for object in pending {
            let identifier = object.identifier
            let base = object.status == .inserted ? .null : object.committed[inverse.slot]
            guard let base, let value = object[inverse.slot] else { continue }
            if inverse.kind == .toOne {
                moved.insert(identifier)
                for owner in value.links { added[owner, default: []].append(identifier) }
                continue
            }
            // A link that was not changed is as the store has it.
            let (former, current) = (Set(base.links), Set(value.links))
            for owner in value.links where !former.contains(owner) {
                added[owner, default: []].append(identifier)
            }
            for owner in base.links where !current.contains(owner) {
                removed[owner, default: []].insert(identifier)
            }
        }
    }

    /// A list of the store as the context shows it.
    func merged(
        _ stored: [PersistentIdentifier], of owner: PersistentIdentifier
    ) -> [PersistentIdentifier] {
        let new = added[owner] ?? []
        let former = removed[owner] ?? []
        guard !new.isEmpty || !former.isEmpty || !moved.isEmpty else { return stored }
        let members = Set(new)
        let kept = stored.filter { member in
            members.contains(member) || !(moved.contains(member) || former.contains(member))
        }
        let listed = Set(kept)
        return kept + new.filter { !listed.contains($0) }
    }
}

extension ObjectContext {
    /// Lists from a store as the context shows them. It is made for one batch.
    struct StoredValues {
        private let context: ObjectContext
        private var links: [Key: PendingLinks] = [:]

        private struct Key: Hashable {
            let entityName: String
            let slot: Int
        }

        init(_ context: ObjectContext) { self.context = context }

        var hasPendingChanges: Bool { !context.inserted.isEmpty || !context.updated.isEmpty }

        /// - Parameters:
        ///   - stored: What the store has.
        ///   - owner: The object that has the list.
        mutating func shown(
            _ stored: [PersistentIdentifier], of owner: PersistentIdentifier,
            _ property: ObjectProperty
        ) -> [PersistentIdentifier] {
            guard
                let destination = property.relationship.flatMap({
                    context.model.entities[$0.destination]
                }),
                let inverse = context.model.inverse(of: property, in: destination)
            else { return stored }
            let key = Key(entityName: destination.name, slot: inverse.slot)
            let links = self.links[key] ?? PendingLinks(pending(of: destination), inverse)
            self.links[key] = links
            return links.merged(stored, of: owner)
        }

        /// The inserted and updated objects of an entity and of its subentities, in order.
        private func pending(of entity: ObjectEntity) -> [StoredObject] {
            let all = Array(context.inserted.values) + Array(context.updated.values)
            return all.filter { object in
                object.entity.map { context.model.isOf($0.name, entity.name) } ?? false
            }.inOrder
        }
    }
}
