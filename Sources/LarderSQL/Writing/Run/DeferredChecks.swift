/// The rules that must hold at the end of a change set, but not after each of its changes.
///
/// While the set runs, each check records what may break its rule. At the end, ``run(_:)`` reads
/// what was recorded and adds an error for each violation.
package final class DeferredChecks {
    var denyRules = DenyRuleCheck()
    var requiredReferences = RequiredReferenceCheck()
    var cardinality = CardinalityCheck()
    package var uniqueness = UniquenessCheck()

    /// Checks all rules. Values that ``uniqueness`` deferred are stored when it returns.
    func run(_ context: ChangeContext) throws(SQLError) {
        try denyRules.check(context)
        try requiredReferences.check(context)
        try cardinality.check(context)
        try uniqueness.check(context)
    }

    /// The number of records that grow with the objects a set concerns.
    var recordCount: Int {
        requiredReferences.recordCount + cardinality.recordCount + uniqueness.recordCount
    }
}
