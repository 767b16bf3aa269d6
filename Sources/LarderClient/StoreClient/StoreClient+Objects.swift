public import LarderModel

/// Single objects and change sets, blocking. `StoreClient+Async.swift` has the asynchronous forms.
///
/// A write with an idempotency key can be made again when its outcome is not known: what the store
/// has saved under the key it does not do again, but answers as it did. The client does so itself
/// when the connection is lost and the server comes back within the call's time. A key has at most
/// ``Limits/idempotencyKeyBytesMax`` bytes, and each write takes a new one: the text of a UUID. A
/// write of something else under a key that is known is `idempotencyMismatch`.
extension StoreClient {
    /// Inserts an object and gives its identifier. Properties not named get their defaults. With
    /// `upsert`, an object that has the unique values already is updated instead, and it is its
    /// identifier that is given.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `wrongType`, `missingValue`,
    ///   `validationFailed`, `uniquenessViolated`; `indeterminate` if the connection was lost
    ///   before the answer.
    public func insert(
        _ entityName: String, _ values: [String: Value],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> PersistentIdentifier {
        try session.perform(
            Operation.insert(entityName, values, policy).keyed(idempotencyKey))
    }

    /// Changes the named properties and gives the object's new version.
    ///
    /// The object may have been changed since the caller read it: it has another version than
    /// `ifVersion`, or, where that is nil, other values than `base`. Then the merge policy says
    /// what becomes of the update; 0 is given if it was left out, since the object is deleted.
    ///
    /// - Parameters:
    ///   - edits: Differences to be made to to-many relationships, so that what others do to the
    ///     same lists stays:
    ///     `update(magazine, edits: [.move([article], in: "articles", to: .first)])`.
    ///   - base: Properties as the caller read them; see ``MergePolicy``.
    /// - Throws: `versionConflict` under the policy `error`, with both snapshots in its details;
    ///   `objectNotFound` if the object was deleted, or an edit moves an object, or goes next to
    ///   one, that is not in the list; `foreignIdentifier` if it belongs to another store.
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value] = [:],
        edits: [RelationshipEdit] = [], ifVersion: Int64? = nil, base: [String: Value] = [:],
        mergePolicy: MergePolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        try session.perform(
            Operation.update(
                identifier, values, edits, ifVersion: ifVersion, base: base, mergePolicy
            ).keyed(idempotencyKey))
    }

    /// Deletes an object, and what its delete rules say goes with it.
    ///
    /// - Throws: as an update does; `deleteDenied` if a rule forbids it.
    public func delete(
        _ identifier: PersistentIdentifier, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) {
        try session.perform(
            Operation.delete(identifier, ifVersion: ifVersion).keyed(idempotencyKey))
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// Values are as those of an update; expressions, `wordCount * 2`, are computed from each
    /// object as it was before. Each property is set once.
    ///
    /// - Parameters:
    ///   - format: Which objects; nil is all of the entity.
    ///   - arguments: Fill `%@` and `%K` of the predicate, and then of the expressions.
    ///   - wantsIdentifiers: Whether the answer says which objects they were.
    /// - Throws: What is wrong with the predicate or an expression, `wrongType` among it; for
    ///   single objects `validationFailed`, `missingValue`, `uniquenessViolated`; `timeout` if it
    ///   took longer than a call may, and then nothing was changed.
    @discardableResult
    public func updateAll(
        _ entityName: String, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], where format: String?,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        wantsIdentifiers: Bool = false, includesSubentities: Bool = true,
        idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, arguments: arguments,
            variables: variables, wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate, and what their delete rules say goes with
    /// them, in one transaction.
    ///
    /// - Parameter format: Which objects; nil is all of the entity.
    /// - Throws: What is wrong with the predicate; `deleteDenied` if a rule forbids it; `timeout`.
    @discardableResult
    public func deleteAll(
        _ entityName: String, where format: String?, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true, idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, arguments: arguments,
            variables: variables, wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }

    /// Makes several changes, all of them or none.
    ///
    /// - Parameter idempotencyKey: In place of the set's own, unless it is empty.
    /// - Throws: What is wrong, all of it, in ``LarderError/details``.
    public func save(
        _ changes: ChangeSet, idempotencyKey: String = ""
    ) throws(LarderError) -> SaveResult {
        try session.perform(Operation.save(changes).keyed(idempotencyKey))
    }

    /// The object, with all its properties; nil once it is deleted.
    ///
    /// - Throws: `foreignIdentifier` for an object of another store, `unknownEntity`.
    public func object(for identifier: PersistentIdentifier) throws(LarderError) -> Record? {
        try session.perform(.object(identifier))
    }

    /// Those of the objects that exist, in the order asked, with all properties or the named ones.
    public func objects(
        for identifiers: [PersistentIdentifier], properties: [String]? = nil
    ) throws(LarderError) -> [Record] {
        try session.perform(.objects(identifiers, properties: properties))
    }
}
