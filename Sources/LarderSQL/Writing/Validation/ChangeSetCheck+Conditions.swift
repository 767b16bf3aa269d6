import LarderModel

// Conditions: the query that counts the objects of each is planned.
extension ChangeSetCheck {
    mutating func plannedConditions(
        _ conditions: [ChangeSet.Condition]
    ) throws(LarderError) -> [PlannedCondition] {
        guard conditions.count <= Limits.conditionsMax else {
            throw LarderError(
                .resourceExhausted, "a change set has at most \(Limits.conditionsMax) conditions")
        }
        var planned: [PlannedCondition] = []
        for (index, condition) in conditions.enumerated() {
            attempt(nil, condition: index) { check throws(LarderError) in
                planned.append(try check.plan(condition, index))
            }
        }
        return planned
    }

    private func plan(
        _ condition: ChangeSet.Condition, _ index: Int
    ) throws(LarderError) -> PlannedCondition {
        guard 0..<Int64.max ~= condition.count else {
            throw LarderError(
                .invalidChangeSet, "condition \(index + 1) expects an impossible number of objects")
        }
        let objects = condition.objects
        guard objects.sort.isEmpty, objects.limit == nil else {
            throw LarderError(
                .invalidChangeSet, "condition \(index + 1) has sort keys or a limit",
                hint: "a condition counts all objects that match")
        }
        let given = QueryParameters(
            arguments: objects.arguments, variables: objects.variables,
            argumentsAreText: objects.argumentsAreText, assumesUTC: objects.assumesUTC,
            limit: condition.count + 1)
        try given.checkLimits()
        let parameters = try given.mapObjects { (identifier) throws(LarderError) in
            guard identifier.permanentKey != nil else {
                throw LarderError(
                    .invalidChangeSet,
                    "condition \(index + 1) names \(identifier.uriRepresentation), but conditions "
                        + "are checked before anything is inserted")
            }
            return identifier
        }
        let plan = try planner.plan(
            objects, [], parameters, named: "condition \(index + 1)", for: nil
        ).plan
        let statements = try plan.statements(parameters, conversions)
        guard statements.count == 1 else { preconditionFailure("a selection is one query") }
        return PlannedCondition(
            entityName: objects.entityName, count: condition.count, sql: statements[0])
    }
}
