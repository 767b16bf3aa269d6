public import Foundation

/// Functions for the accessors of `@NSManaged` properties, which `swift package managed-accessors`
/// writes.
extension NSManagedObject {
    /// The value of an optional property; nil also if it has a value of another type.
    public func managedValue<Value: ManagedValue>(forKey key: String) -> Value? {
        entityValue(forKey: key).flatMap { Value.converted(from: $0) }
    }

    /// The value of a property. Without one, it is 0, false, an empty text or an empty collection.
    public func managedValue<Value: RequiredManagedValue>(forKey key: String) -> Value {
        managedValue(forKey: key) ?? Value.absent
    }

    public func setManagedValue<Value: ManagedValue>(_ value: Value?, forKey key: String) {
        setEntityValue(value, forKey: key)
    }

    // MARK: - Methods of to-many relationships

    public func addManagedObjects(_ object: NSManagedObject, forKey key: String) {
        add([object], key)
    }

    public func addManagedObjects(_ objects: NSSet, forKey key: String) { add(objects, key) }

    public func addManagedObjects(_ objects: NSOrderedSet, forKey key: String) {
        add(objects.array, key)
    }

    public func removeManagedObjects(_ object: NSManagedObject, forKey key: String) {
        remove([object], key)
    }

    public func removeManagedObjects(_ objects: NSSet, forKey key: String) { remove(objects, key) }

    public func removeManagedObjects(_ objects: NSOrderedSet, forKey key: String) {
        remove(objects.array, key)
    }

    public func removeManagedObjects(at index: Int, forKey key: String) {
        removeManagedObjects(at: NSIndexSet(index: index), forKey: key)
    }

    public func removeManagedObjects(at indexes: NSIndexSet, forKey key: String) {
        change(key) { list in
            list = list.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
        }
    }

    public func insertManagedObjects(_ object: NSManagedObject, at index: Int, forKey key: String) {
        insertManagedObjects([object], at: NSIndexSet(index: index), forKey: key)
    }

    /// Inserts objects at the indexes that they have afterwards. Those behind the end are appended.
    public func insertManagedObjects(
        _ objects: [NSManagedObject], at indexes: NSIndexSet, forKey key: String
    ) {
        change(key) { list in
            for (object, index) in zip(objects, indexes) {
                list.removeAll { $0 == object }
                list.insert(object, at: min(max(0, index), list.count))
            }
        }
    }

    public func replaceManagedObjects(
        at index: Int, with object: NSManagedObject, forKey key: String
    ) {
        replaceManagedObjects(at: NSIndexSet(index: index), with: [object], forKey: key)
    }

    /// Replaces the objects at indexes. Indexes behind the end have no effect.
    public func replaceManagedObjects(
        at indexes: NSIndexSet, with objects: [NSManagedObject], forKey key: String
    ) {
        change(key) { list in
            for (object, index) in zip(objects, indexes) where list.indices.contains(index) {
                list[index] = object
            }
        }
    }

    private func add(_ objects: some Sequence<Any>, _ key: String) {
        let new = objects.compactMap { $0 as? NSManagedObject }
        // The side of one object is set in a time that does not depend on the number of others.
        if let inverse = inverseToOne(of: key) {
            for object in new { object.setEntityValue(self, forKey: inverse) }
        } else {
            change(key) { list in
                let known = Set(list)
                list += new.filter { !known.contains($0) }
            }
        }
    }

    private func remove(_ objects: some Sequence<Any>, _ key: String) {
        let former = Set(objects.compactMap { $0 as? NSManagedObject })
        if let inverse = inverseToOne(of: key) {
            for object in former
            where object.entityValue(forKey: inverse) as? NSManagedObject == self {
                object.setEntityValue(nil, forKey: inverse)
            }
        } else {
            change(key) { list in list.removeAll { former.contains($0) } }
        }
    }

    /// The name of the other side, if that is a relationship to one object and this one has no
    /// order.
    private func inverseToOne(of key: String) -> String? {
        guard managedObjectContext != nil, let relationship = entity.relationshipsByName[key],
            !relationship.isOrdered, let inverse = relationship.inverseRelationship,
            !inverse.isToMany
        else { return nil }
        return inverse.name
    }

    private func change(_ key: String, _ body: (inout [NSManagedObject]) -> Void) {
        let current = entityValue(forKey: key)
        let objects = (current as? NSOrderedSet)?.array ?? (current as? NSSet)?.allObjects ?? []
        var list = objects.compactMap { $0 as? NSManagedObject }
        body(&list)
        setEntityValue(NSOrderedSet(array: list), forKey: key)
    }
}
