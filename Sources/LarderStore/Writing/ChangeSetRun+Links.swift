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
            try assignList(schema.relationships[holder], of: object, assignment.targets)
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
        _ holder: StoredRelationship, of object: ObjectKey, _ targets: [Assignment.Target]
    ) throws(SQLiteError) {
        guard case .own(let column) = holder.storage else { return }
        let wanted = Set(targets.map(\.key))
        for key in try keys(column.holders, object.key) where !wanted.contains(key) {
            try link(self.object(holder.entityNumber, key), holder, to: nil)
        }
        for (place, target) in targets.enumerated() where !faults.isFull {
            if try !link(target, holder, to: object.key, position: Int64(place)) {
                fault(missing(target.object))
            }
        }
    }

    /// A many-to-many, or a to-many without inverse.
    private func assignPairs(
        _ relationship: StoredRelationship, _ table: JoinTable, of object: ObjectKey,
        _ targets: [Assignment.Target]
    ) throws(SQLiteError) {
        let own = SQLBinding.integer(object.key)
        let wanted = Set(targets.map(\.key))
        var current: [Int64: Int64?] = [:]
        for (key, position) in try positionedKeys(table.others, object.key) {
            if wanted.contains(key) {
                current[key] = .some(position)
                continue
            }
            try noteChange(relationship, of: object.key)
            try noteInverseChange(relationship, of: key)
            try statements.statement(table.remove).run([own, .integer(key)])
            if relationship.isOwnInverse {
                try statements.statement(table.remove).run([.integer(key), own])
            }
        }
        for (place, target) in targets.enumerated() where !faults.isFull {
            let other = SQLBinding.integer(target.key)
            let position = Int64(place)
            if let held = current[target.key] {
                guard let move = table.move, held != position else { continue }
                noteChange(object, relationship)
                try statements.statement(move).run([own, other, .integer(position)])
            } else if try checkExists(target) {
                try addPair(relationship, table, object.key, target.key, position)
            }
        }
    }

    private func addPair(
        _ relationship: StoredRelationship, _ table: JoinTable, _ own: Int64, _ other: Int64,
        _ position: Int64
    ) throws(SQLiteError) {
        try noteChange(relationship, of: own)
        try noteInverseChange(relationship, of: other)
        let last = try table.lastInversePosition.map { text throws(SQLiteError) in
            try positionAfterLast(text, other)
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
    private func link(
        _ target: Assignment.Target, _ relationship: StoredRelationship, to key: Int64,
        position: Int64? = nil
    ) throws(SQLiteError) -> Bool {
        if schema.entities[target.object.entity].sharesTable,
            try version(of: target.object) == nil
        {
            return false
        }
        return try link(target.object, relationship, to: key, position: position)
    }

    /// Sets the key in the row of `holder`, and the position in the list of the inverse: at the end
    /// if none is given. False if there is no such row.
    @discardableResult
    func link(
        _ holder: ObjectKey, _ relationship: StoredRelationship, to key: Int64?,
        position: Int64? = nil, cause: ObligationCause = .lost
    ) throws(SQLiteError) -> Bool {
        guard case .own(let column) = relationship.storage,
            let held = try positionedKeysOrNil(column.held, holder.key)
        else { return false }
        if held.key == key {
            if key != nil, let move = column.move, let position, position != held.position {
                try noteInverseChange(relationship, of: key)
                try statements.statement(move).run([.integer(holder.key), .integer(position)])
            }
            return true
        }
        var bindings: [SQLBinding] = [.integer(holder.key), key.map { .integer($0) } ?? .null]
        if let lastPosition = column.lastPosition {
            bindings.append(try self.position(position, lastPosition, in: key))
        }
        try statements.statement(column.set).run(bindings)
        try bump(holder)
        noteChange(holder, relationship)
        if key != nil {
            let entity = schema.entities[holder.entity]
            try noteUnique(holder, in: entity.constraints(overRelationship: relationship.number))
        }
        for other in [held.key, key] { try noteInverseChange(relationship, of: other) }
        if key == nil { oblige(holder, relationship, cause) }
        try noteInverse(relationship, lost: held.key, won: key, cause: cause)
        return true
    }

    private func position(
        _ given: Int64?, _ lastPosition: String, in key: Int64?
    ) throws(SQLiteError) -> SQLBinding {
        guard let key else { return .null }
        if let given { return .integer(given) }
        return .integer(try positionAfterLast(lastPosition, key))
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

    /// What a row holds; nil if there is no row.
    private func positionedKeysOrNil(
        _ text: String, _ key: Int64
    ) throws(SQLiteError) -> (key: Int64?, position: Int64?)? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step() else { return nil }
        return (
            statement.isNull(at: 0) ? nil : statement.int64(at: 0),
            statement.isNull(at: 1) ? nil : statement.int64(at: 1)
        )
    }
}
