import LarderModel

extension ChangeSetRun {
    /// Deletes an object by name, and what its delete rules take along. One that the set has
    /// deleted already, by name or by a rule, is done.
    func delete(_ object: ObjectKey) throws(SQLiteError) {
        guard !deleted.contains(object) else { return }
        guard try version(of: object) != nil else { return fault(missing(object)) }
        try deleteExisting(object)
    }

    func deleteExisting(_ object: ObjectKey) throws(SQLiteError) {
        // A list instead of recursion: chains may be as long as the store is large.
        var worklist = [object]
        deleted.insert(object)
        while let next = worklist.popLast() {
            try checkTime()
            let entity = schema.entities[next.entity]
            for number in entity.relationshipNumbers {
                let relationship = schema.relationships[number]
                switch relationship.relationship.deleteRule {
                case .nullify, .noAction: break
                case .cascade:
                    for key in try destinations(of: next, relationship) {
                        let other = try self.object(relationship.destinationNumber, key)
                        if deleted.insert(other) { worklist.append(other) }
                    }
                case .deny: try deny(next, relationship)
                }
                try unlink(relationship, ofDeleted: next)
            }
            for number in entity.inboundNumbers {
                try unlinkInbound(schema.relationships[number], ofDeleted: next)
            }
            try preserveValues(of: next)
            try statements.statement(entity.delete).run([.integer(next.key)])
            // A key that leads nowhere has no row.
            guard statements.connection.changes > 0 else { continue }
            result.deletedCount += 1
            changes.delete(next)
        }
    }

    func destinations(
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
    /// destinations that are deleted too are left as they are. Under `noAction` destinations keep
    /// the key that their own rows hold; pairs of a join table are as much the object's as theirs,
    /// and go.
    private func unlink(
        _ relationship: StoredRelationship, ofDeleted object: ObjectKey
    ) throws(SQLiteError) {
        let keepsKeys = relationship.relationship.deleteRule == .noAction
        switch relationship.storage {
        case .own(let column):
            guard relationship.isOneToOne else {
                if relationship.inverseNumber != nil {
                    try noteInverseChange(relationship, of: integer(column.held, object.key))
                }
                return
            }
            if !relationship.isOwnInverse {
                try link(object, relationship, to: nil, cause: .deleted(object))
            } else if !keepsKeys {
                try unlinkHolders(relationship, of: object)
            }
        case .inverse(let holder):
            guard !keepsKeys else { return }
            try unlinkHolders(schema.relationships[holder], of: object)
        case .join(let table):
            if relationship.inverseNumber != nil {
                for key in try keys(table.others, object.key) {
                    try noteInverseChange(relationship, of: key)
                }
            }
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
            for key in try keys(table.owners, object.key) {
                try noteChange(relationship, of: key)
            }
            try statements.statement(table.removeAllInverse).run([.integer(object.key)])
        }
    }

    private func unlinkHolders(
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLiteError) {
        guard case .own(let column) = relationship.storage else { return }
        for key in try keys(column.holders, object.key) {
            let holder = try self.object(relationship.entityNumber, key)
            guard !deleted.contains(holder) else { continue }
            try link(holder, relationship, to: nil, cause: .deleted(object))
        }
    }
}
