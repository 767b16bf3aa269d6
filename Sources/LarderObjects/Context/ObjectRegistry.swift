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

        fileprivate func reserve(_ count: Int) {
            registrations.reserveCapacity(registrations.count + count)
        }

        fileprivate var count: Int { registrations.count }
        fileprivate var objects: [StoredObject] { registrations.values.compactMap(\.object) }

        fileprivate func sweep() {
            registrations = registrations.filter { $0.value.object != nil }
        }
    }

    /// By entity name.
    private var tables: [String: Table] = [:]
    /// By temporary name.
    private var temporary: [String: Registration] = [:]
    /// Objects with identifiers of stores that the context does not have.
    private var foreign: [PersistentIdentifier: Registration] = [:]
    private static let addedMax = 16_384
    /// How many objects may be added before the next sweep, and how many were.
    private var sweepAfter = Self.addedMax
    private var addedCount = 0

    /// The number of objects, with some of those that have ended.
    var count: Int { tables.values.reduce(temporary.count + foreign.count) { $0 + $1.count } }

    var objects: [StoredObject] {
        tables.values.flatMap(\.objects) + temporary.values.compactMap(\.object)
            + foreign.values.compactMap(\.object)
    }

    subscript(identifier: PersistentIdentifier) -> StoredObject? {
        switch identifier.key {
        case .temporary(let name):
            let object = temporary[name]?.object
            return object?.identifier == identifier ? object : nil
        case .permanent(let key):
            guard let table = tables[identifier.entityName], table.store == identifier.store else {
                return foreign[identifier]?.object
            }
            return table[key]
        }
    }

    /// The table of an entity in its store, to which a number of objects will be added.
    mutating func table(of entityName: String, in store: UUID, adding count: Int) -> Table {
        prepare(adding: count)
        let table = table(of: entityName, in: store)
        table.reserve(count)
        return table
    }

    private mutating func table(of entityName: String, in store: UUID) -> Table {
        if let table = tables[entityName] { return table }
        let new = Table(store: store)
        tables[entityName] = new
        return new
    }

    /// - Parameter store: That of the object's entity, if the identifier is of this store.
    mutating func insert(_ object: StoredObject, _ store: UUID?) {
        prepare(adding: 1)
        let identifier = object.identifier
        switch identifier.key {
        case .temporary(let name): temporary[name] = Registration(object: object)
        case .permanent(let key):
            if let store {
                table(of: identifier.entityName, in: store)[key] = object
            } else {
                foreign[identifier] = Registration(object: object)
            }
        }
    }

    mutating func remove(_ identifier: PersistentIdentifier) {
        switch identifier.key {
        case .temporary(let name): temporary[name] = nil
        case .permanent(let key):
            if let table = tables[identifier.entityName], table.store == identifier.store {
                table[key] = nil
            } else {
                foreign[identifier] = nil
            }
        }
    }

    /// Removes what is left of objects that have ended, when as many were added as there were.
    private mutating func prepare(adding added: Int) {
        addedCount += added
        guard addedCount > sweepAfter else { return }
        for table in tables.values { table.sweep() }
        temporary = temporary.filter { $0.value.object != nil }
        foreign = foreign.filter { $0.value.object != nil }
        sweepAfter = max(Self.addedMax, count)
        addedCount = added
    }
}
