import LarderModel

/// Stores the links between objects, and records each change of a link for the deferred checks, the
/// versions and the history.
///
/// Both sides of a relationship are one stored link, so they always agree.
package struct LinkWriter {
    let context: ChangeContext
    let checks: DeferredChecks

    private var lists: ListPositions { ListPositions(context: context) }

    // MARK: - Recording changes

    /// Records a change of an object's relationship, and of the length of a to-many.
    func recordChange(
        of relationship: StoredRelationship, ofKey key: Int64
    ) throws(SQLError) {
        let object = try context.object(relationship.entityNumber, key)
        context.changes.update(object, .relationship(relationship.number))
        checks.cardinality.record(relationship, of: object, change: context.changeIndex)
    }

    /// Records the same for the inverse relationship of a destination.
    func recordInverseChange(
        of relationship: StoredRelationship, ofKey key: Int64?
    ) throws(SQLError) {
        guard let key, let number = relationship.inverseNumber else { return }
        try recordChange(of: context.schema.relationships[number], ofKey: key)
    }

    private func recordNil(
        _ relationship: StoredRelationship, of object: ObjectKey,
        _ cause: RequiredReferenceCheck.Cause
    ) {
        checks.requiredReferences.record(
            relationship, of: object, cause, change: context.changeIndex)
    }

    // MARK: - Links of a row that is inserted

    /// The values of a to-one's columns in a row that is about to be inserted.
    package func columnValues(
        _ relationship: StoredRelationship, _ target: Assignment.Target?
    ) throws(SQLError) -> [SQLValue] {
        guard case .own(let column) = relationship.storage else { return [] }
        let hasPosition = column.positionColumn != nil
        guard let target, try context.checkExists(target) else {
            return hasPosition ? [.null, .null] : [.null]
        }
        try recordInverseChange(of: relationship, ofKey: target.key)
        let key = SQLValue.integer(target.key)
        guard let order = column.order else { return [key] }
        return [key, .integer(try lists.appendPosition(order, of: target.key))]
    }

    // MARK: - To-one relationships

    /// Sets the key in the row of `holder`, and its position in the list of the inverse. Every
    /// change of a stored to-one goes through this method. A row that has the key already is not
    /// changed.
    ///
    /// - Parameter position: nil appends to the list.
    /// - Returns: False if there is no such row.
    @discardableResult
    func link(
        _ holder: ObjectKey, _ relationship: StoredRelationship, to key: Int64?,
        position: Int64? = nil, cause: RequiredReferenceCheck.Cause = .unlinked
    ) throws(SQLError) -> Bool {
        guard case .own(let column) = relationship.storage,
            let held = try heldKey(column, holder.key)
        else { return false }
        if held == key { return true }
        try context.formerValues.record(held, in: relationship, of: holder, context)
        var bindings: [SQLValue] = [.integer(holder.key), key.map { .integer($0) } ?? .null]
        if let order = column.order {
            bindings.append(try self.position(position, order, of: key))
        }
        try context.session.run(column.set, bindings)
        try context.incrementVersion(of: holder)
        context.changes.update(holder, .relationship(relationship.number))
        if key != nil {
            let entity = context.schema.entities[holder.entity]
            try checks.uniqueness.record(
                holder, in: entity.constraints(overRelationship: relationship.number), context)
        }
        for other in [held, key] { try recordInverseChange(of: relationship, ofKey: other) }
        if key == nil { recordNil(relationship, of: holder, cause) }
        try recordOneToOneInverse(relationship, of: holder, from: held, to: key, cause)
        return true
    }

    /// Does the same for a holder that the caller named.
    ///
    /// - Returns: False also if the row is one of another entity.
    func link(
        _ target: Assignment.Target, _ relationship: StoredRelationship, to key: Int64,
        position: Int64? = nil
    ) throws(SQLError) -> Bool {
        guard try context.hasNamedEntity(target) else { return false }
        return try link(target.object, relationship, to: key, position: position)
    }

    private func position(
        _ given: Int64?, _ order: ListOrder, of key: Int64?
    ) throws(SQLError) -> SQLValue {
        guard let key else { return .null }
        if let given { return .integer(given) }
        return .integer(try lists.appendPosition(order, of: key))
    }

    /// The other side of a one-to-one is a to-one too, and changes with the link.
    private func recordOneToOneInverse(
        _ relationship: StoredRelationship, of holder: ObjectKey, from oldKey: Int64?,
        to newKey: Int64?, _ cause: RequiredReferenceCheck.Cause
    ) throws(SQLError) {
        guard relationship.isOneToOne, !relationship.isOwnInverse,
            let number = relationship.inverseNumber
        else { return }
        let entity = relationship.destinationNumber
        let inverse = context.schema.relationships[number]
        if let oldKey {
            let object = try context.object(entity, oldKey)
            try context.formerValues.record(holder.key, in: inverse, of: object, context)
            try context.incrementVersion(of: object)
            recordNil(inverse, of: object, cause)
        }
        if let newKey {
            let object = try context.object(entity, newKey)
            try context.formerValues.record(nil, in: inverse, of: object, context)
            try context.incrementVersion(of: object)
        }
    }

    /// Sets the key to nil in all rows that hold it, except for one.
    func unlinkHolders(
        _ relationship: StoredRelationship, of key: Int64, except kept: Int64?
    ) throws(SQLError) {
        guard case .own(let column) = relationship.storage else { return }
        for holder in try context.keys(column.holders, key) where holder != kept {
            try link(context.object(relationship.entityNumber, holder), relationship, to: nil)
        }
    }

    /// The key that a row holds, which may be nil; nil if there is no row.
    private func heldKey(_ column: KeyColumn, _ key: Int64) throws(SQLError) -> Int64?? {
        try context.value(column.held, key).map { $0.int64 }
    }

    // MARK: - Pairs of a join table

    func addPair(
        _ relationship: StoredRelationship, _ table: JoinTable, _ own: Int64, _ other: Int64,
        _ position: Int64?
    ) throws(SQLError) {
        try recordChange(of: relationship, ofKey: own)
        try recordInverseChange(of: relationship, ofKey: other)
        // An object that is linked to itself is in its list once, at the given position.
        let inverseOrder = relationship.isOwnInverse && own == other ? nil : table.inverseOrder
        let last = try inverseOrder.map { order throws(SQLError) in
            try lists.appendPosition(order, of: other)
        }
        try context.session.run(table.add, table.addedValues(own, other, position, last))
        if relationship.isOwnInverse && own != other {
            try context.session.run(table.add, table.addedValues(other, own, last, nil))
        }
    }

    func removePair(
        _ relationship: StoredRelationship, _ table: JoinTable, _ own: Int64, _ other: Int64
    ) throws(SQLError) {
        try recordChange(of: relationship, ofKey: own)
        try recordInverseChange(of: relationship, ofKey: other)
        try context.session.run(table.remove, [.integer(own), .integer(other)])
        if relationship.isOwnInverse {
            try context.session.run(table.remove, [.integer(other), .integer(own)])
        }
    }
}
