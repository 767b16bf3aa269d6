package import LarderModel

extension ObjectContext {
    /// Inserts an instance, and the instances without a context that are related to it.
    ///
    /// - Returns: false if the instance belongs to another context. If that has not saved it, the
    ///   next save is an error.
    /// - Throws: `unknownEntity` if the schema does not have an entity of one of them; nothing is
    ///   inserted then.
    @discardableResult
    package func insert(_ owner: any ObjectOwner) throws(LarderError) -> Bool {
        try locked { () throws(LarderError) in
            owner._$unite()
            let object = owner._$object
            if object.isManaged {
                guard object.context === self else {
                    refuseInsert(of: object)
                    return false
                }
                if object.status == .deleted { cancelDeletion(object) }
                return true
            }
            guard !object.related.isEmpty else {
                add(owner, try model.entity(of: owner))
                return true
            }
            // First all objects get an identifier, then their relationships are set.
            let new = try unmanagedGraph(from: owner)
            for (owner, entity) in new { add(owner, entity) }
            for (owner, _) in new { setRelationships(of: owner._$object) }
            return true
        }
    }

    /// The instance and all instances without a context that can be reached from it.
    private func unmanagedGraph(
        from owner: any ObjectOwner
    ) throws(LarderError) -> [(any ObjectOwner, ObjectEntity)] {
        var found: [(any ObjectOwner, ObjectEntity)] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = [owner]
        while let owner = pending.popLast() {
            owner._$unite()
            let object = owner._$object
            guard !object.isManaged, seen.insert(ObjectIdentifier(object)).inserted else {
                continue
            }
            // A deleted object is inserted again only where that is said.
            guard object.status != .gone || found.isEmpty else { continue }
            found.append((owner, try model.entity(of: owner)))
            let related = object.related
            for slot in related.keys.sorted(by: >) {
                pending += (related[slot] ?? []).reversed()
            }
        }
        return found
    }

    /// Makes an object one that the next save inserts, without relationships.
    func add(_ owner: any ObjectOwner, _ entity: ObjectEntity) {
        let object = owner._$object
        // An object that was deleted before is a new one. A program may have set an identifier.
        let known = object.identifier(entityName: entity.name)
        if object.status == .gone || !known.isTemporary || known.entityName != entity.name {
            object.identifier = TemporaryNames.next(entityName: entity.name)
        }
        object.join(self, as: entity, owner)
        object.order = nextOrder()
        inserted[ObjectIdentifier(object)] = object
        if register(object, in: nil) !== object {
            object.identifier = TemporaryNames.next(entityName: entity.name)
            register(object, in: nil)
        }
        record(.inserted(object))
        note(object, .inserted)
        if let contextOwner = self.owner { owner._$join(contextOwner) }
    }

    /// Sets the relationships that were collected while the object had no context.
    private func setRelationships(of object: StoredObject) {
        let related = object.related
        guard !related.isEmpty, let entity = object.entity else { return }
        object.related = [:]
        for (slot, owners) in related.sorted(by: { $0.key < $1.key }) {
            let (objects, refusal) = ownObjects(for: owners.map(\._$object), of: object, slot)
            switch entity.properties[slot].kind {
            case .attribute: break
            case .toOne:
                // The other side may have set it already.
                if let target = objects.first { setToOne(object, slot, target) }
            case .toMany where objects.isEmpty: break
            case .toMany:
                let members = Set(objects.map(\.identifier))
                let others = self.related(of: object, slot).filter { !members.contains($0) }
                setToMany(object, slot, objects.map(\.identifier) + others)
            }
            if let refusal { refuse(refusal, of: object, slot) }
        }
    }
}
