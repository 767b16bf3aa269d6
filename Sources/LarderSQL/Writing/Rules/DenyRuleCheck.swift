import LarderModel

/// Checks the delete rule `deny`: the destinations of a deleted object must be deleted too by the
/// end of the change set.
struct DenyRuleCheck {
    /// An error names at most this many of the remaining destinations.
    private static let namedMax = 5

    private struct Record {
        let object: ObjectKey
        let relationship: Int
        /// The destinations at the time of the delete.
        let destinations: [Int64]
        let change: Int?
    }

    private var records: [Record] = []

    /// Records the destinations of an object that is about to be deleted.
    mutating func record(
        _ relationship: StoredRelationship, of object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) {
        let destinations = try context.destinations(of: object, relationship)
        guard !destinations.isEmpty else { return }
        records.append(
            Record(
                object: object, relationship: relationship.number, destinations: destinations,
                change: context.changeIndex))
    }

    /// Adds an error for each deleted object with destinations that are still stored.
    func check(_ context: ChangeContext) throws(SQLError) {
        for record in records where !context.errors.isFull {
            try context.checkBudget()
            let relationship = context.schema.relationships[record.relationship]
            var named: [String] = []
            var first: ObjectKey?
            var count = 0
            for key in record.destinations {
                let other = try context.object(relationship.destinationNumber, key)
                guard try context.version(of: other) != nil else { continue }
                count += 1
                guard try context.isVisible(other) else { continue }
                guard named.count < Self.namedMax else { continue }
                if first == nil, !context.isInserted(other) { first = other }
                named.append(context.name(of: other))
            }
            guard count > 0 else { continue }
            let others = count > named.count ? " and \(count - named.count) more" : ""
            let leads =
                named.isEmpty
                ? "objects that this user may not see"
                : named.joined(separator: ", ") + others
            let violation = relationship.violation(
                .deleteDenied,
                "\(context.uri(of: record.object)) cannot be deleted, because its "
                    + "\(relationship.qualifiedName) leads to "
                    + "\(leads)",
                .deleteRule, uri: first.map { context.uri(of: $0) })
            context.add(
                LarderError(
                    violation,
                    hint: "delete that too, or remove it from "
                        + "\(relationship.relationship.name) first"),
                change: record.change)
        }
    }
}
