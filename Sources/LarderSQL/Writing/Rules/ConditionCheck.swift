import LarderModel

/// Counts the objects of a set's conditions, before the set changes anything.
struct ConditionCheck {
    let context: ChangeContext

    /// Adds an error for each condition that is not met.
    ///
    /// - Returns: Whether all are met.
    /// - Throws: `interrupted` if the deadline has passed, or an error of the database.
    func run(_ conditions: [PlannedCondition]) throws(SQLError) -> Bool {
        let selector = BulkSelector(context: context)
        var areMet = true
        for (index, condition) in conditions.enumerated() {
            switch try selector.count(condition.sql) {
            case .success(condition.count): continue
            case .success(let found):
                context.add(Self.failure(of: condition, index, found: found), condition: index)
            case .failure(let error): context.add(error, condition: index)
            }
            areMet = false
        }
        return areMet
    }

    private static func failure(
        of condition: PlannedCondition, _ index: Int, found: Int64
    ) -> LarderError {
        let noun = condition.count == 1 ? "object" : "objects"
        return LarderError(
            ChangeViolation(
                .conditionFailed,
                "condition \(index + 1) is not met: it expects \(condition.count) \(noun) of "
                    + "\(condition.entityName), and the store has "
                    + (found > condition.count ? "\(found) or more" : "\(found)"),
                entityName: condition.entityName, rule: .condition, found: found),
            hint: "read the objects again, and decide again")
    }
}
