/// A list of changes that the store applies in order, in one transaction.
public struct ChangeSet: Hashable, Sendable {
    public var changes: [Change]
    /// The conditions before the first change, at most ``Limits/conditionsMax``. If one is
    /// not met, the store rejects the set with `ErrorCode.conditionFailed`.
    public var conditions: [Condition]
    /// How to handle an insert whose unique values belong to an existing object.
    public var onUniqueConflict: UniqueConflictPolicy
    /// How to handle a change that was based on an outdated version of its object.
    public var mergePolicy: MergePolicy
    /// The author recorded in the history, at most ``Limits/authorBytesMax`` bytes. Empty for none.
    public var author: String
    /// Makes the change set safe to retry: if the store has already saved a set under this key, it
    /// changes nothing and returns the result of that save. At most
    /// ``Limits/idempotencyKeyBytesMax`` bytes; empty for none.
    public var idempotencyKey: String
    /// Keys of earlier sets of the same user whose results have been received. If this set is
    /// saved, the store forgets those results: a set that is saved again under such a key is
    /// applied again. A program that saves often with keys, and repeats none of its earlier saves,
    /// thus never reaches ``Limits/idempotencyKeysMax``. At most ``Limits/releasedKeysMax`` keys,
    /// none of them empty.
    public var releasedKeys: [String]
    /// Whether the store makes the changes, returns their result, and then undoes them. Nothing is
    /// stored, and the identifiers of inserted objects mean nothing.
    public var isDryRun = false

    public init(
        _ changes: [Change] = [], conditions: [Condition] = [],
        onUniqueConflict: UniqueConflictPolicy = .error, mergePolicy: MergePolicy = .error,
        author: String = "", idempotencyKey: String = "", releasedKeys: [String] = []
    ) {
        self.changes = changes
        self.conditions = conditions
        self.onUniqueConflict = onUniqueConflict
        self.mergePolicy = mergePolicy
        self.author = author
        self.idempotencyKey = idempotencyKey
        self.releasedKeys = releasedKeys
    }

    /// Whether the set has a condition or a bulk change. The store then runs queries, whose work
    /// the size of the set does not bound.
    package var runsQueries: Bool {
        !conditions.isEmpty || changes.contains(where: \.isBulk)
    }
}

extension ChangeSet {
    /// The number of objects that must match a predicate when the set is saved.
    ///
    /// The version of an object shows whether that object has changed. A condition also covers
    /// objects that other clients insert.
    public struct Condition: Hashable, Sendable {
        /// The objects to count. Their arguments cannot be temporary identifiers.
        public var objects: ObjectSelection
        /// Exactly this number of objects; 0 means that no object may match.
        public var count: Int64

        public init(_ objects: ObjectSelection, count: Int64 = 0) {
            self.objects = objects
            self.count = count
        }
    }
}

/// How to handle an insert whose unique values belong to an existing object.
public enum UniqueConflictPolicy: String, Hashable, Sendable, CaseIterable {
    /// Reject the change set.
    case error
    /// Update the existing object with the properties that the insert names.
    case upsert
}

/// How to handle an update or delete of an object that has changed since the caller read it.
///
/// An object has changed if its version differs from `ifVersion` or, when no version is given, if
/// its values differ from `base`.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
    /// Reject the change set.
    case error
    /// Keep each property that has changed in the store since the base was read, and set the
    /// others. A delete is skipped.
    case storeWins
    /// Set the properties that the change names and keep the stored values of all others. A delete
    /// is carried out.
    case callerWins
    /// Set all properties of the caller's snapshot: its base values, overridden by its new values.
    case overwrite
    /// Skip the change.
    case rollback
}

/// One change to one object, or to every object that matches a predicate.
///
/// Values are keyed by property name. A to-one relationship takes ``Value/object(_:)`` or nil, a
/// to-many relationship the complete list as ``Value/objects(_:)``. Both may contain temporary
/// identifiers of objects that the same change set inserts, earlier or later. `edits` modify
/// to-many relationships that `values` does not set; they are applied in order.
public enum Change: Hashable, Sendable {
    /// Inserts an object. The temporary identifier refers to it within the change set.
    case insert(
        PersistentIdentifier, values: [String: Value], edits: [RelationshipEdit] = [])
    /// Sets the named properties; with `ifVersion`, only if the stored version is equal to it.
    /// `base` holds the values that the caller read, for the ``MergePolicy``.
    case update(
        PersistentIdentifier, ifVersion: Int64?, values: [String: Value],
        base: [String: Value] = [:], edits: [RelationshipEdit] = [])
    case delete(PersistentIdentifier, ifVersion: Int64?)
    /// Sets properties of every selected object. Each object is updated once.
    case updateAll(ObjectSelection, set: [PropertyAssignment])
    /// Deletes every selected object and applies the delete rules of its relationships.
    case deleteAll(ObjectSelection)

    /// The object that the change names; nil for a bulk change.
    public var identifier: PersistentIdentifier? {
        switch self {
        case .insert(let identifier, _, _), .update(let identifier, _, _, _, _),
            .delete(let identifier, _):
            identifier
        case .updateAll, .deleteAll: nil
        }
    }

    /// Whether the change applies to every object that matches a predicate (a bulk change).
    package var isBulk: Bool {
        switch self {
        case .insert, .update, .delete: false
        case .updateAll, .deleteAll: true
        }
    }
}

/// The result of saving a change set.
public struct SaveResult: Hashable, Sendable {
    /// The permanent identifiers of the inserted objects, in the order of the inserts. For an
    /// insert that became an update, the identifier of the existing object.
    public var inserted: [PersistentIdentifier]
    /// The new versions of the objects that `update` changes name, in the order of those changes; 0
    /// for an update that was skipped because its object is deleted.
    public var updatedVersions: [Int64]
    /// The number of deleted objects, including cascades.
    public var deletedCount: Int64
    /// The indexes of the changes whose conflicts the merge policy resolved. Their objects may
    /// differ from the caller's snapshots.
    public var merged: [Int]
    /// The number of the save's transaction in the history, which is also its history token. Nil if
    /// the change set changed nothing.
    public var transaction: Int64?
    /// The results of the bulk changes, in order.
    public var affected: [AffectedObjects]
    /// The indexes in ``inserted`` of the inserts that became updates of existing objects, in
    /// ascending order. The objects keep the values that the inserts do not name.
    public var upserted: [Int]

    public init(
        inserted: [PersistentIdentifier] = [], updatedVersions: [Int64] = [],
        deletedCount: Int64 = 0, merged: [Int] = [], transaction: Int64? = nil,
        affected: [AffectedObjects] = [], upserted: [Int] = []
    ) {
        self.inserted = inserted
        self.updatedVersions = updatedVersions
        self.deletedCount = deletedCount
        self.merged = merged
        self.transaction = transaction
        self.affected = affected
        self.upserted = upserted
    }
}
