import LarderModel

/// Why a required to-one may be nil at the end of the change set.
struct Obligation: Sendable {
    let cause: ObligationCause
    /// The change that made it so.
    let change: Int?
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
        let obliged = ObjectRelationship(object: object, relationship: relationship.number)
        obligations[obliged] = Obligation(cause: cause, change: change)
    }

    func checkObligations() throws(SQLiteError) {
        if obligations.isEmpty { return }
        for (obliged, obligation) in obligations.sorted(by: { $0.key < $1.key })
        where !faults.isFull {
            try checkTime()
            let relationship = schema.relationships[obliged.relationship]
            guard try isMissing(relationship, of: obliged.object) else { continue }
            let error = error(relationship, obliged.object, obligation.cause)
            faults.add(error, change: obligation.change)
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
        let whose = isInserted(object) ? "an inserted object" : uri(of: object)
        let uri = isInserted(object) ? nil : uri(of: object)
        switch cause {
        case .missing:
            return LarderError(
                relationship.fault(.missingValue, "\(name) is required", .optional))
        case .lost:
            return LarderError(
                relationship.fault(
                    .missingValue, "\(name) is required, and \(whose) would be left without",
                    .optional, uri: uri))
        case .deleted(let destination):
            return LarderError(
                relationship.fault(
                    .deleteDenied,
                    "\(self.uri(of: destination)) cannot be deleted, since \(whose) needs it as "
                        + name, .optional, uri: uri),
                hint:
                    "delete that object too, or give it another \(relationship.relationship.name)")
        }
    }
}
