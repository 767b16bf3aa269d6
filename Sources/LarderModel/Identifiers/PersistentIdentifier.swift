public import FoundationEssentials

/// The permanent identifier of one object: its store, its entity, and a key that is never reused.
///
/// A temporary identifier refers to an object that a change set inserts; it belongs to no store.
/// `PersistentIdentifier+URI.swift` and `PersistentIdentifier+JSON.swift` have the text forms.
public struct PersistentIdentifier: Sendable {
    public enum Key: Hashable, Sendable {
        /// A key assigned by the store, from 1.
        case permanent(Int64)
        /// A name chosen by the caller, unique within its change set.
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

    /// The store's UUID in upper case, as in SwiftData; nil for a temporary identifier. For a store
    /// that a program writes itself it is the identifier that the store has given itself.
    public var storeIdentifier: String? { store.map { StoreIdentifiers.shared.text(of: $0) } }

    public var isTemporary: Bool { store == nil }

    /// The key assigned by the store; nil for a temporary identifier.
    public var permanentKey: Int64? {
        if case .permanent(let key) = key { key } else { nil }
    }
}

extension PersistentIdentifier: Hashable {
    // The parts are compared in the order in which they differ most often.
    public static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.entityName == right.entityName && left.store == right.store
    }

    /// Objects of two stores seldom meet, so the store is left out.
    public func hash(into hasher: inout Hasher) {
        switch key {
        case .permanent(let key): hasher.combine(key)
        case .temporary(let name): hasher.combine(name)
        }
        hasher.combine(entityName)
    }
}

extension PersistentIdentifier: Identifiable {
    /// The identity of the object within all stores.
    public struct ID: Hashable, Sendable {
        fileprivate let identifier: PersistentIdentifier
    }

    public var id: ID { ID(identifier: self) }
}
