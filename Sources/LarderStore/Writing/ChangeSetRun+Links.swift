import LarderModel

extension ChangeSetRun {
    /// Sets a relationship of an object that exists.
    func assign(_ planned: Assignment, to object: ObjectKey) throws(SQLiteError) {
        let assignment = resolved(planned)
        let relationship = schema.relationships[assignment.relationship]
        switch relationship.storage {
        case .own:
            try assignOwn(relationship, of: object, assignment.targets.first)
        case .inverse(let holder) where relationship.relationship.isToMany:
            try assignList(
                relationship, schema.relationships[holder], of: object, assignment.targets)
        case .inverse(let holder):
            try assignPartner(schema.relationships[holder], of: object, assignment.targets.first)
        case .join(let table):
            try assignPairs(relationship, table, of: object, assignment.targets)
        }
    }

    /// A to-one whose key is in the object's row. In a one-to-one the new partner leaves its former
    /// one, and in one that is its own inverse both partners' rows hold the link.
    private func assignOwn(
        _ relationship: StoredRelationship, of object: ObjectKey, _ target: Assignment.Target?
    ) throws(SQLiteError) {
        guard let target else {
            try unlinkMirror(relationship, of: object, except: nil)
            try link(object, relationship, to: nil)
            return
        }
        guard try checkExists(target) else { return }
        if relationship.isOneToOne {
            try unlinkMirror(relationship, of: object, except: target.key)
            try unlinkHolders(relationship, of: target.key, except: object.key)
        }
        try link(object, relationship, to: target.key)
        if relationship.isOneToOne && relationship.isOwnInverse {
            try link(target.object, relationship, to: object.key)
        }
    }

    /// In a one-to-one that is its own inverse: makes whoever names this object forget it.
    private func unlinkMirror(
        _ relationship: StoredRelationship, of object: ObjectKey, except kept: Int64?
    ) throws(SQLiteError) {
        guard relationship.isOneToOne && relationship.isOwnInverse else { return }
        try unlinkHolders(relationship, of: object.key, except: kept)
    }

    /// A to-one whose key is in the partner's row.
    private func assignPartner(
        _ holder: StoredRelationship, of object: ObjectKey, _ target: Assignment.Target?
    ) throws(SQLiteError) {
        try unlinkHolders(holder, of: object.key, except: target?.key)
        guard let target else { return }
        if try !link(target, holder, to: object.key) { fault(missing(target.object)) }
    }

    /// A to-many whose objects hold the key.
    private func assignList(
        _ relationship: StoredRelationship, _ holder: StoredRelationship, of object: ObjectKey,
        _ targets: [Assignment.Target]
    ) throws(SQLiteError) {
        guard case .own(let column) = holder.storage else { return }
        let wanted = Set(targets.map(\.key))
        var current: [Int64: Int64?] = [:]
        for (key, position) in try positionedKeys(column.holders, object.key) {
            if wanted.contains(key) {
                current[key] = .some(position)
            } else {
                try link(self.object(holder.entityNumber, key), holder, to: nil)
            }
        }
        let positions = try moveKept(targets, current, column.order, relationship, of: object)
        for (target, position) in zip(targets, positions) where !faults.isFull {
            guard current[target.key] == nil else { continue }
            if try !link(target, holder, to: object.key, position: position) {
                fault(missing(target.object))
            }
        }
    }

    /// A many-to-many, or a to-many without inverse.
    private func assignPairs(
        _ relationship: StoredRelationship, _ table: JoinTable, of object: ObjectKey,
        _ targets: [Assignment.Target]
    ) throws(SQLiteError) {
        let wanted = Set(targets.map(\.key))
        var current: [Int64: Int64?] = [:]
        for (key, position) in try positionedKeys(table.others, object.key) {
            if wanted.contains(key) {
                current[key] = .some(position)
            } else {
                try removePair(relationship, table, object.key, key)
            }
        }
        let positions = try moveKept(targets, current, table.order, relationship, of: object)
        for (target, position) in zip(targets, positions) where !faults.isFull {
            guard current[target.key] == nil, try checkExists(target)
            else { continue }
            try addPair(relationship, table, object.key, target.key, position)
        }
    }

    /// The positions of a whole list, nil if it has no order. Objects that are in it already get
    /// theirs at once; most keep the one that they have.
    private func moveKept(
        _ targets: [Assignment.Target], _ current: [Int64: Int64?], _ order: ListOrder?,
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLiteError) -> [Int64?] {
        for target in targets where current[target.key] != nil {
            if try !isNamed(target) { fault(missing(target.object)) }
        }
        guard let order else { return targets.map { _ in nil } }
        let held = targets.map { current[$0.key] ?? nil }
        let positions = ListPosition.positions(for: held)
        for (index, target) in targets.enumerated() {
            guard current[target.key] != nil, held[index] != positions[index] else { continue }
            try move(target.key, to: positions[index], order, of: object.key)
            noteChange(object, relationship)
        }
        return positions
    }

