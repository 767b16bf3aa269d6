public import FoundationEssentials

// The asynchronous forms of `StoreClient+Records.swift`. Each means the same as the blocking form.

extension StoreClient {
    /// Inserts a record.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func insert<Record: EntityRecord>(
        _ record: Record, onUniqueConflict policy: UniqueConflictPolicy = .error,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> Record {
        var record = record
        record.id = try await insert(
            Record.entityName, record.insertionValues(), onUniqueConflict: policy,
            idempotencyKey: idempotencyKey)
        return record
    }

    /// Inserts records in one transaction: all of them or none.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func insert<Record: EntityRecord>(
        _ records: [Record], onUniqueConflict policy: UniqueConflictPolicy = .error,
        idempotencyKey: String = ""
    ) async throws(LarderError) -> [Record] {
        let changes = try RecordChanges(inserting: records, onUniqueConflict: policy)
        return try await save(changes.changeSet, idempotencyKey: idempotencyKey).identified(records)
    }

    /// Sets one property of an object, whatever its other properties are.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func update<Record: EntityRecord, Member: Sendable>(
        _ member: KeyPath<Record, Member>, of object: Ref<Record>, to value: Member,
        ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        let (name, value) = try Record.assignment(member, value)
        return try await update(
            object.id, [name: value], ifVersion: ifVersion, idempotencyKey: idempotencyKey)
    }

    /// Sets all properties of an object to those of the record.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func update<Record: EntityRecord>(
        _ record: Record, ifVersion: Int64? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int64 {
        try await update(
            record.requiredID(), record.values(), ifVersion: ifVersion,
            idempotencyKey: idempotencyKey)
    }

    /// Sets the properties in which a record differs from the one that was read.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func update<Record: EntityRecord>(
        _ record: Record, from read: Record, mergePolicy: MergePolicy = .error
    ) async throws(LarderError) -> Int64 {
        let difference = try record.difference(from: read)
        guard !difference.values.isEmpty else { return 0 }
        return try await update(
            record.requiredID(), difference.values, base: difference.base,
            mergePolicy: mergePolicy)
    }

    /// Reads an object, changes it and saves the properties that the closure changed.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func modify<Record: EntityRecord>(
        _ object: Ref<Record>, _ change: (inout Record) throws -> Void
    ) async throws -> Record {
        try await modify([object], change)[0]
    }

    /// Changes objects as `modify` changes one, and saves all in one transaction.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func modify<Record: EntityRecord>(
        _ objects: [Ref<Record>], _ change: (inout Record) throws -> Void
    ) async throws -> [Record] {
        var modification = Modification<Record>(objects, timeout: requestTimeout)
        while true {
            let records = try await self.objects(
                for: modification.identifiers, properties: Record.propertyNames)
            let changes = try modification.changes(to: records, change)
            guard !changes.changes.isEmpty else { return modification.records }
            do throws(LarderError) {
                _ = try await save(changes)
                return modification.records
            } catch {
                try modification.retry(after: error)
            }
        }
    }

    /// Saves the changes that the closure makes, in one transaction.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func save(
        idempotencyKey: String = "", _ body: (inout RecordChanges) throws -> Void
    ) async throws -> SavedRecords {
        var changes = RecordChanges()
        try body(&changes)
        let result = try await save(changes.changeSet, idempotencyKey: idempotencyKey)
        return SavedRecords(changes.changeSet.changes, result)
    }

    /// Deletes an object and applies its delete rules.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    public func delete<Record: EntityRecord>(
        _ object: Ref<Record>, ifVersion: Int64? = nil
    ) async throws(LarderError) {
        try await delete(object.id, ifVersion: ifVersion)
    }

    /// Deletes the object of a record and applies its delete rules.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    public func delete<Record: EntityRecord>(_ record: Record) async throws(LarderError) {
        try await delete(record.requiredID())
    }

    /// Sets properties of all objects that satisfy the predicate, in one transaction.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func updateAll<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>?,
        _ assignments: RecordAssignment<Record>..., sort: [RecordSort<Record>] = [],
        limit: Int? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int {
        let change = try Record.updateAll(
            where: predicate, sort: sort, limit: limit, assignments)
        return try await save(ChangeSet([change]), idempotencyKey: idempotencyKey).affectedCount
    }

    /// Deletes all objects that satisfy the predicate, in one transaction, with their delete rules.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled;
    ///   `indeterminate` for a write that was sent by then.
    @discardableResult
    public func deleteAll<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>?,
        sort: [RecordSort<Record>] = [], limit: Int? = nil, idempotencyKey: String = ""
    ) async throws(LarderError) -> Int {
        let change = Change.deleteAll(
            try Record.selection(predicate, sort: sort, limit: limit))
        return try await save(ChangeSet([change]), idempotencyKey: idempotencyKey).affectedCount
    }
}
