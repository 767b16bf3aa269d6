/// Changes that happen together or not at all, in the order given.
public struct ChangeSet: Hashable, Sendable {
    public var changes: [Change]

    public init(_ changes: [Change] = []) { self.changes = changes }
}

/// One change to one object.
///
/// Values are by property name. A to-one is an ``Value/object(_:)`` or nil, a to-many the whole
/// ``Value/objects(_:)``; either may hold temporary identifiers that the same set inserts, before
/// or after.
public enum Change: Hashable, Sendable {
    /// Inserts the object that the temporary identifier names within the set.
    case insert(PersistentIdentifier, values: [String: Value])
    /// Changes the named properties; with `ifVersion`, only if that is still the row's version.
    case update(PersistentIdentifier, ifVersion: Int64?, values: [String: Value])
    case delete(PersistentIdentifier, ifVersion: Int64?)

    public var identifier: PersistentIdentifier {
        switch self {
        case .insert(let identifier, _), .update(let identifier, _, _), .delete(let identifier, _):
            identifier
        }
    }
}

/// What a change set came to.
public struct SaveResult: Hashable, Sendable {
    /// The permanent identifiers of the inserted objects, in the order of the inserts.
    public var inserted: [PersistentIdentifier]
    /// Row versions after the save of the objects updated by name, in the order of the updates.
    public var updatedVersions: [Int64]
    /// How many objects were deleted, cascades included.
    public var deletedCount: Int64

    public init(
        inserted: [PersistentIdentifier] = [], updatedVersions: [Int64] = [],
        deletedCount: Int64 = 0
    ) {
        self.inserted = inserted
        self.updatedVersions = updatedVersions
        self.deletedCount = deletedCount
    }
}
