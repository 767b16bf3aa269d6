public import LarderModel

/// Objects by identifier and change sets, blocking. `StoreClient+Async.swift` has the asynchronous
/// forms.
///
/// A write with an idempotency key is safe to repeat: the store executes it once and returns the
/// first result again. The client repeats it if the connection is lost and a new one can be made
/// within the request timeout. A key has at most ``Limits/idempotencyKeyBytesMax`` bytes in UTF-8.
/// Use a new key for each write, such as the text of a UUID. Other changes with a key that was used
/// throw `idempotencyMismatch`.
extension StoreClient {
    /// Inserts an object.
    ///
    /// - Parameters:
    ///   - values: By property name. Other properties get their defaults.
    ///   - policy: With `upsert`, an object that already has the unique values is updated instead.
    ///   - idempotencyKey: Makes the write safe to repeat; empty is no key.
    /// - Returns: the identifier of the inserted or updated object.
    /// - Throws: `unknownEntity`, `unknownProperty`, `wrongType`, `missingValue`,
    ///   `validationFailed`, `uniquenessViolated`, `readOnly`.
    public func insert(
        _ entityName: String, _ values: [String: Value],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> PersistentIdentifier {
        try session.save(
            Operation.insert(entityName, values, policy).keyed(idempotencyKey))
    }

    /// Changes properties of an object.
    ///
    /// There is a conflict if the object has changed since the caller read it: if its version is
    /// not `ifVersion`, or, if that is nil, its values are not those in `base`. The merge policy
    /// decides the result.
    ///
    /// - Parameters:
    ///   - values: The new values by property name.
    ///   - edits: Changes to the lists of to-many relationships. Concurrent edits of the same list
    ///     by other clients are kept:
    ///     `update(magazine, edits: [.move([article], in: "articles", to: .first)])`.
    ///   - base: Property values as the caller read them; see `MergePolicy`.
    ///   - idempotencyKey: Makes the write safe to repeat; empty is no key.
    /// - Returns: the object's new version; 0 if the merge policy skips the update because the
    ///   object is deleted.
    /// - Throws: `versionConflict` under the policy `error`, with both snapshots in its details;
    ///   `objectNotFound` if the object is deleted, or if an edit names an object that is not in
    ///   the list; `foreignIdentifier` if the object belongs to another store; and the errors of
    ///   `insert(_:_:onUniqueConflict:idempotencyKey:)` for values.
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value] = [:],
        edits: [RelationshipEdit] = [], ifVersion: Int64? = nil, base: [String: Value] = [:],
        mergePolicy: MergePolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        try session.save(
            Operation.update(
                identifier, values, edits, ifVersion: ifVersion, base: base, mergePolicy
            ).keyed(idempotencyKey))
    }

    /// Inserts an object with the values of variables: `["title": title]`. Throws as the other form
    /// does.
    @_disfavoredOverload
    public func insert(
        _ entityName: String, _ values: [String: any ValueConvertible],
        onUniqueConflict policy: UniqueConflictPolicy = .error, idempotencyKey: String = ""
    ) throws(LarderError) -> PersistentIdentifier {
        try insert(
            entityName, values.mapValues(\.storeValue), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
    }

    /// Changes properties of an object to the values of variables. Throws as the other form does.
    @_disfavoredOverload
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: any ValueConvertible],
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        try update(
            identifier, values.mapValues(\.storeValue), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }

    /// Deletes an object, and applies its delete rules to related objects.
    ///
    /// - Throws: `deleteDenied` if a delete rule forbids it, `versionConflict`, `objectNotFound`,
    ///   `foreignIdentifier`.
    public func delete(
        _ identifier: PersistentIdentifier, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) {
        try session.perform(
            Operation.delete(identifier, ifVersion: ifVersion).keyed(idempotencyKey))
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// - Parameters:
    ///   - values: The new values by property name.
    ///   - expressions: Expressions by property name, such as `wordCount * 2`. They are computed
    ///     from the values before the update. Each property is set once, by a value or an
    ///     expression.
    ///   - format: The predicate; nil is all objects of the entity.
    ///   - arguments: The values for `%@` and `%K` in the predicate, then in the expressions.
    ///   - variables: The values for `$name`.
    ///   - limit: The maximum number of objects, in the order of `sort`, which requires a limit;
    ///     nil is all objects that satisfy the predicate.
    ///   - wantsIdentifiers: Whether the result has the identifiers of the updated objects.
    /// - Throws: `malformedPredicate`, `unknownProperty`, `wrongType` and other errors of the
    ///   predicate and the expressions; `validationFailed`, `missingValue`, `uniquenessViolated`
    ///   for an object; `timeout`, after which no object is changed.
    @discardableResult
    public func updateAll(
        _ entityName: String, _ values: [String: Value] = [:],
        expressions: KeyValuePairs<String, String> = [:], where format: String?,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true,
        idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, sort: sort,
            limit: limit, arguments: arguments, variables: variables,
            wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try session.perform(
            Operation.updateAll(selection, values, expressions).keyed(idempotencyKey))
    }

    /// Deletes all objects that satisfy the predicate, in one transaction, and applies their delete
    /// rules to related objects.
    ///
    /// - Parameters:
    ///   - format: The predicate; nil is all objects of the entity.
    ///   - limit: The maximum number of objects, in the order of `sort`, which requires a limit;
    ///     nil is all objects that satisfy the predicate.
    ///   - wantsIdentifiers: Whether the result has the identifiers of the deleted objects.
    /// - Throws: `malformedPredicate` and other errors of the predicate; `deleteDenied` if a delete
    ///   rule forbids it; `timeout`, after which no object is deleted.
    @discardableResult
    public func deleteAll(
        _ entityName: String, where format: String?, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:],
        sort: [SortKey] = [], limit: Int64? = nil, wantsIdentifiers: Bool = false,
        includesSubentities: Bool = true, idempotencyKey: String = ""
    ) throws(LarderError) -> AffectedObjects {
        let selection = ObjectSelection(
            entityName, where: format.map { .format($0) }, sort: sort,
            limit: limit, arguments: arguments, variables: variables,
            wantsIdentifiers: wantsIdentifiers,
            includesSubentities: includesSubentities)
        return try session.perform(Operation.deleteAll(selection).keyed(idempotencyKey))
    }

    /// Executes a change set in one transaction: all changes or none.
    ///
    /// - Parameter idempotencyKey: Replaces the key of the change set, unless it is empty.
    /// - Returns: the results of the changes, by kind and in order.
    /// - Throws: the first error; `LarderError.details` has all of them.
    public func save(
        _ changes: ChangeSet, idempotencyKey: String = ""
    ) throws(LarderError) -> SaveResult {
        try session.save(Operation.save(changes).keyed(idempotencyKey))
    }

    /// The object with all its properties; nil if it is deleted.
    ///
    /// - Throws: `foreignIdentifier` for an object of another store, `unknownEntity`.
    public func object(for identifier: PersistentIdentifier) throws(LarderError) -> Record? {
        try session.perform(.object(identifier))
    }

    /// The objects that exist, in the order of the identifiers.
    ///
    /// - Parameter properties: The names of the properties to read; nil is all of them.
    /// - Throws: `foreignIdentifier` for an object of another store, `unknownEntity`,
    ///   `unknownProperty`.
    public func objects(
        for identifiers: [PersistentIdentifier], properties: [String]? = nil
    ) throws(LarderError) -> [Record] {
        try session.perform(.objects(identifiers, properties: properties))
    }
}
