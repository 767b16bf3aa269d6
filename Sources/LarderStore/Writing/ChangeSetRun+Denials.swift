import LarderModel

/// A deleted object whose rule `deny` has objects in its way, unless they go too.
struct Denial: Sendable {
    let object: ObjectKey
    let relationship: Int
    /// Its destinations as the delete found them.
    let destinations: [Int64]
    let change: Int?
}

extension ChangeSetRun {
    /// Names at most so many of the objects in the way.
    private static let namedMax = 5

    /// Notes what stands in the way of a delete, to be looked at when the set is done: until then
    /// it may be deleted as well.
    func deny(
        _ object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLiteError) {
        let inTheWay = try destinations(of: object, relationship)
        guard !inTheWay.isEmpty else { return }
        denials.append(
            Denial(
                object: object, relationship: relationship.number, destinations: inTheWay,
                change: change))
    }

    func checkDenials() throws(SQLiteError) {
        for denial in denials where !faults.isFull {
            try checkTime()
            let relationship = schema.relationships[denial.relationship]
            var named: [String] = []
            var first: ObjectKey?
            var count = 0
            for key in denial.destinations {
                let other = try object(relationship.destinationNumber, key)
                guard try version(of: other) != nil else { continue }
                count += 1
                guard named.count < Self.namedMax else { continue }
                if first == nil, !isInserted(other) { first = other }
                named.append(isInserted(other) ? "an inserted object" : uri(of: other))
            }
            guard count > 0 else { continue }
            let others = count > named.count ? " and \(count - named.count) more" : ""
            let fault = relationship.fault(
                .deleteDenied,
                "\(uri(of: denial.object)) cannot be deleted, since its "
                    + "\(relationship.qualifiedName) leads to "
                    + "\(named.joined(separator: ", "))\(others)",
                .deleteRule, uri: first.map { uri(of: $0) })
            faults.add(
                LarderError(
                    fault,
                    hint: "delete that too, or take it out of "
                        + "\(relationship.relationship.name) before"),
                change: denial.change)
        }
    }
}
