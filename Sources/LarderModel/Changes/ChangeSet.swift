/// Changes that happen together or not at all, in the order given.
public struct ChangeSet: Hashable, Sendable {
    public var changes: [Change]
    /// What becomes of an insert whose unique values an object has already.
    public var onUniqueConflict: UniqueConflictPolicy
    /// What becomes of a change that was based on an older state of its object.
    public var mergePolicy: MergePolicy
    /// Who or what makes the changes, for the history; at most ``Limits/authorBytesMax`` bytes.
    /// Empty for nobody in particular.
    public var author: String
    /// Names the set, so that it can be sent again when its answer was lost: a store that has saved
    /// it under this key does nothing, and answers as it did. At most
    /// ``Limits/idempotencyKeyBytesMax`` bytes; empty for none.
    public var idempotencyKey: String

    public init(
        _ changes: [Change] = [], onUniqueConflict: UniqueConflictPolicy = .error,
        mergePolicy: MergePolicy = .error, author: String = "", idempotencyKey: String = ""
    ) {
        self.changes = changes
        self.onUniqueConflict = onUniqueConflict
        self.mergePolicy = mergePolicy
        self.author = author
        self.idempotencyKey = idempotencyKey
    }
}

/// What becomes of an insert whose unique values an object has already.
public enum UniqueConflictPolicy: String, Hashable, Sendable, CaseIterable {
    /// The set is refused.
    case error
    /// The insert updates that object with the properties that it names.
    case upsert
}

/// What becomes of an update or delete whose object is not any more as the caller saw it: it has
/// another version than `ifVersion`, or, where no version is given, other values than `base`.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
    /// The set is refused.
    case error
    /// Property by property: what the store changed since the base stays, the rest is set. What was
    /// to be deleted stays.
    case storeWins
    /// The properties that the change names are set, others stay as the store has them. What was to
    /// be deleted is.
    case callerWins
    /// The caller's whole snapshot is set: its base, and over it the values.
    case overwrite
    /// The change is left out.
    case rollback
}

/// One change to one object, or to all objects that satisfy a predicate.
///
/// Values are by property name. A to-one is an ``Value/object(_:)`` or nil, a to-many the whole
/// ``Value/objects(_:)``; either may hold temporary identifiers that the same set inserts, before
/// or after. `edits` change to-many relationships that `values` do not set, in the order given.
public enum Change: Hashable, Sendable {
    /// Inserts the object that the temporary identifier names within the set.
    case insert(
        PersistentIdentifier, values: [String: Value], edits: [RelationshipEdit] = [])
    /// Changes the named properties; with `ifVersion`, only if that is still the row's version.
    /// `base` has values as the caller read them, for the ``MergePolicy``.
    case update(
        PersistentIdentifier, ifVersion: Int64?, values: [String: Value],
        base: [String: Value] = [:], edits: [RelationshipEdit] = [])
    case delete(PersistentIdentifier, ifVersion: Int64?)
    /// Sets properties of all selected objects, each once.
    case updateAll(ObjectSelection, set: [PropertyAssignment])
    /// Deletes all selected objects, and what their delete rules say goes with them.
    case deleteAll(ObjectSelection)

    /// The object of a change by name.
    public var identifier: PersistentIdentifier? {
        switch self {
        case .insert(let identifier, _, _), .update(let identifier, _, _, _, _),
            .delete(let identifier, _):
            identifier
        case .updateAll, .deleteAll: nil
        }
    }

    /// Whether its objects are those that satisfy a predicate.
    public var isByPredicate: Bool {
        switch self {
        case .insert, .update, .delete: false
        case .updateAll, .deleteAll: true
        }
    }
}

/// What a change set came to.
public struct SaveResult: Hashable, Sendable {
    /// The permanent identifiers of the inserted objects, in the order of the inserts; of the
    /// existing object where an insert became an update.
    public var inserted: [PersistentIdentifier]
    /// Row versions after the save of the objects updated by name, in the order of the updates; 0
    /// for an update that was left out because its object is deleted.
    public var updatedVersions: [Int64]
    /// How many objects were deleted, cascades included.
    public var deletedCount: Int64
    /// The places in the set of the changes whose conflict the merge policy solved. Their objects
    /// may differ from what the caller knows.
    public var merged: [Int]
    /// The number of the transaction that the history has of the save: the token after which others
    /// follow. Nil where the set changed nothing, and so left none.
    public var transaction: Int64?
    /// What the changes by predicate came to, in their order.
    public var affected: [AffectedObjects]

    public init(
        inserted: [PersistentIdentifier] = [], updatedVersions: [Int64] = [],
        deletedCount: Int64 = 0, merged: [Int] = [], transaction: Int64? = nil,
        affected: [AffectedObjects] = []
    ) {
        self.inserted = inserted
        self.updatedVersions = updatedVersions
        self.deletedCount = deletedCount
        self.merged = merged
        self.transaction = transaction
        self.affected = affected
    }
}
