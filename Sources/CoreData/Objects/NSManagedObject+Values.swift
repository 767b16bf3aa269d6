internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

// Values by the names of properties. A number is an `NSNumber`, which casts to `Int`, `Double` and
// so on; the objects of a relationship are an `NSSet`, which casts to `Set<Article>`, or an
// `NSOrderedSet` if the relationship is ordered.

extension NSManagedObject {
    /// The value of a property that the entity has, or the objects of a fetched property.
    func entityValue(forKey key: String) -> Any? {
        if let reads { return recordedValue(forKey: key, reads) }
        guard let property = property(key) else {
            let fetched = entity.propertiesByName[key] as? NSFetchedPropertyDescription
            return fetched.map { NSArray(array: $0.objects(for: self)) }
        }
        let object = _$object
        guard property.kind != .attribute else {
            return object.value(at: property.slot)?.anyValue
        }
        let related = relatedObjects(at: property.slot)
        guard property.kind == .toMany else { return related.first }
        return property.relationship?.isOrdered == true
            ? NSOrderedSet(array: related) : NSSet(array: related)
    }

    /// The value at a path of names with periods between them, through relationships to one object.
    /// A collection operator such as `@count` may be a part of it.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard Self.stepCount(of: keyPath) <= Limits.keyPathStepsMax else { return nil }
        let steps = keyPath.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0) }
        let kind = steps.first.flatMap(property)?.kind
        let isToOne = kind == .toOne
        // The class may have a value that the entity does not have.
        if let name = steps.first, steps.count == 1 || isToOne || kind == nil {
            lacksKey = false
            let value = value(forKey: name)
            if !lacksKey || isToOne {
                return steps.count == 1
                    ? value : (value as? NSManagedObject)?.value(forKeyPath: steps[1])
            }
        }
        return NSExpression(forKeyPath: keyPath).expressionValue(with: self, context: nil)
    }

    private static func stepCount(of keyPath: String) -> Int {
        1 + keyPath.utf8.count { $0 == UInt8(ascii: ".") }
    }

    /// Sets the property at the end of a path of names through relationships to one object. Without
    /// such an object nothing is set. A name of anything else makes the next save an
    /// error, as does a path that is too long.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard Self.stepCount(of: keyPath) <= Limits.keyPathStepsMax else {
            refuse("a key path has more than \(Limits.keyPathStepsMax) steps")
            return
        }
        let steps = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var object = self
        for step in steps.dropLast() {
            guard object.property(step)?.kind == .toOne else {
                object.refuse(
                    "\(object.entity.name ?? "") has no relationship to one object "
                        + "`\(step.prefix(Limits.nameBytesMax))`")
                return
            }
            guard let next = object.value(forKey: step) as? NSManagedObject else { return }
            object = next
        }
        object.setValue(value, forKey: steps[steps.count - 1])
    }

    /// The value of a property. Accessors of a subclass call it.
    public func primitiveValue(forKey key: String) -> Any? { entityValue(forKey: key) }

    /// The values of properties, with `NSNull` for nil.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(
            keys.map { ($0, value(forKey: $0) ?? NSNull()) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Sets a property that the entity has.
    func setEntityValue(_ value: Any?, forKey key: String) {
        guard let property = property(key) else {
            setValue(value, forUndefinedKey: key)
            return
        }
        let value = value is NSNull ? nil : value
        if property.kind == .attribute {
            setAttribute(value, key, property.slot)
        } else {
            setRelationship(value, key, property)
        }
        managedObjectContext?.didChange(_$object, property.slot)
    }

    /// Sets a property. Accessors of a subclass call it.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) {
        setEntityValue(value, forKey: key)
    }

    /// Sets properties, with `NSNull` for nil.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value, forKey: key) }
    }

    /// Called by accessors that are written for Core Data. It has no effect: values are read when
    /// they are used.
    public func willAccessValue(forKey key: String?) {}

    /// Called by accessors that are written for Core Data. It has no effect.
    public func didAccessValue(forKey key: String?) {}

    /// Called by accessors that are written for Core Data. It has no effect.
    public func willChangeValue(forKey key: String) {}

    /// Called by accessors that are written for Core Data. It has no effect.
    public func didChangeValue(forKey key: String) {}

    // MARK: - Changes

    /// The new values of the properties that were changed since the object was read or saved, with
    /// `NSNull` for nil; all values of a new object.
    public func changedValues() -> [String: Any] {
        let object = _$object
        guard let objects = object.context, let known = object.entity else { return [:] }
        let committed = objects.committedValues(of: object)
        let changed = known.properties.filter { property in
            switch object.status {
            case .inserted: object.value(at: property.slot).map { !$0.isEmpty } ?? false
            case .saved: committed[property.slot].map { $0 != object[property.slot] } ?? false
            case .unmanaged, .deleted, .gone: false
            }
        }
        return entityValues(forKeys: changed.map(\.name))
    }

    /// The values of properties as they were when the object was read or saved, with `NSNull` for
    /// nil; none of a new object.
    ///
    /// - Parameter keys: The names of the properties; nil for all.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        let object = _$object
        guard let objects = object.context, let known = object.entity, object.status == .saved
        else { return [:] }
        let committed = objects.committedValues(of: object)
        var values: [String: Any] = [:]
        for key in keys ?? known.properties.map(\.name) {
            guard let slot = known.slot(named: key) else { continue }
            guard let former = committed[slot] else {
                values[key] = entityValue(forKey: key) ?? NSNull()
                continue
            }
            values[key] = managedObjectContext?.anyValue(former) ?? NSNull()
        }
        return values
    }

    /// The identifiers of the objects of a relationship, without reading the objects.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let property = property(key), property.kind != .attribute,
            let objects = _$object.context
        else { return [] }
        return objects.related(of: _$object, property.slot).compactMap {
            managedObjectContext?.objectID(of: $0)
        }
    }

    /// Whether the objects of a relationship were not read yet.
    public func hasFault(forRelationshipNamed key: String) -> Bool {
        guard let property = property(key), property.kind != .attribute else { return false }
        return _$object[property.slot] == nil
    }

    // MARK: -

    /// The values that an object without a context has.
    var knownValues: [String: Any] {
        let known = entity.compiled?.properties ?? []
        return entityValues(forKeys: known.map(\.name)).filter { value in
            !(value.value is NSNull) && (value.value as? NSSet)?.count != 0
                && (value.value as? NSOrderedSet)?.count != 0
        }
    }

    func property(_ key: String) -> ObjectProperty? {
        let known = _$object.entity ?? entity.compiled
        return known.flatMap { known in known.slot(named: key).map { known.properties[$0] } }
    }

    private func relatedObjects(at slot: Int) -> [NSManagedObject] {
        guard let context = managedObjectContext else {
            return _$object.relatedOwners(at: slot).compactMap { $0 as? NSManagedObject }
        }
        return context.objects.relatedObjects(of: _$object, at: slot).map(context.managedObject)
    }

    private func setAttribute(_ value: Any?, _ key: String, _ slot: Int) {
        do throws(LarderError) {
            _$object.setValue(try storeValue(value, key), at: slot)
        } catch {
            _$object.refuse(error.message, at: slot)
            if !_$object.isManaged { refuse(error.message) }
        }
    }

    private func storeValue(_ value: Any?, _ key: String) throws(LarderError) -> Value {
        let known = _$object.entity ?? entity.compiled
        guard case .attribute(let attribute)? = known?.entity.property(named: key) else {
            // A transient attribute.
            guard let transient = entity.attributesByName[key] else { return try Value(of: value) }
            return try transient.storeValue(of: value)
        }
        guard !attribute.isDerived else {
            throw LarderError(.validationFailed, "it is derived, and cannot be set")
        }
        return try Value(of: value, as: attribute.type)
    }

    private func setRelationship(_ value: Any?, _ key: String, _ property: ObjectProperty) {
        let targets: [Any]
        switch value {
        case nil: targets = []
        case let object as NSManagedObject: targets = [object]
        case let set as NSOrderedSet: targets = set.array
        case let set as Set<NSManagedObject>: targets = Array(set)
        case let set as NSSet: targets = set.allObjects
        case let list as [Any]: targets = list
        case let other?: targets = [other]
        }
        let objects = targets.compactMap { $0 as? NSManagedObject }
        guard objects.count == targets.count, property.kind == .toMany || objects.count < 2 else {
            let what = property.kind == .toMany ? "a set of objects" : "an object"
            _$object.refuse("it is a relationship, and takes \(what)", at: property.slot)
            return
        }
        let destination = property.relationship?.destination ?? ""
        for object in objects where !object.entity.isKind(of: destination) {
            _$object.refuse(
                "it takes objects of \(destination), but one of \(object.entity.name ?? "") "
                    + "was given", at: property.slot)
            return
        }
        guard let context = managedObjectContext else {
            _$object.setOwners(objects, at: property.slot)
            return
        }
        for object in objects where object._$object.status == .unmanaged { context.insert(object) }
        context.objects.setRelated(objects.map(\._$object), of: _$object, property.slot)
    }

    /// The values of properties that the entity has, with `NSNull` for nil.
    private func entityValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(
            keys.map { ($0, entityValue(forKey: $0) ?? NSNull()) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Makes the next save an error.
    func refuse(_ reason: String) { managedObjectContext?.objects.refuse(reason) }
}

extension Value {
    /// Whether it is nil, or a list without objects.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null, .objects([]): true
        default: false
        }
    }
}
