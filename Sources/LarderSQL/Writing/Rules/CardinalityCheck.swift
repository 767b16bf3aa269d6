import LarderModel

/// Checks the minimum and maximum number of objects in to-many relationships at the end of a change
/// set.
///
/// A list may be too short or too long in between.
struct CardinalityCheck {
    /// The relationships whose lists have changed, and the last change that did it.
    private var records: [ObjectRelationship: Int?] = [:]

    var recordCount: Int { records.count }

    /// Records that a list may have become shorter or longer, if its length is bounded.
    mutating func record(_ relationship: StoredRelationship, of object: ObjectKey, change: Int?) {
        guard relationship.hasCountBounds else { return }
        let key = ObjectRelationship(object: object, relationship: relationship.number)
        records.updateValue(change, forKey: key)
    }

    /// Adds an error for each recorded list that is too short or too long.
    func check(_ context: ChangeContext) throws(SQLError) {
        if records.isEmpty { return }
        for (key, change) in records.sorted(by: { $0.key < $1.key })
        where !context.errors.isFull {
            try context.checkBudget()
            guard try context.version(of: key.object) != nil else { continue }
            let relationship = context.schema.relationships[key.relationship]
            let count = try count(of: relationship, key.object.key, context)
            let violation = violation(of: relationship, key.object, count, context)
            guard let violation else { continue }
            context.add(LarderError(violation), change: change)
        }
    }

    private func count(
        of relationship: StoredRelationship, _ key: Int64, _ context: ChangeContext
    ) throws(SQLError) -> Int64 {
        switch relationship.storage {
        case .own: return 0
        case .inverse(let holder):
            guard case .own(let column) = context.schema.relationships[holder].storage
            else { return 0 }
            return try context.integer(column.count, key) ?? 0
        case .join(let table): return try context.integer(table.count, key) ?? 0
        }
    }

    private func violation(
        of stored: StoredRelationship, _ object: ObjectKey, _ count: Int64,
        _ context: ChangeContext
    ) -> ChangeViolation? {
        let relationship = stored.relationship
        // An optional list may be empty, whatever its minimum.
        let minimum =
            relationship.isOptional
            ? (count == 0 ? 0 : relationship.minCount) : max(1, relationship.minCount)
        let isTooShort = count < minimum
        let isTooLong = relationship.maxCount > 0 && count > relationship.maxCount
        guard isTooShort || isTooLong else { return nil }
        let bound =
            isTooShort ? "needs at least \(minimum)" : "takes at most \(relationship.maxCount)"
        return stored.violation(
            .validationFailed,
            "\(stored.qualifiedName) of \(context.name(of: object)) has \(count) "
                + "\(count == 1 ? "object" : "objects") and \(bound)",
            isTooShort ? .minCount : .maxCount, uri: context.stableURI(of: object))
    }
}
