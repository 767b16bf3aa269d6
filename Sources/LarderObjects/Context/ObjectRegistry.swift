internal import FoundationEssentials
internal import LarderModel

/// The objects that a context has, by their identifiers.
///
/// An object that nobody else has is not one of them any more: it is not found, and its memory is
/// released when as many objects were added as there are. Weak references would say the same, but
/// they take a part of the memory and slow down every use of an object. A result of a read is in
/// use as a whole, so memory is released before a read, and not between its batches.
///
/// The objects of an entity are in one store, so a table of them needs keys only.
struct ObjectRegistry {
    final class Table<Key: Hashable> {
        /// No value is nil, but a new key is in the table before its object is made.
        private var objects: [Key: StoredObject?] = [:]

        /// The object with a key, if anyone has it.
        subscript(key: Key) -> StoredObject? {
            guard let index = objects.index(forKey: key) else { return nil }
            if isKnownUniquelyReferenced(&objects.values[index]) { return nil }
            return objects.values[index]
        }

        fileprivate func remove(_ key: Key) { objects.removeValue(forKey: key) }

        /// The object with a key, if anyone has it, otherwise a new one.
        func object(
            for key: Key, new: () -> StoredObject
        ) -> (object: StoredObject, isNew: Bool) {
            Self.object(&objects[key, default: nil], new)
        }

        private static func object(
            _ known: inout StoredObject?, _ new: () -> StoredObject
        ) -> (object: StoredObject, isNew: Bool) {
            if !isKnownUniquelyReferenced(&known), let known { return (known, false) }
            let object = new()
            known = object
            return (object, true)
        }

        fileprivate var count: Int { objects.count }

        fileprivate var used: [StoredObject] {
            var used: [StoredObject] = []
            forEach { if !$1, let object = objects.values[$0] { used.append(object) } }
            return used
        }

        fileprivate func releaseUnused() {
            var unused: [Key] = []
            forEach { if $1 { unused.append(objects.keys[$0]) } }
            for key in unused { objects.removeValue(forKey: key) }
        }

        /// Calls a closure for each index, with whether nobody else has the object. A sequence of
        /// the indices would have the objects, too.
        private func forEach(_ body: (Dictionary<Key, StoredObject?>.Index, Bool) -> Void) {
            var index = objects.startIndex
            while index != objects.endIndex {
                body(index, isKnownUniquelyReferenced(&objects.values[index]))
                objects.formIndex(after: &index)
            }
        }
    }

    /// The objects of one entity in the store of the entity.
    private final class Stored {
        let entityName: String
        let store: UUID
        let table = Table<Int64>()

        init(_ entityName: String, in store: UUID) {
            self.entityName = entityName
            self.store = store
        }
    }

    private final class Last {
        var stored: Stored?
    }

    /// By entity name.
    private var stored: [String: Stored] = [:]
    /// Has the element of ``stored`` that was used last: relationships lead to many objects of one
    /// entity, and to compare its name takes a tenth of the time that hashing it takes.
    private let last = Last()
    /// By temporary name.
    private let temporary = Table<String>()
    /// Objects with identifiers of stores that the context does not have.
    private let foreign = Table<PersistentIdentifier>()
    private static let sizeMin = 4_096
    /// The size of objects that may be added before memory is released, and of those that were: one
    /// for an object, and one for each page of their values.
    private var sizeMax = Self.sizeMin
    private var addedSize = 0

    /// The number of objects, with some that nobody has any more.
    var count: Int { stored.values.reduce(temporary.count + foreign.count) { $0 + $1.table.count } }

    var objects: [StoredObject] {
        stored.values.flatMap(\.table.used) + temporary.used + foreign.used
    }

    subscript(identifier: PersistentIdentifier) -> StoredObject? {
        switch identifier.key {
        case .temporary(let name):
            let object = temporary[name]
            return object?.identifier == identifier ? object : nil
        case .permanent(let key):
            guard let stored = stored(of: identifier.entityName), stored.store == identifier.store
            else { return foreign[identifier] }
            return stored.table[key]
        }
    }

    private func stored(of entityName: String) -> Stored? {
        if let known = last.stored, known.entityName == entityName { return known }
        guard let found = stored[entityName] else { return nil }
        last.stored = found
        return found
    }

    /// The table of an entity in its store, to which a number of objects will be added.
    ///
    /// - Parameter byteCount: Roughly the size of their values.
    mutating func table(
        of entityName: String, in store: UUID, adding count: Int, byteCount: Int
    ) -> Table<Int64> {
        addedSize += count + byteCount >> 12
        return table(of: entityName, in: store)
    }

    private mutating func table(of entityName: String, in store: UUID) -> Table<Int64> {
        if let stored = stored(of: entityName) { return stored.table }
        let new = Stored(entityName, in: store)
        stored[entityName] = new
        return new.table
    }

    /// The object with an identifier, if anyone has it, otherwise a new one.
    ///
    /// - Parameter store: That of the entity.
    mutating func object(
        for identifier: PersistentIdentifier, in store: UUID?, new: () -> StoredObject
    ) -> StoredObject {
        addedSize += 1
        switch identifier.key {
        case .temporary(let name): return temporary.object(for: name, new: new).object
        case .permanent(let key):
            if let store, identifier.store == store {
                return table(of: identifier.entityName, in: store).object(for: key, new: new).object
            }
            return foreign.object(for: identifier, new: new).object
        }
    }

    func remove(_ identifier: PersistentIdentifier) {
        switch identifier.key {
        case .temporary(let name): temporary.remove(name)
        case .permanent(let key):
            if let stored = stored(of: identifier.entityName), stored.store == identifier.store {
                stored.table.remove(key)
            } else {
                foreign.remove(identifier)
            }
        }
    }

    /// Whether enough objects were added to release memory.
    var isReleaseDue: Bool { addedSize >= sizeMax }

    /// Releases the objects that nobody else has.
    mutating func releaseUnused() {
        for stored in stored.values { stored.table.releaseUnused() }
        temporary.releaseUnused()
        foreign.releaseUnused()
        sizeMax = max(Self.sizeMin, count)
        addedSize = 0
    }
}
