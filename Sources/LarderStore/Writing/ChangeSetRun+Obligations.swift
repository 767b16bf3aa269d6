import LarderModel

/// A to-one relationship that must not be nil at the end of the change set, if its object is there.
struct Obligation: Hashable, Sendable {
    let object: ObjectKey
    let relationship: Int
}

/// How it came that a required to-one may be nil.
enum ObligationCause: Hashable, Sendable {
    /// An insert did not set it.
    case missing
    /// The destination was given to another object.
    case lost
    /// The destination was deleted.
    case deleted(ObjectKey)
}

extension ChangeSetRun {
    /// Notes a to-one that has become nil, to be looked at when the set is done: until then it may
    /// get another destination, or its object may be deleted.
    func oblige(
        _ object: ObjectKey, _ relationship: StoredRelationship, _ cause: ObligationCause
    ) {
        guard relationship.isRequired else { return }
        obligations[Obligation(object: object, relationship: relationship.number)] = cause
    }

    func checkObligations() throws(SQLiteError) {
        let inOrder = obligations.sorted {
            ($0.key.object, $0.key.relationship) < ($1.key.object, $1.key.relationship)
        }
        for (obligation, cause) in inOrder where !faults.isFull {
            let relationship = schema.relationships[obligation.relationship]
            guard try isMissing(relationship, of: obligation.object) else { continue }
            fault(error(relationship, obligation.object, cause))
        }
    }

    private func isMissing(
        _ relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLiteError) -> Bool {
        switch relationship.storage {
        case .own(let column): return try hasRow(column.isMissing, object.key)
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return false }
            guard try version(of: object) != nil else { return false }
            return try !hasRow(column.holders, object.key)
        case .join: return false
        }
    }

    private func error(
        _ relationship: StoredRelationship, _ object: ObjectKey, _ cause: ObligationCause
    ) -> LarderError {
        let name = relationship.qualifiedName
        switch cause {
        case .missing: return LarderError(.missingValue, "\(name) is required")
        case .lost:
            let uri = isInserted(object) ? "an inserted object" : uri(of: object)
            return LarderError(
                .missingValue, "\(name) is required, and \(uri) would be left without",
                uri: isInserted(object) ? nil : uri)
        case .deleted(let destination):
            let uri = isInserted(object) ? "an inserted object" : uri(of: object)
            return LarderError(
                .deleteDenied,
                "\(self.uri(of: destination)) cannot be deleted, since \(uri) needs it as \(name)",
                hint:
                    "delete that object too, or give it another \(relationship.relationship.name)",
                uri: isInserted(object) ? nil : uri)
        }
    }
}
