import LarderModel

/// One relationship of one object.
struct ObjectRelationship: Hashable, Sendable, Comparable {
    let object: ObjectKey
    let relationship: Int

    static func < (left: ObjectRelationship, right: ObjectRelationship) -> Bool {
        (left.object, left.relationship) < (right.object, right.relationship)
    }
}

// How many objects a to-many relationship holds. It is looked at when the set is done, since a set
// may pass through numbers that it must not end in.
extension ChangeSetRun {
    /// Notes that an object's relationship has changed, and that the objects of a to-many may have
    /// become more or fewer.
    func noteChange(
        _ relationship: StoredRelationship, of key: Int64
    ) throws(SQLiteError) {
        let object = try object(relationship.entityNumber, key)
        noteChange(object, relationship)
        noteCount(relationship, of: object)
    }

    /// The same for the inverse of a destination.
    func noteInverseChange(
        _ relationship: StoredRelationship, of key: Int64?
    ) throws(SQLiteError) {
        guard let key, let number = relationship.inverseNumber else { return }
        try noteChange(schema.relationships[number], of: key)
    }

    func noteCount(_ relationship: StoredRelationship, of object: ObjectKey) {
        guard relationship.isCounted else { return }
        let counted = ObjectRelationship(object: object, relationship: relationship.number)
        counts.updateValue(change, forKey: counted)
    }

    func checkCounts() throws(SQLiteError) {
        if counts.isEmpty { return }
        for (counted, change) in counts.sorted(by: { $0.key < $1.key }) where !faults.isFull {
            try checkTime()
            guard try version(of: counted.object) != nil else { continue }
            let relationship = schema.relationships[counted.relationship]
            let count = try count(of: relationship, counted.object.key)
            guard let fault = countFault(relationship, counted.object, count) else { continue }
            faults.add(LarderError(fault), change: change)
        }
    }

    private func count(
        of relationship: StoredRelationship, _ key: Int64
    ) throws(SQLiteError) -> Int64 {
        switch relationship.storage {
        case .own: return 0
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return 0 }
            return try integer(column.count, key) ?? 0
        case .join(let table): return try integer(table.count, key) ?? 0
        }
    }

    private func countFault(
        _ stored: StoredRelationship, _ object: ObjectKey, _ count: Int64
    ) -> ChangeFault? {
        let relationship = stored.relationship
        let whose = isInserted(object) ? "an inserted object" : uri(of: object)
        let has = "\(stored.qualifiedName) of \(whose) has \(count)"
        let uri = isInserted(object) ? nil : uri(of: object)
        // An optional list may be empty whatever its minimum.
        let minimum =
            relationship.isOptional
            ? (count == 0 ? 0 : relationship.minCount) : max(1, relationship.minCount)
        if count < minimum {
            return stored.fault(
                .validationFailed, "\(has) \(Self.objects(count)) and needs at least \(minimum)",
                .minCount, uri: uri)
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            return stored.fault(
                .validationFailed,
                "\(has) \(Self.objects(count)) and takes at most \(relationship.maxCount)",
                .maxCount, uri: uri)
        }
        return nil
    }

    private static func objects(_ count: Int64) -> String { count == 1 ? "object" : "objects" }
}
