public import Foundation
internal import LarderModel

extension NSManagedObject {
    /// The objects of a to-many relationship as a set that is the relationship: a change of one is
    /// a change of the other. A name without such a relationship has no objects, and a change makes
    /// the next save an error.
    public func mutableSetValue(forKey key: String) -> NSMutableSet { RelatedSet(self, key) }

    /// The objects of an ordered relationship as an ordered set whose changes are those of the
    /// relationship. An index behind the end is the end for an insertion, and has no effect for
    /// others.
    public func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        RelatedOrderedSet(self, key)
    }

    /// The objects of a to-many relationship, in their order.
    fileprivate func related(_ key: String) -> [NSManagedObject] {
        switch value(forKey: key) {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

/// The objects of a to-many relationship.
private final class RelatedSet: NSMutableSet {
    private let owner: NSManagedObject
    private let key: String

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
        super.init(capacity: 0)
    }

    required init(arrayLiteral elements: Any...) {
        (owner, key) = (.absent, "")
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        (owner, key) = (.absent, "")
        super.init(capacity: numItems)
    }

    required init?(coder: NSCoder) { nil }

    override var count: Int { owner.related(key).count }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject else { return nil }
        return owner.related(key).first { $0 == object }
    }

    override func objectEnumerator() -> NSEnumerator {
        NSArray(array: owner.related(key)).objectEnumerator()
    }

    override func add(_ object: Any) {
        // A value that is no object is refused, as by a setter.
        guard let object = object as? NSManagedObject, isRelationship else {
            return owner.setValue([object], forKey: key)
        }
        owner.addManagedObjects(object, forKey: key)
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject, isRelationship else { return }
        owner.removeManagedObjects(object, forKey: key)
    }

    private var isRelationship: Bool { owner.entity.relationshipsByName[key]?.isToMany == true }
}

/// The objects of an ordered relationship.
///
/// Foundation's class reads and changes an array of its own, which is made that of the relationship
/// before each use, and the other way round after each change.
private final class RelatedOrderedSet: NSMutableOrderedSet {
    private let owner: NSManagedObject
    private let key: String
    /// Whether Foundation's class works on the array, and calls methods of this one.
    private var isInUse = false

    init(_ owner: NSManagedObject, _ key: String) {
        self.owner = owner
        self.key = key
        super.init(capacity: 0)
        read {}
    }

    required init(arrayLiteral elements: Any...) {
        (owner, key) = (.absent, "")
        super.init(capacity: 0)
    }

    required init?(coder: NSCoder) { nil }

    @discardableResult
    private func read<Result>(_ body: () -> Result) -> Result {
        if isInUse { return body() }
        isInUse = true
        defer { isInUse = false }
        super.removeAllObjects()
        super.addObjects(from: owner.related(key))
        return body()
    }

    private func change(_ body: () -> Void) {
        if isInUse { return body() }
        read {
            body()
            owner.setValue(NSOrderedSet(array: members), forKey: key)
        }
    }

    private var members: [Any] { (0..<super.count).map { super.object(at: $0) } }

    private func isIndex(_ index: Int) -> Bool { index >= 0 && index < super.count }

    override var count: Int { read { super.count } }

    override func object(at index: Int) -> Any {
        read { isIndex(index) ? super.object(at: index) : NSNull() }
    }

    override func index(of object: Any) -> Int { read { super.index(of: object) } }

    override func contains(_ object: Any) -> Bool { read { super.contains(object) } }

    override func insert(_ object: Any, at index: Int) {
        change { super.insert(object, at: Swift.min(Swift.max(0, index), super.count)) }
    }

    override func add(_ object: Any) { change { super.add(object) } }

    override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }

    override func insert(_ objects: [Any], at indexes: IndexSet) {
        change {
            for (object, index) in zip(objects, indexes) {
                super.insert(object, at: Swift.min(index, super.count))
            }
        }
    }

    override func remove(_ object: Any) { change { super.remove(object) } }

    override func removeObject(at index: Int) {
        change { if isIndex(index) { super.removeObject(at: index) } }
    }

    override func removeObjects(at indexes: IndexSet) {
        change { for index in indexes.reversed() { removeObject(at: index) } }
    }

    override func removeObjects(in array: [Any]) {
        change { for object in array { super.remove(object) } }
    }

    override func removeObjects(in range: NSRange) {
        change {
            for index in (0..<super.count).reversed() where range.contains(index) {
                super.removeObject(at: index)
            }
        }
    }

    override func removeAllObjects() { change { super.removeAllObjects() } }

    override func replaceObject(at index: Int, with object: Any) {
        change { if isIndex(index) { super.replaceObject(at: index, with: object) } }
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        change {
            for (object, index) in zip(objects, indexes) { replaceObject(at: index, with: object) }
        }
    }

    override func setObject(_ object: Any, at index: Int) {
        change {
            if isIndex(index) { super.replaceObject(at: index, with: object) } else { add(object) }
        }
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        change {
            guard isIndex(first), isIndex(second) else { return }
            super.exchangeObject(at: first, withObjectAt: second)
        }
    }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        change {
            let moved = indexes.filter(isIndex).map { super.object(at: $0) }
            for object in moved { super.remove(object) }
            let start = Swift.min(Swift.max(0, index), super.count)
            for (offset, object) in moved.enumerated() { super.insert(object, at: start + offset) }
        }
    }
}
