public import FoundationEssentials

/// Names one object of one store for good: the store, the entity, and a key never used twice.
///
/// A temporary identifier names an object that a change set is about to insert; it belongs to no
/// store. Text forms are in `PersistentIdentifier+URI.swift` and `PersistentIdentifier+JSON.swift`.
public struct PersistentIdentifier: Hashable, Sendable {
    public enum Key: Hashable, Sendable {
        /// A key that the store gave, from 1.
        case permanent(Int64)
        /// A name that the caller gave, unique within its change set.
        case temporary(String)
    }

    /// The store's UUID; nil for a temporary identifier.
    public let store: UUID?
    public let entityName: String
    public let key: Key

    public init(store: UUID, entityName: String, key: Int64) {
        self.store = store
        self.entityName = entityName
        self.key = .permanent(key)
    }

    public init(temporary name: String, entityName: String) {
        self.store = nil
        self.entityName = entityName
        self.key = .temporary(name)
    }

    /// The store's UUID in capitals, as SwiftData spells it; nil for a temporary identifier.
    public var storeIdentifier: String? { store?.uuidString }

    public var isTemporary: Bool { store == nil }

    /// The key that the store gave; nil for a temporary identifier.
    public var permanentKey: Int64? {
        if case .permanent(let key) = key { key } else { nil }
    }
}
