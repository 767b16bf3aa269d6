import LarderModel

/// Deletes objects, and applies the delete rules of their relationships.
struct ObjectDeleter {
    let context: ChangeContext
    let checks: DeferredChecks
    let history: HistoryRecorder

    private var links: LinkWriter { LinkWriter(context: context, checks: checks) }

    /// Deletes an object that is stored, and the objects to which its delete rules cascade.
    ///
    /// - Returns: The number of deleted objects.
    func delete(_ object: ObjectKey) throws(SQLError) -> Int64 {
        var count: Int64 = 0
        // A list instead of recursion: a chain may be as long as the store is large.
        var worklist = [object]
        context.deleted.insert(object)
        while let next = worklist.popLast() {
            try context.checkBudget()
            let entity = context.schema.entities[next.entity]
            // Before its links are removed.
            try history.preserveValues(of: next, checks.uniqueness)
            for number in entity.relationshipNumbers {
                let relationship = context.schema.relationships[number]
                switch relationship.relationship.deleteRule {
                case .nullify, .noAction: break
                case .cascade:
                    for key in try context.destinations(of: next, relationship) {
                        let other = try context.object(relationship.destinationNumber, key)
                        guard context.deleted.insert(other) else { continue }
                        if let denial = try context.rights?.violation(.delete, other, context) {
                            context.add(denial)
                            return count
                        }
                        worklist.append(other)
                    }
                case .deny: try checks.denyRules.record(relationship, of: next, context)
                }
                try unlink(relationship, ofDeleted: next)
            }
            for number in entity.inboundNumbers {
                try unlinkInbound(context.schema.relationships[number], ofDeleted: next)
            }
            guard try isStored(next) else { continue }
            try context.session.run(entity.delete, [.integer(next.key)])
            count += 1
            context.changes.delete(next)
        }
        return count
    }

    /// False for a key that the rule `noAction` left, which has no row.
    private func isStored(_ object: ObjectKey) throws(SQLError) -> Bool {
        if context.schema.noActionNumbers.isEmpty { return true }
        return try context.version(of: object) != nil
    }

    /// Removes the links of an object that is about to be deleted. Keys in its own row are deleted
    /// with the row. Destinations that are deleted too are not changed. Under `noAction`,
    /// destinations keep a key that their own rows hold; the pairs of a join table are removed.
    private func unlink(
        _ relationship: StoredRelationship, ofDeleted object: ObjectKey
    ) throws(SQLError) {
        let keepsKeys = relationship.relationship.deleteRule == .noAction
        switch relationship.storage {
        case .own(let column):
            guard relationship.isOneToOne else {
                if relationship.inverseNumber != nil {
                    try links.recordInverseChange(
                        of: relationship, ofKey: context.integer(column.held, object.key))
                }
                return
            }
            if !relationship.isOwnInverse {
                try links.link(object, relationship, to: nil, cause: .deleted(object))
            } else if !keepsKeys {
                try unlinkHolders(relationship, of: object)
            }
        case .inverse(let holder):
            guard !keepsKeys else { return }
            try unlinkHolders(context.schema.relationships[holder], of: object)
        case .join(let table):
            if relationship.inverseNumber != nil {
                for key in try context.keys(table.others, object.key) {
                    try links.recordInverseChange(of: relationship, ofKey: key)
                }
            }
            try context.session.run(table.removeAll, [.integer(object.key)])
            if relationship.isOwnInverse {
                try context.session.run(table.removeAllInverse, [.integer(object.key)])
            }
        }
    }

    /// Removes the links of relationships without inverse that lead to the object.
    private func unlinkInbound(
        _ relationship: StoredRelationship, ofDeleted object: ObjectKey
    ) throws(SQLError) {
        switch relationship.storage {
        case .own: try unlinkHolders(relationship, of: object)
        case .inverse: return
        case .join(let table):
            for key in try context.keys(table.owners, object.key) {
                try links.recordChange(of: relationship, ofKey: key)
            }
            try context.session.run(table.removeAllInverse, [.integer(object.key)])
        }
    }

    private func unlinkHolders(
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLError) {
        guard case .own(let column) = relationship.storage else { return }
        for key in try context.keys(column.holders, object.key) {
            let holder = try context.object(relationship.entityNumber, key)
            guard !context.deleted.contains(holder) else { continue }
            try links.link(holder, relationship, to: nil, cause: .deleted(object))
        }
    }
}
