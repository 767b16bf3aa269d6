public import LarderModel

/// Single objects and change sets, blocking. `StoreClient+Async.swift` has the asynchronous forms.
extension StoreClient {
    /// Inserts an object and gives its identifier. Properties not named get their defaults.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`, `wrongType`, `missingValue`,
    ///   `validationFailed`, `uniquenessViolated`; `indeterminate` if the connection was lost
    ///   before the answer.
    public func insert(
        _ entityName: String, _ values: [String: Value]
    ) throws(LarderError) -> PersistentIdentifier {
        try session.perform(.insert(entityName, values))
    }

    /// Changes the named properties and gives the object's new version.
    ///
    /// - Throws: `versionConflict` if `ifVersion` is not the object's version, `objectNotFound` if
    ///   it was deleted, `foreignIdentifier` if it belongs to another store.
    public func update(
        _ identifier: PersistentIdentifier, _ values: [String: Value], ifVersion: Int64? = nil
    ) throws(LarderError) -> Int64 {
        try session.perform(.update(identifier, values, ifVersion: ifVersion))
    }

    /// Deletes an object, and what its delete rules say goes with it.
    ///
    /// - Throws: as an update does; `deleteDenied` if a rule forbids it.
    public func delete(
        _ identifier: PersistentIdentifier, ifVersion: Int64? = nil
    ) throws(LarderError) {
        try session.perform(.delete(identifier, ifVersion: ifVersion))
    }

    /// Makes several changes, all of them or none.
    public func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        try session.perform(.save(changes))
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