    func removePair(
        _ relationship: StoredRelationship, _ table: JoinTable, _ own: Int64, _ other: Int64
    ) throws(SQLiteError) {
        try noteChange(relationship, of: own)
        try noteInverseChange(relationship, of: other)
        let statement = try statements.statement(table.remove)
        try statement.run([.integer(own), .integer(other)])
        if relationship.isOwnInverse { try statement.run([.integer(other), .integer(own)]) }
    }

    func addPair(
        _ relationship: StoredRelationship, _ table: JoinTable, _ own: Int64, _ other: Int64,
        _ position: Int64?
    ) throws(SQLiteError) {
        try noteChange(relationship, of: own)
        try noteInverseChange(relationship, of: other)
        // An object that is its own friend stands in one list once, where it was given its place.
        let inverseOrder = relationship.isOwnInverse && own == other ? nil : table.inverseOrder
        let last = try inverseOrder.map { order throws(SQLiteError) in
            try lastPosition(order, of: other)
        }
        func add(_ own: Int64, _ other: Int64, _ positions: [Int64?]) throws(SQLiteError) {
            let statement = try statements.statement(table.add)
            defer { statement.reset() }
            try statement.bind([.integer(own), .integer(other)])
            // ?3 and ?4 are there only if the table has their columns; see `JoinTable.add`.
            for (index, position) in positions.enumerated()
            where index + 3 <= statement.parameterCount {
                try statement.bind(position.map { .integer($0) } ?? .null, at: index + 3)
            }
            while try statement.step() {}
        }
        try add(own, other, [position, last])
        if relationship.isOwnInverse && own != other {
            try add(other, own, [last, nil])
        }
    }

    // MARK: - The one way in which a stored to-one changes

    /// The same for a holder that a caller named; false also if the row is another entity's.
    func link(
        _ target: Assignment.Target, _ relationship: StoredRelationship, to key: Int64,
        position: Int64? = nil
    ) throws(SQLiteError) -> Bool {
        guard try isNamed(target) else { return false }
        return try link(target.object, relationship, to: key, position: position)
    }

    /// Sets the key in the row of `holder`, and the position in the list of the inverse: at the end
    /// if none is given. A row that holds the key already stays as it is. False if there is no such
    /// row.
    @discardableResult
    func link(
        _ holder: ObjectKey, _ relationship: StoredRelationship, to key: Int64?,
        position: Int64? = nil, cause: ObligationCause = .lost
    ) throws(SQLiteError) -> Bool {
        guard case .own(let column) = relationship.storage,
            let held = try heldKey(column, holder.key)
        else { return false }
        if held == key { return true }
        var bindings: [SQLBinding] = [.integer(holder.key), key.map { .integer($0) } ?? .null]
        if let order = column.order {
            bindings.append(try self.position(position, order, of: key))
        }
        try statements.statement(column.set).run(bindings)
        try bump(holder)
        noteChange(holder, relationship)
        if key != nil {
            let entity = schema.entities[holder.entity]
            try noteUnique(holder, in: entity.constraints(overRelationship: relationship.number))
        }
        for other in [held, key] { try noteInverseChange(relationship, of: other) }
        if key == nil { oblige(holder, relationship, cause) }
        try noteInverse(relationship, lost: held, won: key, cause: cause)
        return true
    }

    private func position(
        _ given: Int64?, _ order: ListOrder, of key: Int64?
    ) throws(SQLiteError) -> SQLBinding {
        guard let key else { return .null }
        if let given { return .integer(given) }
        return .integer(try lastPosition(order, of: key))
    }

    /// In a one-to-one the other side is a to-one too, and has changed with the link.
    private func noteInverse(
        _ relationship: StoredRelationship, lost: Int64?, won: Int64?, cause: ObligationCause
    ) throws(SQLiteError) {
        guard relationship.isOneToOne, !relationship.isOwnInverse,
            let number = relationship.inverseNumber
        else { return }
        let entity = relationship.destinationNumber
        if let lost {
            let object = try object(entity, lost)
            try bump(object)
            oblige(object, schema.relationships[number], cause)
        }
        if let won { try bump(object(entity, won)) }
    }

    /// Makes the rows that hold a key forget it.
    func unlinkHolders(
        _ relationship: StoredRelationship, of key: Int64, except kept: Int64?,
        cause: ObligationCause = .lost
    ) throws(SQLiteError) {
        guard case .own(let column) = relationship.storage else { return }
        for holder in try keys(column.holders, key) where holder != kept {
            try link(
                object(relationship.entityNumber, holder), relationship, to: nil, cause: cause)
        }
    }

    /// The key that a row holds, if any; nil if there is no row.
    private func heldKey(_ column: KeyColumn, _ key: Int64) throws(SQLiteError) -> Int64?? {
        let statement = try statements.statement(column.held)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step() else { return nil }
        return .some(statement.isNull(at: 0) ? nil : statement.int64(at: 0))
    }
}
