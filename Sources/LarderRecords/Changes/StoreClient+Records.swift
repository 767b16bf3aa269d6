public import FoundationEssentials

// Saving records, blocking. `StoreClient+AsyncRecords.swift` has the asynchronous forms.

extension StoreClient {
    /// Inserts a record.
    ///
    /// - Parameters:
    ///   - policy: With `upsert`, an object that already has the unique values is updated instead.
    ///   - idempotencyKey: Makes the write safe to repeat; empty is no key.
    /// - Returns: the record with the identifier of its object.
    /// - Throws: `validationFailed`, `uniquenessViolated`, `malformedValue` and the other errors of
    ///   an insert.
    @discardableResult
    public func insert<Record: EntityRecord>(
        _ record: Record, onUniqueConflict policy: UniqueConflictPolicy = .error,
        idempotencyKey: String = ""
    ) throws(LarderError) -> Record {
        var record = record
        record.id = try insert(
            Record.entityName, record.insertionValues(), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
        return record
    }

    /// Inserts records in one transaction: all of them or none.
    ///
    /// - Returns: the records with the identifiers of their objects.
    /// - Throws: as the insertion of one record does.
    @discardableResult
    public func insert<Record: EntityRecord>(
        _ records: [Record], onUniqueConflict policy: UniqueConflictPolicy = .error,
        idempotencyKey: String = ""
    ) throws(LarderError) -> [Record] {
        let changes = try RecordChanges(inserting: records, onUniqueConflict: policy)
        return try save(changes.changeSet, idempotencyKey: idempotencyKey).identified(records)
    }

    /// Sets one property of an object, whatever its other properties are.
    ///
    ///     try store.update(\.pages, of: book, to: 300)
    ///
    /// - Returns: the object's new version.
    /// - Throws: `objectNotFound`, `versionConflict`, `validationFailed` and the other errors of an
    ///   update.
    @discardableResult
    public func update<Record: EntityRecord, Member: Sendable>(
        _ member: KeyPath<Record, Member>, of object: Ref<Record>, to value: Member,
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        let (name, value) = try Record.assignment(member, value)
        return try update(
            object.id, [name: value], ifVersion: ifVersion, idempotencyKey: idempotencyKey)
    }

    /// Sets all properties of an object to those of the record. Changes of others are overwritten;
    /// see `update(_:from:mergePolicy:)` and `modify(_:_:)`.
    ///
    /// - Returns: the object's new version.
    /// - Throws: `objectNotFound`, also if the record's `id` is nil; `validationFailed` and the
    ///   other errors of an update.
    @discardableResult
    public func update<Record: EntityRecord>(
        _ record: Record, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int64 {
        try update(
            record.requiredID(), record.values(), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }

    /// Sets the properties in which a record differs from the one that was read.
    ///
    /// There is a conflict if one of these has changed in the store since then; the policy decides.
    ///
    /// - Returns: the object's new version; 0 if nothing was to be set, or the policy skipped it.
    /// - Throws: `versionConflict`, `objectNotFound`, and the other errors of an update.
    @discardableResult
    public func update<Record: EntityRecord>(
        _ record: Record, from read: Record, mergePolicy: MergePolicy = .error
    ) throws(LarderError) -> Int64 {
        let difference = try record.difference(from: read)
        guard !difference.values.isEmpty else { return 0 }
        return try update(
            record.requiredID(), difference.values, base: difference.base,
            mergePolicy: mergePolicy)
    }

    /// Reads an object, changes it and saves the properties that the closure changed. If another
    /// client changed the object meanwhile, it is read again and the closure runs again.
    ///
    ///     try store.modify(book) { $0.pages += 1 }
    ///
    /// - Parameter change: May run several times, and so has no other effects.
    /// - Returns: the record as it was saved.
    /// - Throws: the error of the closure; `objectNotFound`; `versionConflict` if the object was
    ///   changed by others each time until `Options.requestTimeout`; errors of the update.
    @discardableResult
    public func modify<Record: EntityRecord>(
        _ object: Ref<Record>, _ change: (inout Record) throws -> Void
    ) throws -> Record {
        try modify([object], change)[0]
    }

    /// Changes objects as `modify` changes one, and saves all in one transaction.
    ///
    /// - Returns: the records as they were saved, in the order of the references.
    /// - Throws: as `modify` of one object does. Nothing is saved then.
    @discardableResult
    public func modify<Record: EntityRecord>(
        _ objects: [Ref<Record>], _ change: (inout Record) throws -> Void
    ) throws -> [Record] {
        var modification = Modification<Record>(objects, timeout: requestTimeout)
        while true {
            let records = try self.objects(
                for: modification.identifiers, properties: Record.propertyNames)
            let changes = try modification.changes(to: records, change)
            guard !changes.changes.isEmpty else { return modification.records }
            do throws(LarderError) {
                _ = try save(changes)
                return modification.records
            } catch {
                try modification.retry(after: error)
            }
        }
    }

    /// Saves the changes that the closure makes, in one transaction.
    ///
    /// - Returns: the result, which resolves the references of inserted records.
    /// - Throws: the error of the closure, before anything is saved; the first error of the
    ///   changes.
    @discardableResult
    public func save(
        idempotencyKey: String = "", _ body: (inout RecordChanges) throws -> Void
    ) throws -> SavedRecords {
        var changes = RecordChanges()
        try body(&changes)
        let result = try save(changes.changeSet, idempotencyKey: idempotencyKey)
        return SavedRecords(changes.changeSet.changes, result)
    }

    /// Deletes an object and applies its delete rules.
    ///
    /// - Throws: `objectNotFound`, `deleteDenied`, `versionConflict`.
    public func delete<Record: EntityRecord>(
        _ object: Ref<Record>, ifVersion: Int64? = nil
    ) throws(LarderError) {
        try delete(object.id, ifVersion: ifVersion)
    }

    /// Deletes the object of a record and applies its delete rules.
    ///
    /// - Throws: `objectNotFound`, also if the record's `id` is nil; `deleteDenied`.
    public func delete<Record: EntityRecord>(_ record: Record) throws(LarderError) {
        try delete(record.requiredID())
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// - Parameters:
    ///   - predicate: nil is all objects of the entity.
    ///   - limit: The maximum number of objects, in the order of `sort`, which requires a limit;
    ///     nil is all objects that satisfy the predicate.
    /// - Returns: the number of objects.
    /// - Throws: `unsupportedPredicate`, `validationFailed`, `uniquenessViolated`.
    @discardableResult
    public func updateAll<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>?,
        _ assignments: RecordAssignment<Record>..., sort: [RecordSort<Record>] = [],
        limit: Int? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int {
        let change = try Record.updateAll(
            where: predicate, sort: sort, limit: limit, assignments)
        return try save(ChangeSet([change]), idempotencyKey: idempotencyKey).affectedCount
    }

    /// Deletes all objects that satisfy the predicate, in one transaction, with their delete rules.
    ///
    /// - Parameters:
    ///   - predicate: nil is all objects of the entity.
    ///   - limit: The maximum number of objects, in the order of `sort`, which requires a limit;
    ///     nil is all objects that satisfy the predicate.
    /// - Returns: the number of objects that satisfied the predicate.
    /// - Throws: `unsupportedPredicate`, `deleteDenied`.
    @discardableResult
    public func deleteAll<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>?,
        sort: [RecordSort<Record>] = [], limit: Int? = nil, idempotencyKey: String = ""
    ) throws(LarderError) -> Int {
        let change = Change.deleteAll(
            try Record.selection(predicate, sort: sort, limit: limit))
        return try save(ChangeSet([change]), idempotencyKey: idempotencyKey).affectedCount
    }
}
