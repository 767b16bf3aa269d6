import LarderModel

/// Checks that required to-one relationships are not nil at the end of a change set.
///
/// A relationship may be nil in between: a later change may set it, or delete its object.
struct RequiredReferenceCheck {
    /// Why a relationship may be nil.
    enum Cause: Hashable, Sendable {
        /// An insert did not set it.
        case notSet
        /// It was set to nil, or its destination was assigned to another object.
        case unlinked
        /// Its destination was deleted.
        case deleted(ObjectKey)
    }

    private struct Record {
        let cause: Cause
        let change: Int?
    }

    private var records: [ObjectRelationship: Record] = [:]

    var recordCount: Int { records.count }

    /// Records that a relationship has become nil, if it is required.
    mutating func record(
        _ relationship: StoredRelationship, of object: ObjectKey, _ cause: Cause, change: Int?
    ) {
        guard relationship.isRequired else { return }
        let key = ObjectRelationship(object: object, relationship: relationship.number)
        records[key] = Record(cause: cause, change: change)
    }

    /// Adds an error for each recorded relationship that is still nil.
    func check(_ context: ChangeContext) throws(SQLError) {
        if records.isEmpty { return }
        for (key, record) in records.sorted(by: { $0.key < $1.key })
        where !context.errors.isFull {
            try context.checkBudget()
            let relationship = context.schema.relationships[key.relationship]
            guard try isNil(relationship, of: key.object, context) else { continue }
            let error = error(relationship, key.object, record.cause, context)
            context.add(error, change: record.change)
        }
    }

    /// False also for an object that is not stored any more.
    private func isNil(
        _ relationship: StoredRelationship, of object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) -> Bool {
        switch relationship.storage {
        case .own(let column): return try context.hasRow(column.isMissing, object.key)
        case .inverse(let holder):
            guard case .own(let column) = context.schema.relationships[holder].storage,
                try context.version(of: object) != nil
            else { return false }
            return try !context.hasRow(column.holders, object.key)
        case .join: return false
        }
    }

    private func error(
        _ relationship: StoredRelationship, _ object: ObjectKey, _ cause: Cause,
        _ context: ChangeContext
    ) -> LarderError {
        let name = relationship.qualifiedName
        let objectName = context.name(of: object)
        let uri = context.stableURI(of: object)
        switch cause {
        case .notSet:
            return LarderError(
                relationship.violation(.missingValue, "\(name) is required", .optional))
        case .unlinked:
            return LarderError(
                relationship.violation(
                    .missingValue, "\(name) is required, and \(objectName) would have none",
                    .optional, uri: uri))
        case .deleted(let destination):
            return LarderError(
                relationship.violation(
                    .deleteDenied,
                    "\(context.uri(of: destination)) cannot be deleted, because \(objectName) "
                        + "requires it as \(name)", .optional, uri: uri),
                hint: "delete that object too, or assign another "
                    + "\(relationship.relationship.name) to it")
        }
    }
}
