import LarderModel

// Assignments of whole relationships.
extension LinkWriter {
    /// Sets a relationship of an object that is stored.
    func assign(_ assignment: Assignment, to object: ObjectKey) throws(SQLError) {
        let relationship = context.schema.relationships[assignment.relationship]
        switch relationship.storage {
        case .own:
            try assignOwn(relationship, of: object, assignment.targets.first)
        case .inverse(let holder) where relationship.relationship.isToMany:
            try assignList(
                relationship, context.schema.relationships[holder], of: object,
                assignment.targets)
        case .inverse(let holder):
            try assignPartner(
                context.schema.relationships[holder], of: object, assignment.targets.first)
        case .join(let table):
            try assignPairs(relationship, table, of: object, assignment.targets)
        }
    }

    /// Sets a to-one whose key is in the object's row. The new partner in a one-to-one leaves its
    /// former one. If the one-to-one is its own inverse, both partners' rows hold the link.
    private func assignOwn(
        _ relationship: StoredRelationship, of object: ObjectKey, _ target: Assignment.Target?
    ) throws(SQLError) {
        guard let target else {
            try unlinkPartner(relationship, of: object, except: nil)
            try link(object, relationship, to: nil)
            return
        }
        guard try context.checkExists(target) else { return }
        if relationship.isOneToOne {
            try unlinkPartner(relationship, of: object, except: target.key)
            try unlinkHolders(relationship, of: target.key, except: object.key)
        }
        try link(object, relationship, to: target.key)
        if relationship.isOneToOne && relationship.isOwnInverse {
            try link(target.object, relationship, to: object.key)
        }
    }

    /// In a one-to-one that is its own inverse: unlinks the object from its partner's row.
    private func unlinkPartner(
        _ relationship: StoredRelationship, of object: ObjectKey, except kept: Int64?
    ) throws(SQLError) {
        guard relationship.isOneToOne && relationship.isOwnInverse else { return }
        try unlinkHolders(relationship, of: object.key, except: kept)
    }

    /// Sets a to-one whose key is in the partner's row.
    private func assignPartner(
        _ holder: StoredRelationship, of object: ObjectKey, _ target: Assignment.Target?
    ) throws(SQLError) {
        try unlinkHolders(holder, of: object.key, except: target?.key)
        guard let target else { return }
        if try !link(target, holder, to: object.key) {
            context.add(context.notFound(target.object))
        }
    }

    /// Sets a to-many whose destinations hold the key.
    private func assignList(
        _ relationship: StoredRelationship, _ holder: StoredRelationship, of object: ObjectKey,
        _ targets: [Assignment.Target]
    ) throws(SQLError) {
        guard case .own(let column) = holder.storage else { return }
        let wanted = Set(targets.map(\.key))
        var current: [Int64: Int64?] = [:]
        for (key, position) in try positionedKeys(column.holders, object.key) {
            if wanted.contains(key) {
                current[key] = .some(position)
            } else {
                try link(context.object(holder.entityNumber, key), holder, to: nil)
            }
        }
        let positions = try moveKept(targets, current, column.order, relationship, of: object)
        for (target, position) in zip(targets, positions) where !context.errors.isFull {
            guard current[target.key] == nil else { continue }
            if try !link(target, holder, to: object.key, position: position) {
                context.add(context.notFound(target.object))
            }
        }
    }

    /// Sets a many-to-many, or a to-many without inverse.
    private func assignPairs(
        _ relationship: StoredRelationship, _ table: JoinTable, of object: ObjectKey,
        _ targets: [Assignment.Target]
    ) throws(SQLError) {
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
        for (target, position) in zip(targets, positions) where !context.errors.isFull {
            guard current[target.key] == nil, try context.checkExists(target)
            else { continue }
            try addPair(relationship, table, object.key, target.key, position)
        }
    }

    /// The positions of a whole list; nil for each if it is not ordered. Objects that are in the
    /// list already get their positions at once, and most keep the one that they have.
    private func moveKept(
        _ targets: [Assignment.Target], _ current: [Int64: Int64?], _ order: ListOrder?,
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLError) -> [Int64?] {
        for target in targets where current[target.key] != nil {
            if try !context.hasNamedEntity(target) {
                context.add(context.notFound(target.object))
            }
        }
        guard let order else { return targets.map { _ in nil } }
        let held = targets.map { current[$0.key] ?? nil }
        let positions = ListPosition.positions(for: held)
        for (index, target) in targets.enumerated() {
            guard current[target.key] != nil, held[index] != positions[index] else { continue }
            try ListPositions(context: context).move(
                target.key, to: positions[index], order, of: object.key)
            context.changes.update(object, .relationship(relationship.number))
        }
        return positions
    }

    /// Keys with their positions; the position is nil in a list without order.
    private func positionedKeys(
        _ text: SQL, _ key: Int64
    ) throws(SQLError) -> [(key: Int64, position: Int64?)] {
        var keys: [(key: Int64, position: Int64?)] = []
        try context.session.rows(text, [.integer(key)]) { row in
            if let key = row[0].int64 { keys.append((key, row[1].int64)) }
            return true
        }
        return keys
    }
}
