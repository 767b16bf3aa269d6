internal import FoundationEssentials
internal import LarderModel

/// The objects that a context has, by their identifiers. It does not keep them.
///
/// The objects of an entity are in one store, so a table of them needs keys only.
struct ObjectRegistry {
    private struct Registration {
        weak var object: StoredObject?
    }

    /// The objects of one entity in the store of the entity, by their keys.
    final class Table {
        fileprivate let store: UUID
        private var registrations: [Int64: Registration] = [:]

        fileprivate init(store: UUID) { self.store = store }

        subscript(key: Int64) -> StoredObject? {
            get { registrations[key]?.object }
            set { registrations[key] = newValue.map { Registration(object: $0) } }
        }

        func reserve(_ count: Int) { registrations.reserveCapacity(registrations.count + count) }

        fileprivate var count: Int { registrations.count }
        fileprivate var objects: [StoredObject] { registrations.values.compactMap(\.object) }

        fileprivate func sweep() {
            registrations = registrations.filter { $0.value.object != nil }
        }
    }

    /// By entity name.
    private var tables: [String: Table] = [:]
    /// Objects with temporary identifiers, and with those of stores that the context does not have.
    private var others: [PersistentIdentifier: Registration] = [:]
    private static let countAtFirstSweep = 16_384
    private var countAtSweep = Self.countAtFirstSweep

    /// The number of objects, with some of those that have ended.
    var count: Int { tables.values.reduce(others.count) { $0 + $1.count } }

    var objects: [StoredObject] {
        tables.values.flatMap(\.objects) + others.values.compactMap(\.object)
    }

    subscript(identifier: PersistentIdentifier) -> StoredObject? {
        if let key = identifier.permanentKey, let table = tables[identifier.entityName],
            table.store == identifier.store
        {
            return table[key]
        }
        return others[identifier]?.object
    }

    /// The table of an entity in its store.
    mutating func table(of entityName: String, in store: UUID) -> Table {
        if let table = tables[entityName] { return table }
        let new = Table(store: store)
        tables[entityName] = new
        return new
    }

    /// - Parameter store: That of the object's entity, if the identifier is of this store.
    mutating func insert(_ object: StoredObject, _ store: UUID?) {
        let identifier = object.identifier
        if let store, let key = identifier.permanentKey {
            table(of: identifier.entityName, in: store)[key] = object
        } else {
            others[identifier] = Registration(object: object)
        }
        sweepIfNeeded()
    }

    mutating func remove(_ identifier: PersistentIdentifier) {
        if let key = identifier.permanentKey, let table = tables[identifier.entityName],
            table.store == identifier.store
        {
            table[key] = nil
        } else {
            others[identifier] = nil
        }
    }

    /// Removes what is left of objects that have ended, when the number of objects has doubled.
    mutating func sweepIfNeeded() {
        guard count > countAtSweep else { return }
        for table in tables.values { table.sweep() }
        others = others.filter { $0.value.object != nil }
        countAtSweep = max(Self.countAtFirstSweep, count * 2)
    }
}
