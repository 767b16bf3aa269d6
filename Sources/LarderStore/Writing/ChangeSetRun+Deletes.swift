import LarderModel

extension ChangeSetRun {
    /// Deletes an object by name, and what its delete rules take along. One that the set has
    /// deleted already, by name or by a rule, is done.
    func delete(_ object: ObjectKey, ifVersion: Int64?) throws(SQLiteError) {
        guard !deleted.contains(object) else { return }
        guard try checkedVersion(of: object, ifVersion: ifVersion) != nil else { return }
        // A list instead of recursion: chains may be as long as the store is large.
        var worklist = [object]
        deleted.insert(object)
        while let next = worklist.popLast() {
            let entity = schema.entities[next.entity]
            for number in entity.relationshipNumbers {
                let relationship = schema.relationships[number]
                if relationship.relationship.deleteRule == .cascade {
                    for key in try destinations(of: next, relationship) {
                        let other = ObjectKey(entity: relationship.destinationNumber, key: key)
                        if deleted.insert(other).inserted { worklist.append(other) }
                    }
                }
                try unlink(relationship, ofDeleted: next)
            }
            for number in entity.inboundNumbers {
                try unlinkInbound(schema.relationships[number], ofDeleted: next)
            }
            try statements.statement(entity.delete).run([.integer(next.key)])
            result.deletedCount += statements.connection.changes
        }
    }

    private func destinations(
        of object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLiteError) -> [Int64] {
        switch relationship.storage {
        case .own(let column): return try integer(column.held, object.key).map { [$0] } ?? []
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return [] }
            return try keys(column.holders, object.key)
        case .join(let table): return try keys(table.others, object.key)
        }
    }

    /// Ends the links of an object that is about to go. What its own row holds goes with the row;
    /// destinations that are deleted too are left as they are.
    private func unlink(
        _ relationship: StoredRelationship, ofDeleted object: ObjectKey
    ) throws(SQLiteError) {
        switch relationship.storage {
        case .own:
            guard relationship.isOneToOne else { return }
            if relationship.isOwnInverse {
                try unlinkHolders(relationship, of: object)
            } else {
                try link(object, relationship, to: nil, cause: .deleted(object))
            }
        case .inverse(let holder):
            try unlinkHolders(schema.relationships[holder], of: object)
        case .join(let table):
            try statements.statement(table.removeAll).run([.integer(object.key)])
            if relationship.isOwnInverse {
                try statements.statement(table.removeAllInverse).run([.integer(object.key)])
            }
        }
    }

    /// Ends the links of relationships that lead here and have no inverse.
    private func unlinkInbound(
        _ relationship: StoredRelationship, ofDeleted object: ObjectKey
    ) throws(SQLiteError) {
        switch relationship.storage {
        case .own: try unlinkHolders(relationship, of: object)
        case .inverse: return
        case .join(let table):
            try statements.statement(table.removeAllInverse).run([.integer(object.key)])
        }
    }

    private func unlinkHolders(
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLiteError) {
        guard case .own(let column) = relationship.storage else { return }
        for key in try keys(column.holders, object.key) {
            let holder = ObjectKey(entity: relationship.entityNumber, key: key)
            guard !deleted.contains(holder) else { continue }
            try link(holder, relationship, to: nil, cause: .deleted(object))
        }
    }
}
